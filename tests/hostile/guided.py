"""Contents that atheris makes: what reaches code that nothing reached before is changed further.

atheris is an extra of its own (`fuzz`). Its fuzzer is LLVM's libFuzzer, which counts the branches
of what was imported below `instrumented()`.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from random import Random
from typing import NoReturn

from tests.hostile.surface import Surface

_LARGEST = 400_000
"""Bytes of a content; the largest that may be read are left to mutation by chance."""
_CHANGED = 40_000
_OPTIONS = (f"-max_len={_LARGEST}", "-len_control=0", "-rss_limit_mb=0", "-timeout=86400",
            "-print_final_stats=1")  # fmt: skip
"""Who waits for this process has a limit of its own. A timeout of 0 is none for libFuzzer, but for
atheris each content that takes a second has hung."""


def instrumented() -> AbstractContextManager[None]:
    """Count the branches of the observatory's modules that are imported within."""
    import atheris

    context: AbstractContextManager[None] = atheris.instrument_imports(
        include=["observatory"], enable_loader_override=False
    )
    return context


def guide(
    read: Callable[[bytes], None], surface: Surface, seeds: list[bytes], corpus: Path,
    kept: Path, *, seed: int, deadline: float, end: Callable[[], NoReturn],
) -> NoReturn:  # fmt: skip
    """Have contents read until ``deadline`` (of `time.monotonic`), and then call ``end``.

    A content that ends the process instead is left in ``kept``. libFuzzer gives control back to
    nobody, so that ``end`` has to end the process.
    """
    import atheris

    corpus.mkdir(parents=True)
    kept.mkdir(parents=True, exist_ok=True)
    for number, content in enumerate(seeds):
        (corpus / str(number)).write_bytes(content)

    def one(content: bytes) -> None:
        if time.monotonic() >= deadline:
            end()
        read(content)

    def changed(content: bytes, most: int, number: int) -> bytes:
        """Half of the changes are libFuzzer's, half know what a value of JSON is."""
        dice = Random(number)
        # What was repeated again and again would fill the memory.
        if len(content) <= _CHANGED and dice.random() < 0.5:
            ours = surface.case([content, *seeds], dice)
            if len(ours) <= most:
                return ours
        return bytes(atheris.Mutate(content, most))

    # libFuzzer takes a seed of 0 for one by chance.
    options = (*_OPTIONS, f"-seed={seed + 1}", f"-artifact_prefix={kept}/")
    atheris.Setup([sys.argv[0], *options, str(corpus)], one, custom_mutator=changed)
    atheris.Fuzz()
    end()
