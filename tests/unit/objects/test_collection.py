from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from observatory.objects import collection as module
from observatory.objects.bucket import Bucket, StoreError, UnreachableError
from observatory.objects.collection import Collection, Edit, Moved
from observatory.objects.copies import bring_up_to_date
from observatory.objects.index import LAST_VERSION, version_name
from observatory.objects.packs import put, taken
from observatory.objects.sweeping import Swept, sweep
from observatory.objects.unpacking import files_in

LATER = datetime.now(UTC) + timedelta(days=3)


def adding(files: dict[str, str]) -> Edit:
    """An edit that writes files; of one that is there already, it adds a line."""

    def edit(work: Path, complete: bool) -> str:
        for path, text in files.items():
            (work / path).parent.mkdir(parents=True, exist_ok=True)
            with (work / path).open("a") as stream:
                stream.write(text)
        return "adds"

    return edit


def part(where: Path, *paths: str) -> list[Path]:
    for path in paths:
        (where / path).parent.mkdir(parents=True, exist_ok=True)
        (where / path).touch()
    return [where]


def add(store: Collection, tmp_path: Path, **files: str) -> Moved:
    """Add text to journals of these names."""
    paths = {f"samples/bench/{name}.jsonl": text for name, text in files.items()}
    return store.change(adding(paths), part(tmp_path / "-".join(files), *paths))


def held(store: Collection) -> dict[str, str]:
    found = Collection(store.address).state().files()
    return {path.split("/")[-1].removesuffix(".jsonl"): text for path, text in read(store, found)}


def read(store: Collection, files: dict[str, module.Entry]) -> list[tuple[str, str]]:
    return [
        (one.path, b"".join(text).decode()) for one, text in taken(store.bucket, files.values())
    ]


def test_what_is_added_is_there_and_each_time_is_one_version(
    store: Collection, tmp_path: Path
) -> None:
    assert add(store, tmp_path, a="1") == Moved(None, 1)
    assert add(store, tmp_path, b="2") == Moved(1, 2)
    assert add(store, tmp_path, a="3") == Moved(2, 3)
    assert held(store) == {"a": "13", "b": "2"}
    assert store.numbers() == [1, 2, 3]


def test_what_changes_nothing_makes_no_version(store: Collection, tmp_path: Path) -> None:
    add(store, tmp_path, a="1")
    assert add(store, tmp_path, a="") == Moved(1, 1)
    assert store.numbers() == [1]


def test_a_dry_run_writes_nothing_at_all(store: Collection, tmp_path: Path) -> None:
    paths = {"samples/bench/a.jsonl": "1"}
    store.change(adding(paths), part(tmp_path / "part", *paths), dry_run=True)
    assert store.state().number is None
    assert store.bucket.found("objects") == []


def test_a_hundred_versions_have_few_segments(store: Collection, tmp_path: Path) -> None:
    for number in range(100):
        add(store, tmp_path, **{f"n{number}": "x"})
    state = store.state()
    assert state.version is not None
    assert len(state.version.segments) <= 8
    assert len(state.files()) == 100


def test_somebody_who_publishes_in_between_is_added_to(store: Collection, tmp_path: Path) -> None:
    other = Collection(store.address)
    add(store, tmp_path, a="0")
    meanwhile = iter([lambda: add(other, tmp_path, a="1", b="1"), lambda: None])

    def edit(work: Path, complete: bool) -> str:
        next(meanwhile)()
        return adding({"samples/bench/a.jsonl": "2"})(work, complete)

    done = store.change(edit, part(tmp_path / "mine", "samples/bench/a.jsonl"))
    assert done == Moved(2, 3, tries=2)
    assert held(store) == {"a": "012", "b": "1"}


