from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from observatory.store.journal.compacting import compacted
from observatory.store.journal.merging import essence, interleaved, merged
from observatory.store.journal.models import (
    JournalEntry,
    JournalLine,
    JournalRecord,
    UnreadableLine,
    encoded,
)
from observatory.store.journal.reader import JournalContents
from tests.factories import LATER, NOON, RUN, header, sample

HEADERS = (header(), header(numba="0.69.0"))


def line(number: int, run: str = RUN, under: int = 0, **changes: object) -> JournalRecord:
    """One of as many different samples as there are numbers."""
    taken = sample(metrics={"compile_time": number}, started_at=NOON.replace(second=number % 60),
                   **changes)  # fmt: skip
    said = JournalLine(run=run, sample=taken)
    return JournalEntry(HEADERS[under], said, encoded(said))


def raws(lines: list[JournalRecord]) -> list[bytes]:
    return [one.raw for one in lines]


def test_a_journal_that_grew_is_the_longer_one() -> None:
    short, long = [line(1), line(2)], [line(1), line(2), line(3, LATER)]
    assert merged([short, long]) == merged([long, short]) == long


def test_journals_of_two_jobs_come_run_by_run() -> None:
    first, second = [line(1), line(4)], [line(2, LATER), line(3, LATER)]
    assert merged([second, first]) == [*first, *second]


def test_samples_of_one_run_in_two_jobs_come_as_they_began() -> None:
    assert merged([[line(1), line(4)], [line(2), line(3)]]) == [line(n) for n in (1, 2, 3, 4)]


def test_the_order_of_a_journal_outweighs_that_of_time() -> None:
    assert merged([[line(5), line(1)], [line(3)]]) == [line(3), line(5), line(1)]


def test_journals_that_contradict_each_other_lose_nothing() -> None:
    found = merged([[line(1), line(2)], [line(2), line(1)]])
    assert found == [line(1), line(2)]


def test_of_a_sample_and_what_was_left_of_it_the_sample_stays() -> None:
    whole: list[JournalRecord] = [line(1), line(2)]
    less = compacted(JournalContents(Path("x"), HEADERS[0], whole))
    assert raws(less) != raws(whole)
    assert merged([less, whole]) == merged([whole, less]) == whole


def test_a_sample_under_another_header_is_another_sample() -> None:
    assert len(merged([[line(1)], [line(1, under=1)]])) == 2


def test_what_cannot_be_read_stays_where_it_was() -> None:
    odd = UnreadableLine(HEADERS[0], b'{"of": "a later version"}')
    there = [line(1), odd, line(2)]
    assert merged([there, [line(1), line(2), line(3)]]) == [*there, line(3)]


lines = st.builds(line, st.integers(0, 30), st.sampled_from([RUN, LATER]), st.integers(0, 1))
journals = st.lists(st.lists(lines, max_size=12), max_size=4)


@settings(max_examples=100)
@given(journals)
def test_no_sample_is_lost_and_none_is_doubled(given_: list[list[JournalRecord]]) -> None:
    found = merged(given_)
    places = [(one.header.versions.numba, essence(one)) for one in found]
    assert len(set(places)) == len(places)
    assert set(places) == {
        (one.header.versions.numba, essence(one)) for journal in given_ for one in journal
    }


@settings(max_examples=100)
@given(journals, st.integers())
def test_merging_does_not_depend_on_the_order_of_what_is_given(
    given_: list[list[JournalRecord]], seed: int
) -> None:
    shuffled = Random(seed).sample(given_, len(given_))
    assert merged(given_) == merged(shuffled)


@settings(max_examples=100)
@given(journals)
def test_merging_what_is_merged_changes_nothing(given_: list[list[JournalRecord]]) -> None:
    once = merged(given_)
    assert merged([once]) == once
    assert merged([once, once]) == once


@settings(max_examples=100)
@given(journals)
def test_merging_one_after_another_loses_nothing_either(given_: list[list[JournalRecord]]) -> None:
    found: list[JournalRecord] = []
    for journal in given_:
        found = merged([found, journal])
    assert sorted(raws(found)) == sorted(raws(merged(given_)))


@settings(max_examples=200)
@given(st.lists(st.integers(0, 40), unique=True, max_size=20), st.data())
def test_parts_of_one_order_are_put_into_that_order_again(
    whole: list[int], data: st.DataObject
) -> None:
    parts = [[key for key in whole if data.draw(st.booleans())] for _ in range(3)]
    found = interleaved(parts, lambda key: key)
    for part in parts:
        assert [key for key in found if key in part] == part


@pytest.mark.parametrize("nothing", [[], [[]], [[], []]])
def test_of_nothing_comes_nothing(nothing: list[list[JournalRecord]]) -> None:
    assert merged(nothing) == []
