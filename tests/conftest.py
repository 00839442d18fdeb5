"""What holds for every test: nothing outside of temporary directories, nothing by the clock."""

from __future__ import annotations

import os
import signal
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from observatory.garbage import collect_little
from observatory.run.local import LOCK

LONG = ("integration", "browser", "long")
"""Marks of the files that take longest."""
collect_little()  # as every command does
# An example that takes long on a busy machine is no failure.
# A laptop looks for new examples; CI tries the same ones for every commit.
settings.register_profile(
    "untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow],
    derandomize=bool(os.environ.get("CI")),
)  # fmt: skip
settings.load_profile("untimed")


@pytest.fixture(autouse=True, scope="session")
def _no_cache_of_the_user(
    tmp_path_factory: pytest.TempPathFactory, worker_id: str
) -> Iterator[None]:
    """All workers share one cache, so that what they read of the committed results is read once."""
    base = tmp_path_factory.getbasetemp()
    cache = (base if worker_id == "master" else base.parent) / "cache"
    cache.mkdir(exist_ok=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(cache))
        yield


@pytest.fixture(autouse=True, scope="session")
def _measuring_beside_others(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """No test judges times, so that none has to wait until others have measured on this machine."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(LOCK, str(tmp_path_factory.mktemp("lock")))
        yield


@pytest.fixture(autouse=True)
def _devices_stay(request: pytest.FixtureRequest) -> Iterator[None]:
    """Root could replace /dev/null, and everything that runs after that would be a riddle."""
    before = Path(os.devnull).stat()
    yield
    now = Path(os.devnull).stat()
    if (before.st_ino, before.st_mode) != (now.st_ino, now.st_mode):
        warnings.warn(f"{os.devnull} was replaced during {request.node.nodeid}", stacklevel=1)


@pytest.fixture(autouse=True, scope="session")
def _interrupts_are_heard() -> None:
    """What a shell starts in the background ignores interrupts, and so would all that we start."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The long ones first: with several workers, a long file that begins last is waited for.

    Of these, the file with the most tests comes first.
    """
    long = {item.path for item in items if any(map(item.get_closest_marker, LONG))}
    tests = Counter(item.path for item in items)
    items.sort(key=lambda item: -tests[item.path] if item.path in long else 0)
