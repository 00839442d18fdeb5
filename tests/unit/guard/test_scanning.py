from __future__ import annotations

from pathlib import Path

import pytest

from observatory.guard.scan import scanning
from observatory.guard.scan.scanning import NoCacheError, Report, Symbol, scan
from tests.factories_scan import RANDOM_UID, index_file, mangled, object_of, put

FGRAPH = "pytensor.link.numba.dispatch.basic.numba_funcified_fgraph"
ADD = "pytensor.link.numba.dispatch.basic.add"


def classes(report: Report) -> list[tuple[str, str, str | None, int, int]]:
    return [
        (symbol.kind, symbol.function, symbol.uid, symbol.bodies, len(symbol.files))
        for symbol in report.symbols
    ]


def test_one_symbol_with_two_bodies_is_collided_if_its_uid_was_counted(tmp_path: Path) -> None:
    put(tmp_path, "one", object_of({mangled(FGRAPH, 1): "x * 0.1"}))
    put(tmp_path, "other", object_of({mangled(FGRAPH, 1): "x * 0.2"}))
    report = scan(tmp_path)
    assert report.symbols == [
        Symbol(
            kind="collided",
            function=FGRAPH,
            uid="1",
            bodies=2,
            symbol=mangled(FGRAPH, 1),
            cache=".",
            numba="0.63.1",
            python="py313",
            files=["one.py313.1.nbc", "other.py313.1.nbc"],
        )
    ]
    assert (report.collided_symbols, report.vulnerable_symbols, report.harmless_symbols) == (
        1,
        0,
        0,
    )


def test_one_symbol_with_two_bodies_is_harmless_if_its_uid_was_drawn(tmp_path: Path) -> None:
    for name, body in (("one", "x * 0.1"), ("other", "x * 0.2")):
        put(tmp_path, name, object_of({mangled(FGRAPH, RANDOM_UID): body}))
    assert classes(scan(tmp_path)) == [("harmless", FGRAPH, str(RANDOM_UID), 2, 2)]


def test_a_counted_uid_with_one_body_is_vulnerable_however_many_hold_it(tmp_path: Path) -> None:
    put(tmp_path, "one", object_of({mangled(ADD, 7): "x + 1", mangled(FGRAPH, 1): "x * 3"}))
    put(tmp_path, "other", object_of({"before": "x - 2.5", mangled(ADD, 7): "x + 1"}))
    report = scan(tmp_path)
    assert classes(report) == [("vulnerable", ADD, "7", 1, 2), ("vulnerable", FGRAPH, "1", 1, 1)]
    assert (report.functions, report.data_files, report.indexes) == (2, 2, 2)


def test_copies_that_were_linked_from_another_file_are_one_function(tmp_path: Path) -> None:
    inner, outer = mangled(ADD, 8), mangled(ADD, 7)
    put(tmp_path, "op", object_of({outer: "x + 1", inner: "x * 0.1"}, copies=[inner]))
    graph = {mangled(FGRAPH, 1): "x * 3", inner: "x * 0.1 + 0.5 - 0.5"}
    put(tmp_path, "graph", object_of(graph, copies=[inner], linked=[outer]))
    assert classes(scan(tmp_path)) == [
        ("vulnerable", ADD, "8", 2, 2),
        ("vulnerable", ADD, "7", 1, 1),
        ("vulnerable", FGRAPH, "1", 1, 1),
    ]


def test_copies_of_different_functions_are_collided_though_both_were_linked(tmp_path: Path) -> None:
    inner, outer = mangled(ADD, 8), mangled(ADD, 7)
    for number in (1, 2):
        bodies = {outer: f"x + {number}", inner: f"x * {number}.5"}
        put(tmp_path, f"op{number}", object_of(bodies, copies=[inner]))
        graph = {mangled(FGRAPH, 1): f"x * {number}", inner: f"x * {number}.5"}
        put(tmp_path, f"graph{number}", object_of(graph, copies=[inner], linked=[outer]))
    assert {symbol.kind for symbol in scan(tmp_path).symbols} == {"collided"}


def test_a_drawn_uid_with_one_body_is_nothing_to_speak_of(tmp_path: Path) -> None:
    put(tmp_path, "one", object_of({mangled(ADD, RANDOM_UID): "x + 1"}))
    report = scan(tmp_path)
    assert (report.symbols, report.functions) == ([], 1)


def test_wrappers_are_no_functions_of_their_own(tmp_path: Path) -> None:
    for name, body in (("one", "x * 0.1"), ("other", "x * 0.2")):
        wrappers = {mangled(ADD, 1, wrapper="cpython"): body, "cfunc." + mangled(ADD, 1): body}
        put(tmp_path, name, object_of({mangled(ADD, 1): body, **wrappers}))
    report = scan(tmp_path)
    assert classes(report) == [("collided", ADD, "1", 2, 2)]
    assert report.functions == 1


def test_helpers_that_numba_does_not_number_are_harmless(tmp_path: Path) -> None:
    put(tmp_path, "one", object_of({"NRT_incref": "x + 1", "NRT_decref": "x - 1"}))
    put(tmp_path, "other", object_of({"NRT_incref": "x + 2", "NRT_decref": "x - 1"}))
    report = scan(tmp_path)
    assert classes(report) == [("harmless", "NRT_incref", None, 2, 2)]
    assert report.functions == 0


