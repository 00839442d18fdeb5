"""What the table of faults tries in all cells of a night; nothing is measured."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from observatory.run.environments import Environment
from observatory.run.presets import PRESETS, Narrowed
from observatory.store.records.subject import Versions
from scripts.faults import controls
from scripts.faults.controls import CONTROLS
from scripts.faults.looks import LOOKS, night
from scripts.faults.package import Release
from scripts.faults.trials import of_a_night, tasks_of

_METADATA = b"Name: pytensor\nVersion: 3.3.8\nRequires-Dist: numba>=0.58"
_SAYS = b'{\n "error": null,\n "version": "3.3.8"\n}'


def test_a_night_has_all_cells_of_its_presets_and_traces_warm_builds() -> None:
    look = night(Narrowed())
    assert {*look.places()} == {*PRESETS["quick"].cells, *PRESETS["canary"].cells}
    traced = {str(task.cell) for task in tasks_of(look) if task.measure == "tracing"}
    assert "radon warm_disk C_VM fork" in traced
    assert {one.split()[1] for one in traced} == {"warm_disk", "warm_process"}
    few = night(Narrowed(None, ["cold"], ["C"], ["spawn"]))
    assert few.cells == ("radon cold C spawn",)


def test_controls_come_first_and_a_seed_gives_the_same_faults_again() -> None:
    names = of_a_night(8, 26)
    assert names == of_a_night(8, 26)
    assert names != of_a_night(8, 27)
    controls, faults = names[: len(CONTROLS)], names[len(CONTROLS) :]
    assert controls == [f"none#{name}" for name in CONTROLS]
    assert len(controls) >= 5
    assert len({*faults}) == 8
    assert [name for name in faults if LOOKS[name].under] == []


@pytest.fixture
def release(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Environment:
    """An environment whose release has two files that say its version."""
    files = {
        "pytensor-3.3.8.dist-info/METADATA": _METADATA,
        "pytensor/_version.py": _SAYS,
        "pytensor/other.py": _SAYS,
    }
    made = Release("pytensor-3.3.8", "py3-none-any", files)
    monkeypatch.setattr(controls, "_release", lambda _: made)
    monkeypatch.setattr(controls, "with_wheel", lambda found, *_: found)
    versions = Versions(pytensor="3.3.8", numba="0.68.0", python="3.13.0", packages={})
    return Environment(tmp_path / "python", versions, "key", tmp_path)


def test_a_control_has_another_version_in_its_metadata_and_where_pytensor_says_it(
    release: Environment, tmp_path: Path
) -> None:
    CONTROLS["version"].make(release, tmp_path)
    (wheel,) = tmp_path.glob("*.whl")
    assert wheel.name == "pytensor-3.3.8+rebuilt-py3-none-any.whl"
    with zipfile.ZipFile(wheel) as archive:
        metadata = archive.read("pytensor-3.3.8+rebuilt.dist-info/METADATA")
        assert metadata == _METADATA.replace(b"3.3.8", b"3.3.8+rebuilt")
        assert b'"3.3.8+rebuilt"' in archive.read("pytensor/_version.py")
        assert archive.read("pytensor/other.py") == _SAYS


def test_a_control_that_would_leave_the_version_as_it_is_is_an_error(
    release: Environment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    silent = Release("pytensor-3.3.8", "any", {"pytensor-3.3.8.dist-info/METADATA": _METADATA})
    monkeypatch.setattr(controls, "_release", lambda _: silent)
    with pytest.raises(ValueError, match="1 files of PyTensor"):
        CONTROLS["version"].make(release, tmp_path)


def test_a_control_under_another_path_is_installed_far_below(
    release: Environment, tmp_path: Path
) -> None:
    CONTROLS["path"].make(release, tmp_path)
    (wheel,) = tmp_path.glob("**/*.whl")
    assert len(wheel.relative_to(tmp_path).parts) == 3
