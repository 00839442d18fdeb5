"""Profiles on disk: stored apart by content, refused when broken, kept and dropped like ledgers."""

from __future__ import annotations

import gzip
from dataclasses import fields
from datetime import timedelta
from pathlib import Path

import pytest
from pydantic import ValidationError

from observatory.benchmarks import profiles as measured
from observatory.store.journal.compacting import tidy
from observatory.store.journal.contents import ContentError
from observatory.store.journal.profiles import ProfileStore
from observatory.store.merging.directories import unite
from observatory.store.reading.saved import read_saved
from observatory.store.records import profile as record
from observatory.store.records.profile import CallTree, Phase, Profile, Rewriter
from tests.factories import NOON, journal, sample

TREE = CallTree(
    calls=12,
    floor=1,
    modules={"": ["(build)", "(other)"], "m": ["f", "g"]},
    entries=[0, 2, 3, 7],
    depths=[0, 1, 2, 2],
    functions=[0, 2, 3, 1],
    counts=[0, 3, 7, 2],
)
PROFILE = Profile(phases=[Phase(name="rewriting", entries=1, calls=12)], tree=TREE)
TIMED = Profile(
    phases=[Phase(name="rewriting", entries=1, seconds=0.25)],
    rewriters=[Rewriter(name="merge", seconds=0.1, applications=3)],
)


def test_the_two_sides_of_the_schema_agree_on_its_names() -> None:
    assert (record.ROOT, record.OTHER) == (measured.ROOT, measured.OTHER)
    for one, other in (
        (measured.CallTree, record.CallTree),
        (measured.Phase, record.Phase),
        (measured.Rewriter, record.Rewriter),
        (measured.LlvmPass, record.LlvmPass),
        (measured.Profile, record.Profile),
    ):
        assert {field.name for field in fields(one)} == other.model_fields.keys()


def test_an_older_profile_does_not_say_that_no_llvm_pass_ran() -> None:
    assert Profile.model_validate({"phases": []}).llvm_passes is None
    assert Profile.model_validate({"llvm_passes": []}).llvm_passes == []


def profiles(results: Path) -> list[Path]:
    return sorted((results / "profiles").glob("??/*"))


def test_a_profile_comes_back_as_it_went_in_and_equal_ones_are_one_file(tmp_path: Path) -> None:
    store = ProfileStore(tmp_path)
    sha = store.store(PROFILE)
    assert store.store(PROFILE.model_copy()) == sha
    assert store.load(sha) == PROFILE
    assert len(list(tmp_path.glob("??/*"))) == 1


def test_a_tree_gives_each_chain_of_callers_with_its_own_entries() -> None:
    assert list(TREE.stacks()) == [
        (("(build)",), 0),
        (("(build)", "m:f"), 3),
        (("(build)", "m:f", "m:g"), 7),
        (("(build)", "m:f", "(other)"), 2),
    ]
    assert TREE.entered == {"m:f": 3, "m:g": 7}


@pytest.mark.parametrize(
    "changes",
    [
        {"calls": 13},
        {"calls": -1},
        {"entries": [0, 2, 3, 8]},
        {"entries": [0, 2, 10]},
        {"counts": [0, 3, 7, 3]},
        {"counts": [0, 3, 7]},
        {"depths": [0, 2, 1, 1]},
        {"depths": [1, 1, 1, 1]},
        {"depths": [0, 1, 2, 0]},
        {"functions": [0, 2, 3, 4]},
        {"functions": [2, 2, 3, 1]},
        {"modules": {"": ["(build)", "(other)"], "m": ["f", "f"]}},
        {"modules": {"": ["(build)", "(other)"], "m": ["f", "g" * 300]}},
        {"depths": [], "functions": [], "counts": [], "calls": 0},
        {"more": 1},
    ],
)
def test_a_tree_whose_parts_do_not_fit_together_is_refused(changes: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        CallTree.model_validate({**TREE.model_dump(), **changes})


def test_what_is_broken_missing_or_too_large_is_refused(tmp_path: Path) -> None:
    store = ProfileStore(tmp_path)
    sha = store.store(PROFILE)
    path = store.path(sha)
    for content in (
        b"",
        b"nonsense",
        gzip.compress(b"{}"),
        gzip.compress(b"x" * 2 * ProfileStore.largest),
    ):
        path.write_bytes(content)
        with pytest.raises(ContentError, match=r"cannot be|another hash|more than"):
            store.load(sha)
    path.unlink()
    with pytest.raises(ContentError, match="there is no profile"):
        store.load(sha)
    with pytest.raises(ContentError):
        store.path("../../etc/passwd")


def test_content_that_is_no_profile_is_refused(tmp_path: Path) -> None:
    import hashlib

    content = b'{"phases": 7}'
    sha = hashlib.sha256(content).hexdigest()
    store = ProfileStore(tmp_path)
    store.path(sha).parent.mkdir()
    store.path(sha).write_bytes(gzip.compress(content))
    with pytest.raises(ContentError, match="is not a profile"):
        store.load(sha)


def test_a_tree_is_stored_apart_and_times_stay_in_the_journal(tmp_path: Path) -> None:
    traced = sample(measure="tracing", profile=PROFILE, metrics={"python_calls": 12})
    made = journal(tmp_path, [traced, sample(profile=TIMED)])
    first, second = made.read().entries
    assert first.sample.profile is None
    assert first.line.profile is not None
    assert ProfileStore(tmp_path / "profiles").load(first.line.profile) == PROFILE
    assert second.sample.profile == TIMED
    assert second.line.profile is None


def test_samples_that_are_read_back_have_their_profiles(tmp_path: Path) -> None:
    traced = sample(measure="tracing", profile=PROFILE, metrics={"python_calls": 12})
    path = journal(tmp_path, [traced]).path
    saved = read_saved(path)
    assert saved is not None
    assert [one.profile for one in saved.samples] == [PROFILE]
    profiles(tmp_path)[0].unlink()
    saved = read_saved(path)
    assert saved is not None
    assert [one.profile for one in saved.samples] == [None]
    assert "there is no profile" in saved.problems[0].reason


def test_profiles_that_nothing_refers_to_are_removed(tmp_path: Path) -> None:
    journal(tmp_path, [sample(measure="tracing", profile=PROFILE)])
    (kept,) = profiles(tmp_path)
    ProfileStore(tmp_path / "profiles").store(TIMED)
    tidy(tmp_path, None)
    assert profiles(tmp_path) == [kept]


def test_of_old_tracing_samples_of_a_cell_one_keeps_its_profile(tmp_path: Path) -> None:
    other = PROFILE.model_copy(update={"phases": []})
    taken = [sample(measure="tracing", profile=one) for one in (PROFILE, other)]
    made = journal(tmp_path, [*taken, sample(profile=TIMED)])
    tidy(tmp_path, NOON + timedelta(hours=1))
    assert [entry.line.profile is None for entry in made.read().entries] == [False, True, True]
    assert len(profiles(tmp_path)) == 1
    assert all(entry.sample.profile is None for entry in made.read().entries)


def test_profiles_come_with_the_samples_that_refer_to_them(tmp_path: Path) -> None:
    into, part = tmp_path / "into", tmp_path / "part"
    into.mkdir()
    journal(part, [sample(measure="tracing", profile=PROFILE)])
    (path,) = profiles(part)
    unite(into, [part])
    assert [one.name for one in profiles(into)] == [path.name]
