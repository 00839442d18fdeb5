"""The samples of a release that the table of faults keeps and compares every fault with."""

from __future__ import annotations

from pathlib import Path

import pytest

from scripts.faults.trials import kept_sample
from tests.factories import failed, sample


def test_a_sample_is_taken_once_and_then_kept(tmp_path: Path) -> None:
    times = iter([0.25, 0.5])
    found = [
        kept_sample(tmp_path / "sample.json", lambda: sample(metrics={"compile_time": next(times)}))
        for _ in range(2)
    ]
    assert [one.metrics["compile_time"] for one in found] == [0.25, 0.25]


def test_a_sample_that_failed_is_kept_for_nobody_and_taken_again(tmp_path: Path) -> None:
    file = tmp_path / "sample.json"
    with pytest.raises(RuntimeError, match="ended as killed in radon warm_disk NUMBA fork"):
        kept_sample(file, failed)
    assert not file.exists()
    assert kept_sample(file, sample).status == "ok"