@pytest.mark.parametrize("apart", ["cache", "numba", "python", "machine"])
def test_symbols_meet_only_where_one_process_loads_both(tmp_path: Path, apart: str) -> None:
    one, other = (object_of({mangled(ADD, 7): body}) for body in ("x + 1", "x + 2"))
    put(tmp_path / "a", "one", one)
    where = tmp_path / ("b" if apart == "cache" else "a")
    put(where, "other", other, numba="0.64.0" if apart == "numba" else "0.63.1")
    if apart == "python":
        for path in where.glob("other*"):
            path.rename(where / path.name.replace("py313", "py312"))
        (where / "other.py312.nbi").write_bytes(index_file(["other.py312.1.nbc"]))
    if apart == "machine":
        index = index_file(["other.py313.1.nbc"], machine=("x86_64-unknown-linux-gnu", "i7", ""))
        (where / "other.py313.nbi").write_bytes(index)
    assert classes(scan(tmp_path)) == [("vulnerable", ADD, "7", 1, 1)] * 2


def test_directories_that_numba_makes_in_one_cache_are_one(tmp_path: Path) -> None:
    for name, body in (("one", "x + 1"), ("other", "x + 2")):
        put(tmp_path / f"{name}_{'0a' * 20}", name, object_of({mangled(ADD, 7): body}))
    assert classes(scan(tmp_path)) == [("collided", ADD, "7", 2, 2)]


def test_what_no_index_refers_to_is_counted_and_not_judged(tmp_path: Path) -> None:
    put(tmp_path, "one", *(object_of({mangled(ADD, 7): f"x + {n}"}) for n in range(3)))
    (tmp_path / "one.py313.nbi").write_bytes(index_file(["one.py313.2.nbc", "one.py313.9.nbc"]))
    report = scan(tmp_path)
    assert classes(report) == [("vulnerable", ADD, "7", 1, 1)]
    assert (report.data_files, report.unreferenced, report.missing) == (1, 2, 1)
    assert report.unreadable == []


def test_a_broken_file_is_named_and_the_rest_is_judged(tmp_path: Path) -> None:
    put(tmp_path, "good", object_of({mangled(ADD, 7): "x + 1"}))
    put(tmp_path, "mac", b"\xcf\xfa\xed\xfe\x07\0\0\x01")
    put(tmp_path, "no index", object_of({mangled(ADD, 8): "x + 1"}))
    (tmp_path / "no index.py313.nbi").write_bytes(b"")
    put(tmp_path, "no data", b"")
    (tmp_path / "no data.py313.1.nbc").write_bytes(b"")
    report = scan(tmp_path)
    assert classes(report) == [("vulnerable", ADD, "7", 1, 1)]
    empty = "it is not a pickle of numba's: at byte 0: pickle exhausted before seeing STOP"
    assert [(broken.path, broken.reason) for broken in report.unreadable] == [
        ("no index.py313.nbi", empty),
        ("mac.py313.1.nbc", "object files of the format Mach-O (macOS) are not supported yet"),
        ("no data.py313.1.nbc", empty),
    ]  # fmt: skip


def test_a_file_that_two_indexes_claim_is_read_once(tmp_path: Path) -> None:
    put(tmp_path, "one", object_of({mangled(ADD, 7): "x + 1"}))
    for number in range(3):
        other = index_file(["one.py313.1.nbc"], machine=("other", str(number)))
        (tmp_path / f"x{number}.py313.nbi").write_bytes(other)
    assert classes(scan(tmp_path)) == [("vulnerable", ADD, "7", 1, 1)]


def test_a_directory_without_a_cache_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NoCacheError, match="is not a directory"):
        scan(tmp_path / "nowhere")
    with pytest.raises(NoCacheError, match="contains no cache of numba"):
        scan(tmp_path)


def test_no_more_symbols_than_fit_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scanning, "MOST_KEPT", 2000)
    codes = [object_of({mangled(ADD, uid): "x + 1"}) for uid in range(5)]
    put(tmp_path, "one", *codes)
    report = scan(tmp_path)
    assert report.vulnerable_symbols == 2
    assert {broken.reason for broken in report.unreadable} == {
        "the functions of the cache need more than 2000 bytes"
    }


def test_the_only_function_of_its_name_in_a_module_is_not_vulnerable(tmp_path: Path) -> None:
    """Another process can only give its symbol to itself."""
    area = object_of({mangled("pkg.mymod.area", 1): "x * 2"})
    put(tmp_path, "mymod.area-3", area)
    put(tmp_path, "main.use-9", area)  # into which it is linked
    assert scan(tmp_path).vulnerable_symbols == 0
    put(tmp_path, "mymod.area-30", object_of({mangled("pkg.mymod.area", 7): "x * 3"}))
    assert scan(tmp_path).vulnerable_symbols == 2


@pytest.mark.parametrize("base", ["string.add-774d32_fastmath1", "mymod.other-3", "add-3"])
def test_a_function_that_no_source_shows_to_be_alone_is_vulnerable(
    tmp_path: Path, base: str
) -> None:
    put(tmp_path, base, object_of({mangled(ADD, 1): "x + 2"}))
    assert scan(tmp_path).vulnerable_symbols == 1
