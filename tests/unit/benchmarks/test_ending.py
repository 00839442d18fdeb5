"""However a sample is ended, nothing of it stays: not after several signals, not after kill -9."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from observatory.benchmarks import sandbox
from observatory.benchmarks.sandbox import Sandbox
from observatory.benchmarks.sweeping import sweep

ROOT = Path(__file__).parents[3]
OWN_SAMPLE = """
import os, signal, sys, time
from benchmarks.parent import end_with_parent
from benchmarks.sandbox import ENDING, Sandbox, end_once
for number in ENDING:
    signal.signal(number, end_once)
end_with_parent(signal.SIGTERM)
with Sandbox.open() as box:
    for number in range(300):
        (box.cache / str(number)).write_text("x")
    # In one piece: several processes write to one pipe.
    os.write(1, f"{{box.path}}{{os.linesep}}".encode())
    try:
        {waits}
    finally:
        {cleans_up}
"""
CHILD = [sys.executable, "-c"]


def started(code: str, scratch: Path, **options: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*CHILD, code], cwd=ROOT, env={**os.environ, "TMPDIR": str(scratch)}, text=True,
        stdout=subprocess.PIPE, **options,
    )  # type: ignore[call-overload,no-any-return]  # fmt: skip


@pytest.mark.parametrize("first", sandbox.ENDING)
def test_a_second_signal_does_not_end_the_cleaning_up_that_the_first_began(
    tmp_path: Path, first: signal.Signals
) -> None:
    code = OWN_SAMPLE.format(
        waits=f"os.kill(os.getpid(), {first.value}); time.sleep(60)",
        cleans_up="[os.kill(os.getpid(), one) for one in ENDING * 3]; print('cleaned up')",
    )
    with started(code, tmp_path) as process:
        said, _ = process.communicate(timeout=300)
    assert said.splitlines()[-1] == "cleaned up"
    assert process.returncode == 128 + first
    assert list(tmp_path.iterdir()) == []


def test_whatever_takes_samples_hears_the_first_signal_only() -> None:
    """The two programs that the host side starts with --end-with-parent and that have a sandbox."""
    for name in ("sample", "contracts/__main__"):
        code = (ROOT / "benchmarks" / f"{name}.py").read_text(encoding="utf-8")
        handlers = re.findall(r"signal\.signal\((.*)\)$", code, re.MULTILINE)
        assert [one.rpartition(".")[2].rpartition(" ")[2] for one in handlers] == ["end_once"]


def test_a_parent_with_threads_that_is_killed_leaves_no_sandbox(tmp_path: Path) -> None:
    """Each of its threads that ends sends its children the signal of its death."""
    parent = f"""
import subprocess, sys, threading, time
children = []
def start():
    children.append(subprocess.Popen({[*CHILD, "import sys; exec(sys.argv[1])"]!r} + [sys.argv[1]]))
    time.sleep(600)
for _ in range(4):
    threading.Thread(target=start).start()
for _ in range(20):
    threading.Thread(target=time.sleep, args=(600,)).start()
time.sleep(600)
"""
    code = OWN_SAMPLE.format(waits="time.sleep(600)", cleans_up="time.sleep(0.05)")
    with subprocess.Popen(
        [*CHILD, parent, code], cwd=ROOT, env={**os.environ, "TMPDIR": str(tmp_path)}, text=True,
        stdout=subprocess.PIPE,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        made = [Path(process.stdout.readline().strip()) for _ in range(4)]
        assert all(one.is_dir() for one in made)
        process.kill()
        process.wait()
        assert process.stdout.read() == ""  # the children have ended, too
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize("age", [3600, -3600])
def test_a_sandbox_without_an_owner_is_swept_when_it_is_old(scratch: Path, age: int) -> None:
    """Also one from the future: the clock was set back."""
    old = scratch / "observatory-sandbox-old"
    (old / "cache").mkdir(parents=True)
    others = scratch / "another-sandbox"
    others.mkdir()
    link = scratch / "observatory-sandbox-link"
    link.symlink_to(others)
    for path in (old, others):
        os.utime(path, (time.time() - age,) * 2)
    assert sweep() == [old]
    assert sorted(scratch.iterdir()) == [others, link]


def test_a_link_to_a_directory_is_no_sandbox(scratch: Path) -> None:
    """Whoever may write there could have everything of this user removed."""
    victim = scratch / "victim"
    (victim / "work").mkdir(parents=True)
    (victim / "owner").touch()
    (scratch / "observatory-sandbox-link").symlink_to(victim)
    assert sweep() == []
    assert (victim / "work").is_dir()


def test_killed_while_it_is_removed_a_sandbox_still_has_its_owner(
    scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    box = Sandbox.make()
    real, left = sandbox.shutil.rmtree, []

    def killed(path: Path, **options: object) -> None:
        left.append((box.path / "owner").exists() or path == box.path)
        real(path, ignore_errors=True)

    monkeypatch.setattr(sandbox.shutil, "rmtree", killed)
    box.remove()
    assert len(left) == 5
    assert all(left)
    assert not box.path.exists()
