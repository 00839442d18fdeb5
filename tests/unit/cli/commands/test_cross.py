"""`observatory cross` as a user calls it; nothing is measured."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from observatory.app.crossing import Asked
from observatory.errors import Exit
from observatory.run.subjects import Subjects
from observatory.store.records.crossings import (
    Combined,
    Crossed,
    CrossedCause,
    CrossedStep,
    UnderCondition,
)
from observatory.store.records.subject import Subject
from tests.command import observatory
from tests.factories import WARM, subject
from tests.factories_crossings import AXES, along, crossed


@pytest.fixture
def found() -> dict[str, Any]:
    """What the search finds, other than usual."""
    return {}


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch, found: dict[str, Any]) -> list[Asked]:
    """The searches that were asked for."""
    searches: list[Asked] = []

    def cross(_: object, asked: Asked) -> Crossed:
        searches.append(asked)
        return crossed(**found)

    monkeypatch.setattr("observatory.cli.commands.cross.cross_axes", cross)
    return searches


def search(*more: str, ends: tuple[str, ...] = ("3.3.6", "3.3.8")) -> str:
    done = observatory("cross", *ends, "--cell", str(WARM), *more)
    assert done.returncode == Exit.OK, done.stderr
    return " ".join(done.stdout.split())


def test_the_axis_that_did_it_is_told_with_what_it_took(asked: list[Asked]) -> None:
    told = search()
    (one,) = asked
    assert (one.old.label, one.new.label, one.cell) == ("3.3.6", "3.3.8", WARM)
    assert (one.metric, one.along) == ("cache_misses", True)
    assert "cache_misses of radon warm_disk NUMBA fork, 3.0.1 to 3.0.2: 0 → 4." in told
    assert (
        "numba did it: if only it is new, the value is 4; if only it is old, 0 "
        "(numba 0.66.0 → 0.68.0 and llvmlite 0.48.0 → 0.50.0)."
    ) in told
    assert "nothing 0 PyTensor 0 numba 4 all but numba 0 everything 4" in told
    assert "Along the releases of numba: 0.66.0 → 0.67.0: 0 → 4 (3 of 3 releases" in told
    assert "2 combinations of 8 measured: 6 samples, where the full product takes 16" in told


def test_markdown_shows_versions_as_code_and_json_is_the_record(asked: list[Asked]) -> None:
    del asked
    assert "`numba 0.66.0 → 0.68.0`" in search("--markdown")
    assert Crossed.model_validate(json.loads(search("--json"))) == crossed()


def test_the_settings_that_a_change_depends_on_are_said_first(
    asked: list[Asked], found: dict[str, Any]
) -> None:
    del asked
    found["conditions"] = [UnderCondition(name="fork", low=0, high=0),
                           UnderCondition(name="cxx=", low=None, high=None)]  # fmt: skip
    assert "The change is gone with fork. with before after" in search()
    found["conditions"] = [UnderCondition(name="cxx=", low=None, high=4)]
    assert "No setting makes the change go away." in search()


def test_settings_are_told_of_work_as_they_were_searched_with_its_noise(
    asked: list[Asked], found: dict[str, Any]
) -> None:
    del asked
    found |= {"metric": "python_calls", "low": 100_000, "high": 120_000}
    found["conditions"] = [
        UnderCondition(name="floatX=float32", low=100_000, high=100_003),
        UnderCondition(name="PYTHONHASHSEED=0", low=None, high=120_004),
        UnderCondition(name="cxx=", low=100_000, high=110_000),
    ]
    told = search()
    assert "The change is gone with floatX=float32. with before after" in told
    assert "PYTHONHASHSEED=0 - 120,004 as usual" in told
    assert "cxx= 100,000 110,000 has another size" in told


def test_bad_may_have_another_python(asked: list[Asked], monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[tuple[str, str | None]] = []

    def parse(_: object, text: str, extras: object, python: str | None) -> Subject:
        del extras
        read.append((text, python))
        return subject(text)

    monkeypatch.setattr(Subjects, "parse", parse)
    search("--python", "3.13", "--bad-python", "3.14", "--no-along")
    assert read == [("3.3.6", "3.13"), ("3.3.8", "3.14")]
    assert not asked[0].along


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        (
            {"causes": [CrossedCause(axes=["PyTensor", "numba"])]},
            "PyTensor and numba did it, only together (pytensor 3.0.1 → 3.0.2, numba 0.66.0 →",
        ),
        (
            {
                "causes": [CrossedCause(axes=["PyTensor", "numba"])],
                "combinations": [Combined(new=["PyTensor", "numpy"], value=2)],
            },
            "and llvmlite 0.48.0 → 0.50.0). Without numba: 2.",
        ),
        (
            {
                "causes": [CrossedCause(axes=["PyTensor"]), CrossedCause(axes=["numpy"])],
                "combinations": [Combined(new=["numpy"], value=3)],
            },
            "(pytensor 3.0.1 → 3.0.2). numpy makes most of the change without the others",
        ),
        (
            {
                "causes": [CrossedCause(axes=["PyTensor"]), CrossedCause(axes=["numpy"])],
                "combinations": [Combined(new=["PyTensor"], value=5)],
            },
            "PyTensor makes the change without the others (pytensor 3.0.1 → 3.0.2). numpy makes",
        ),
        (
            {"combinations": [Combined(new=["numba"], value=3),
                              Combined(new=["PyTensor", "numpy"], value=1)]},
            "numba made most of it: if only it is new, the value is 3; if only it is old, 1",
        ),
        (
            {"combinations": [Combined(new=["PyTensor", "numba"], value=3)],
             "causes": [CrossedCause(axes=["PyTensor", "numba"])]},
            "PyTensor and numba made most of it, only together",
        ),
        (
            {"causes": [CrossedCause(axes=["numba", "numpy"], untried=[["numba"]])]},
            "numba and numpy did it, in whole or in part; it could not be measured with only numba",
        ),
        ({"axes": AXES[1:2], "combinations": []}, "numba did it: nothing else differs"),
        (
            {"combinations": [Combined(new=["numba"], value=4)]},
            "whether the change also happens without it could not be measured",
        ),
        (
            {"combinations": [
                Combined(new=["numba"], value=4), Combined(new=["PyTensor"], value=0),
                Combined(new=["PyTensor", "numpy"], value=None, why="gave no value"),
            ]},
            "value is 4; if it is old and only PyTensor new, it is 0; no combination",
        ),
        (
            {"conditions": [
                UnderCondition(name="PYTHONHASHSEED=0", low=0, high=0),
                UnderCondition(name="floatX=float32", low=1, high=6),
                UnderCondition(name="LC_ALL=C", low=None, high=4),
                UnderCondition(name="cxx=", low=None, high=None),
            ]},
            "PYTHONHASHSEED=0 0 0 is gone floatX=float32 1 6 has another size LC_ALL=C - 4",
        ),
        (
            {"combinations": [Combined(new=["numba"], value=None, why="cannot be installed: no")]},
            "1 combination has no value; with new numba: cannot be installed: no",
        ),
        (
            {"along": [along(steps=[
                CrossedStep(before="0.66.0", after="0.68.0", low=0, high=4, skipped=["0.67.0"])
            ])]},
            "0.66.0 → 0.68.0: 0 → 4, or in between, not measurable: 0.67.0",
        ),
        ({"causes": [], "high": 0}, "The value is the same at both ends"),
        ({"causes": [], "finished": False}, "The time ended before the cause was known"),
        ({"causes": [], "axes": []}, "Both have the same packages and the same Python"),
    ],
)  # fmt: skip
def test_what_was_found_is_said_in_words(
    asked: list[Asked], found: dict[str, Any], changed: dict[str, Any], told: str
) -> None:
    del asked
    found |= changed
    assert told in search()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("3.3.6", "3.3.8"), "is not a cell"),
        (("3.3.6", "3.3.8", "3.3.9"), "give the id of one alert, or two subjects: GOOD BAD"),
        (("3.3.6", "3.3.8", "--cell", str(WARM), "--metric", "speed"), "no metric 'speed'"),
        (("0123456789",), "no alert with an id that begins with '0123456789'"),
        ((), "give the id of one alert, or two subjects: GOOD BAD"),
    ],
)
def test_what_is_not_understood_is_told(words: tuple[str, ...], told: str, tmp_path: Path) -> None:
    done = observatory("cross", *words, "--results", tmp_path)
    assert done.returncode == Exit.USAGE
    assert told in done.stderr


def test_a_range_is_no_end(asked: list[Asked]) -> None:
    done = observatory("cross", "3.3.0..3.3.6", "3.3.8", "--cell", str(WARM))
    assert done.returncode == Exit.USAGE
    assert "3.3.0..3.3.6 and 3.3.8 are 8 subjects; give exactly two" in done.stderr
    assert asked == []
