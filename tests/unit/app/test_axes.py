"""What differs between two subjects, and the subject of each combination."""

from __future__ import annotations

from typing import Any

from observatory.app.axes import OTHERS, PYTENSOR, PYTHON, Between, Side
from tests.factories import subject

OLD = {"pytensor": "3.3.0", "numba": "0.66.0", "llvmlite": "0.48.0", "numpy": "2.4.6",
       "scipy": "1.18.0", "filelock": "3.32.2", "cons": "0.4.7"}  # fmt: skip
NEW = {"pytensor": "3.3.4", "numba": "0.68.0", "llvmlite": "0.50.0", "numpy": "2.4.6",
       "scipy": "1.18.0", "filelock": "4.2.0"}  # fmt: skip
FAULT = "fault==1.0+whl.0a1b2c3d"
WHEEL = "fault @ file:///tmp/fault-1.0-py3-none-any.whl"


def release(label: str, numba: str, *extras: str, **more: Any) -> Any:
    asked = (
        f"pytensor=={label}",
        f"numba=={numba}",
        *(WHEEL if "fault" in e else e for e in extras),
    )
    return subject(" ".join([label, *extras]), requirements=asked, extras=extras, **more)


def between(*extras: str, new: dict[str, str] = NEW, **more: Any) -> Between:
    old = Side(release("3.3.0", "0.66.0"), OLD)
    return Between(old, Side(release("3.3.4", "0.68.0", *extras, **more), new))


def names(found: Between) -> list[str]:
    return [one.name for one in found.axes]


def test_what_differs_is_an_axis_and_what_moves_together_is_one() -> None:
    found = between()
    assert names(found) == [PYTENSOR, "numba", OTHERS]
    _, numba, others = found.axes
    assert found.versions(numba) == {
        "numba": ("0.66.0", "0.68.0"),
        "llvmlite": ("0.48.0", "0.50.0"),
    }
    assert others.packages == ("filelock",), "cons came with the old PyTensor"


def test_llvmlite_alone_is_an_axis_of_its_own() -> None:
    assert names(between(new={**OLD, "pytensor": "3.3.4", "llvmlite": "0.48.1"})) == [
        PYTENSOR, "llvmlite",
    ]  # fmt: skip


def test_a_wheel_that_a_person_added_and_another_python_are_axes() -> None:
    found = between(FAULT, new={**NEW, "fault": "1.0"}, python="3.14")
    assert names(found) == [PYTENSOR, "numba", "fault", OTHERS, PYTHON]
    versions = {one.name: found.versions(one) for one in found.axes}
    assert versions["fault"] == {"fault": ("absent", "1.0+whl.0a1b2c3d")}
    assert versions[PYTHON] == {PYTHON: ("3.13", "3.14")}


def test_a_wheel_in_the_place_of_a_release_of_the_same_version_is_an_axis() -> None:
    old = Side(release("3.3.4", "0.68.0"), NEW)
    faulty = "numba==0.68.0+whl.0a1b2c3d"
    at = ("pytensor==3.3.4", "numba @ file:///tmp/numba-0.68.0-py3-none-any.whl")
    new = Side(subject(f"3.3.4 {faulty}", requirements=at, extras=(faulty,)), NEW)
    found = Between(old, new)
    assert names(found) == ["numba"]
    assert "numba==0.68.0" in found.mixed(frozenset()).subject.requirements
    assert at[1] in found.mixed(frozenset({"numba"})).subject.requirements


def test_a_combination_requires_the_version_of_each_axis_and_pins_the_rest() -> None:
    found = between(FAULT, new={**NEW, "fault": "1.0"}).mixed(frozenset({"numba", "fault"}))
    one = found.subject
    assert one.requirements == (
        "pytensor==3.3.0", WHEEL, "filelock==3.32.2", "llvmlite==0.50.0", "numba==0.68.0",
    )  # fmt: skip
    assert one.label == f"3.3.0 {FAULT} filelock==3.32.2 llvmlite==0.50.0 numba==0.68.0"
    assert one.commit == subject("3.3.0").commit, "its place in the history is that of PyTensor"
    assert one.exclude_newer is None
    assert dict(found.pins) == {"cons": "0.4.7", "numpy": "2.4.6", "scipy": "1.18.0"}


def test_python_is_exchanged_too() -> None:
    found = between(python="3.14")
    assert found.mixed(frozenset({PYTENSOR})).subject.python == "3.13"
    assert found.mixed(frozenset({PYTHON})).subject.python == "3.14"


def test_a_release_in_between_brings_what_moves_with_it() -> None:
    found = between().mixed(frozenset(), {"numba": "0.67.0"})
    assert "numba==0.67.0" in found.subject.requirements
    assert not [one for one in found.subject.requirements if one.startswith("llvmlite")]
    assert "llvmlite" not in found.pins


def test_another_environment_than_the_one_that_was_asked_for_is_noticed() -> None:
    found = between(FAULT, new={**NEW, "fault": "1.0"}).mixed(frozenset({"numba"}))
    good = {**OLD, "numba": "0.68.0", "llvmlite": "0.50.0"}
    assert not found.problem(good)
    assert not found.problem({name: good[name] for name in good if name != "cons"})
    assert found.problem({**good, "fault": "1.0"}) == "it has fault 1.0, which should be absent"
    assert found.problem({**good, "numba": "0.66.0"}) == "it has numba 0.66.0 instead of 0.68.0"
    assert found.problem({**good, "numpy": "2.5.0"}) == "it has numpy 2.5.0 instead of 2.4.6"