def test_many_at_once_lose_nothing(tmp_path: Path) -> None:
    address = f"file://{tmp_path}/store"

    def one(number: int) -> None:
        add(Collection(address), tmp_path, **{f"n{number}": "x"})

    threads = [threading.Thread(target=one, args=(number,)) for number in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(held(Collection(address))) == [f"n{number}" for number in range(5)]


def test_who_never_comes_first_is_told_so(
    store: Collection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Collection, "_commit", lambda *_: False)
    with pytest.raises(UnreachableError, match="others have published 12 times"):
        add(store, tmp_path, a="1")


class Killed(BaseException):
    """As SIGKILL: nothing of the publisher runs any more."""


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("place", range(1, 6))
def test_killed_at_any_object_the_results_are_the_old_or_the_new_ones(
    store: Collection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: int, after: bool
) -> None:
    add(store, tmp_path, a="1")
    whole, number = Bucket.create, 0

    def create(self: Bucket, name: str, content: bytes) -> bool:
        nonlocal number
        number += 1
        if number == place and not after:
            raise Killed
        done = whole(self, name, content)
        if number == place:
            raise Killed
        return done

    with monkeypatch.context() as patched:
        patched.setattr(Bucket, "create", create)
        try:
            add(store, tmp_path, a="2", b="2")
            ended = True
        except Killed:
            ended = False
    new = {"a": "12", "b": "2"}
    assert held(store) in ([new] if ended else [{"a": "1"}, new])
    if held(store) != new:
        add(store, tmp_path, a="2", b="2")
    assert held(store) == new
    sweep(store, LATER)
    assert held(store) == new
    assert len(store.bucket.found("objects")) == len(
        {one.pack for one in store.state().files().values()}
    ) + len(store.state().version.segments)  # type: ignore[union-attr]


def test_a_lost_answer_is_not_taken_for_somebody_else(
    store: Collection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = Bucket.create

    def create(self: Bucket, name: str, content: bytes) -> bool:
        done = whole(self, name, content)
        return done and not name.startswith("versions/")

    monkeypatch.setattr(Bucket, "create", create)
    assert add(store, tmp_path, a="1") == Moved(None, 1)


def test_who_slept_until_his_number_was_swept_begins_again(
    store: Collection, tmp_path: Path
) -> None:
    add(store, tmp_path, a="1")
    other = Collection(store.address)

    def sleeps(work: Path, complete: bool) -> str:
        if not (tmp_path / "slept").exists():
            (tmp_path / "slept").touch()
            for _ in range(3):
                add(other, tmp_path, b="x")
            sweep(other, LATER)
            assert other.numbers() == [4]
        return adding({"samples/bench/a.jsonl": "2"})(work, complete)

    done = store.change(sleeps, part(tmp_path / "mine", "samples/bench/a.jsonl"))
    assert done == Moved(4, 5, tries=2)
    assert held(store) == {"a": "12", "b": "xxx"}


def test_only_what_parts_may_change_is_unpacked(store: Collection, tmp_path: Path) -> None:
    everything = {
        "samples/bench/a.jsonl": "1", "samples/bench/b.jsonl": "1", "bench/a.json": "1",
        "bench/b.json": "1", "bench/machine.json": "1", "ledgers/aa/1.json.gz": "1",
        "sentinels/bench-1.json": "1", "searches/x.json": "1", "alerts.json": "1",
        "triage/a.toml": "1",
    }  # fmt: skip
    store.change(adding(everything), part(tmp_path / "all", *everything))
    seen: list[tuple[set[str], bool]] = []

    def edit(work: Path, complete: bool) -> str:
        seen.append((files_in(work), complete))
        return ""

    given = ("samples/bench/b.jsonl", "searches/y.json")
    store.change(edit, part(tmp_path / "some", *given))
    assert seen.pop() == (
        {
            "samples/bench/b.jsonl", "bench/b.json", "bench/machine.json", "searches/x.json",
            "alerts.json", "triage/a.toml",
        },
        False,
    )  # fmt: skip
    store.change(edit, part(tmp_path / "all", "samples/bench/a.jsonl"))
    assert seen.pop()[1]
    store.change(edit, [], whole=True)
    assert seen.pop() == (set(everything), True)


def removing(*paths: str) -> Edit:
    def edit(work: Path, complete: bool) -> str:
        for path in paths:
            (work / path).unlink()
        return "removes"

    return edit


def test_only_a_whole_change_removes(store: Collection, tmp_path: Path) -> None:
    add(store, tmp_path, a="1", b="1")
    path = "samples/bench/a.jsonl"
    assert store.change(removing(path), part(tmp_path / "p", path)).after == 1
    assert store.change(removing(path), [], whole=True).after == 2
    assert held(store) == {"b": "1"}


def test_packs_of_which_little_is_needed_are_written_anew(
    store: Collection, tmp_path: Path
) -> None:
    add(store, tmp_path, a="".join(map(str, range(500))), b="1")
    (before,) = {one.pack for one in store.state().files().values()}
    store.change(removing("samples/bench/a.jsonl"), [], whole=True)
    assert held(store) == {"b": "1"}
    store.change(lambda *_: "", [], whole=True)
    assert before not in {one.pack for one in store.state().files().values()}
    swept = sweep(store, LATER)
    assert swept.versions == 2
    assert swept.size > 500
    assert held(store) == {"b": "1"}
    assert store.change(lambda *_: "", [], whole=True) == Moved(3, 3)


def test_small_packs_become_one(store: Collection, tmp_path: Path) -> None:
    for number in range(9):
        add(store, tmp_path, **{f"n{number}": "x"})
    store.change(lambda *_: "", [], whole=True)
    assert len({one.pack for one in store.state().files().values()}) == 1
    assert len(held(store)) == 9


def test_nothing_younger_than_a_day_is_removed(store: Collection, tmp_path: Path) -> None:
    add(store, tmp_path, a="1")
    add(store, tmp_path, a="2")
    store.bucket.create(f"objects/aa/{'a' * 64}", b"somebody is about to refer to it")
    objects = store.bucket.found("objects")
    assert sweep(store).objects == 0
    assert store.bucket.found("objects") == objects
    assert store.numbers() == [1, 2]


def test_a_store_without_a_list_of_versions_loses_nothing(
    store: Collection, tmp_path: Path
) -> None:
    add(store, tmp_path, a="1")
    store.bucket.remove(version_name(1))
    objects = store.bucket.found("objects")
    assert sweep(store, LATER) == Swept(0, 0, 0)
    assert store.bucket.found("objects") == objects


def test_what_somebody_else_keeps_there_stays(store: Collection, tmp_path: Path) -> None:
    theirs = ["objects/photos/a.pdf", f"objects/bb/{'a' * 64}", f"objects/aa/{'a' * 63}"]
    for name in theirs:
        store.bucket.create(name, b"theirs")
    store.bucket.create(f"objects/aa/{'a' * 64}", b"left behind")
    add(store, tmp_path, a="1")
    assert sweep(store, LATER).objects == 1
    assert {one.name for one in store.bucket.found("objects")} >= set(theirs)


def test_after_the_last_number_a_sentence_says_why_nothing_can_be_added(
    store: Collection, tmp_path: Path
) -> None:
    add(store, tmp_path, a="1")
    first = store.state().version
    assert first is not None
    last = first.model_copy(update={"number": LAST_VERSION})
    store.bucket.create(version_name(LAST_VERSION), last.model_dump_json(by_alias=True).encode())
    with pytest.raises(StoreError, match=r"the highest possible version, versions/9999999999"):
        add(store, tmp_path, b="1")


def test_a_reader_that_has_begun_can_finish(store: Collection, tmp_path: Path) -> None:
    add(store, tmp_path, a="1")
    old = store.state()
    add(store, tmp_path, a="2")
    sweep(store)
    assert read(store, old.files()) == [("samples/bench/a.jsonl", "1")]


def damaged(store: Collection, change: Callable[[str], bool], content: bytes) -> None:
    for found in [*store.bucket.found("objects"), *store.bucket.found("versions")]:
        if change(found.name):
            store.bucket.remove(found.name)
            store.bucket.create(found.name, content)


@pytest.mark.parametrize(
    ("content", "said"), [(b"", "it is cut off"), (b"x" * 99, "it cannot be uncompressed")]
)
def test_a_damaged_pack_is_named(
    store: Collection, tmp_path: Path, content: bytes, said: str
) -> None:
    add(store, tmp_path, a="1" * 500)
    (pack,) = {one.pack for one in store.state().files().values()}
    damaged(store, lambda name: name.endswith(pack), content)
    with pytest.raises(StoreError, match=said):
        bring_up_to_date(store, tmp_path / "copy")


def test_a_damaged_segment_or_version_is_named(store: Collection, tmp_path: Path) -> None:
    add(store, tmp_path, a="1")
    (pack,) = {one.pack for one in store.state().files().values()}
    for found in (tmp_path / "cache").rglob("*"):
        if found.is_file():
            found.write_bytes(b"damaged, too")
    damaged(store, lambda name: name.startswith("objects") and pack not in name, b"x")
    with pytest.raises(StoreError, match="is damaged: its content has another hash"):
        store.state()
    damaged(store, lambda name: name == version_name(1), b'{"schema": "observatory/version/1"}')
    with pytest.raises(StoreError, match="is no version of results: it does not fit the schema"):
        store.state()


def test_a_file_whose_name_could_lead_elsewhere_is_not_taken(
    store: Collection, tmp_path: Path
) -> None:
    with pytest.raises(StoreError, match="cannot be kept"):
        store.change(adding({"a b": "1"}), part(tmp_path / "p", "a b"))


def test_an_unpacked_copy_is_taken_from_a_part_that_has_it(
    store: Collection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(store, tmp_path, a="1")
    bring_up_to_date(store, tmp_path / "copy")

    def none(*_: object) -> Sequence[object]:
        return []

    monkeypatch.setattr("observatory.objects.unpacking.taken", none)
    store.change(adding({"samples/bench/a.jsonl": "2"}), [tmp_path / "copy"])
    monkeypatch.undo()
    assert held(store) == {"a": "12"}


def test_an_object_that_is_there_already_is_not_relied_on(store: Collection) -> None:
    """It may be garbage, which somebody else is about to remove."""
    first, second = put(store.bucket, b"x"), put(store.bucket, b"x")
    assert first != second
    assert second.startswith(f"{first}-")
    store.bucket.remove(f"objects/{first[:2]}/{first}")
    assert store.bucket.read(f"objects/{second[:2]}/{second}") == b"x"
