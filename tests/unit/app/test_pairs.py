"""Finished verdicts on pairs are kept, and made again where what they follow from differs."""

import os
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from observatory.app import fingerprints
from observatory.app import pairs as pairing
from observatory.app.observed import site_data
from observatory.app.parts import Processes
from observatory.dashboard.verdict_data import packed, unpacked
from observatory.store.asv.files import project
from tests.factories import LATER, NOON, RUN, WARM, header, journal, ledger, sample


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many pairs were made, each time that some were."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    numbers: list[int] = []
    compared = pairing._made

    def counting(missing: Any, *rest: Any) -> Any:
        numbers.append(len(missing))
        return compared(missing, *rest)

    monkeypatch.setattr(pairing, "_made", counting)
    return numbers


def measured(results: Path, label: str, misses: int, day: int, run: str = RUN) -> None:
    found = sample(WARM, "counting", {"cache_misses": misses}, ledger=ledger("Add"),
                   started_at=NOON + timedelta(days=day))  # fmt: skip
    under = header(label, commit=f"{day}" * 40, date=NOON + timedelta(days=day))
    project(results, journal(results, [found], run, under).read())


def outcomes(results: Path) -> list[str]:
    heads = site_data([results])[0].pairs.values()
    return [one["outcome"] for head in heads for one in head.bases.values()]


def test_a_pair_is_compared_once_until_one_of_its_journals_grows(
    tmp_path: Path, made: list[int]
) -> None:
    results = tmp_path / "results"
    for day, label in enumerate(("3.3.5", "3.3.6", "3.3.7"), 1):
        measured(results, label, 0, day)
    assert len(outcomes(results)) == 6
    assert outcomes(results) == outcomes(results)
    assert made == [6]
    measured(results, "3.3.7", 5, 3, LATER)
    assert sorted(outcomes(results)).count("worse") == 2
    assert made == [6, 4]


def test_what_is_kept_gives_the_same_verdicts_as_what_is_made_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    results = tmp_path / "results"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "grown"))
    for day, label in enumerate(("3.3.5", "3.3.6", "3.3.7"), 1):
        measured(results, label, 4 - day, day)
        grown = site_data([results])[0].pairs
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "new"))
    assert site_data([results])[0].pairs == grown
    (head,) = (one for (*_, commit), one in grown.items() if commit[0] == "3")
    pairs = {base: unpacked(head, base) for base in head.bases}
    assert {pair.outcome for pair in pairs.values()} == {"calm"}
    better = [one for one in pairs[next(iter(pairs))].findings if one.conclusion == "better"]
    assert [(one.metric, one.before, one.after) for one in better] == [("cache_misses", 2, 1)]
    assert packed(pairs) == head


def test_several_processes_give_the_verdicts_of_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    results = tmp_path / "results"
    for day, label in enumerate(("3.3.5", "3.3.6", "3.3.7"), 1):
        measured(results, label, 4 - day, day)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "one"))
    alone = site_data([results])[0].pairs
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "several"))
    monkeypatch.setattr(pairing, "_ALONE", 1)
    monkeypatch.setattr(Processes, "allowed", True)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1})
    monkeypatch.setattr(pairing, "compared_part", partial(elsewhere, os.getpid()))
    assert site_data([results])[0].pairs == alone


def elsewhere(here: int, *part: Any, **options: Any) -> Any:
    """What a part gives, in another process."""
    assert os.getpid() != here
    return pairing.compared_part(*part, **options)


def test_verdicts_without_a_ledger_are_made_again_when_it_has_come(
    tmp_path: Path, made: list[int]
) -> None:
    results = tmp_path / "results"
    for day, label in enumerate(("3.3.6", "3.3.7"), 1):
        measured(results, label, day, day)
    whole = site_data([results])[0].pairs
    (path,) = results.glob("ledgers/*/*")
    content = path.read_bytes()
    for broken in (None, content[:-9]):
        path.unlink()
        if broken is not None:
            path.write_bytes(broken)
        assert site_data([results])[0].pairs != whole
        path.write_bytes(content)
        assert site_data([results])[0].pairs == whole
    assert made == [2] * 5


def test_what_was_kept_and_is_damaged_is_made_again(tmp_path: Path, made: list[int]) -> None:
    results = tmp_path / "results"
    for day, label in enumerate(("3.3.6", "3.3.7"), 1):
        measured(results, label, day, day)
    first = outcomes(results)
    file = pairing._file(results)
    assert file is not None
    file.write_bytes(b'{"x": 1}')
    assert outcomes(results) == first
    assert made == [2, 2]


def test_only_the_newest_are_compared_with_each_other(
    tmp_path: Path, made: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pairing, "MOST", 2)
    for day, label in enumerate(("3.3.5", "3.3.6", "3.3.7"), 1):
        measured(tmp_path / "results", label, 0, day)
    pairs = site_data([tmp_path / "results"])[0].pairs
    named = {name for head, one in pairs.items() for name in (head, *one.bases)}
    assert {commit[0] for *_, commit in named} == {"2", "3"}


def test_verdicts_are_made_again_where_the_code_that_judges_differs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "rules.py"
    source.write_text("# as it was")
    monkeypatch.setattr(fingerprints, "sources", lambda: [source])
    before = pairing._version([])
    source.write_text("# otherwise")
    assert pairing._version([]) != before
