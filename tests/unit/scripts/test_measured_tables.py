"""Tables of the documentation are computed from rows."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from observatory.fleet.cluster import DaskFleet
from scripts.accuracy import tables as accuracy
from scripts.beside_asv import tables as beside_asv
from scripts.docs import fuzz_tables, rows
from scripts.docs.rows import Taken
from scripts.scale import tables as scale
from scripts.scale.fleet_kills import repeated

TAKEN = Taken(at=datetime(2026, 11, 28, 12, tzinfo=UTC), cpu="EPYC", cpus=2, load=2)


def lines(blocks: Any) -> list[list[str]]:
    """The cells of the table, a list for each line below the header."""
    table = next(iter(blocks)).splitlines()[2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table]


def strike(command: str, **changed: Any) -> scale.Strike:
    plain = {"again": 0, "paired": 0, "returned": 0, "tries": 0, "lost": 0, "doubled": 0,
             "split": 0, "gap": 0.5, "left": 0}  # fmt: skip
    told = {"blow": "SIGKILL", "target": "worker", "subject": "3.3.8", "seed": 7, "stopped": 60}
    return scale.Strike(taken=TAKEN, command=command, **(told | plain | changed))


def test_strikes_of_one_kind_are_added_by_command() -> None:
    found = [
        strike("run", again=1), strike("run", again=2, returned=1),
        strike("compare", again=3, paired=2, gap=2.41, tries=1, lost=1),
        strike("run", blow="SIGSTOP", target="nanny"),
    ]  # fmt: skip
    table, said = scale.kills(found)
    assert lines([table]) == [
        ["SIGKILL of a worker", "2", "3", "1", "0", "1", "3", "2", "0", "1", "1"],
        ["SIGSTOP of a nanny for 60 s", "1", "0", "0", "0", "0", "0", "0", "0", "0", "0"],
    ]
    assert said.startswith("At most 2.4 s lay between the two samples of a pair, and 0 processes")


def test_what_a_command_repeated_is_read_from_what_it_says() -> None:
    counts = Counter(again=4, recognised=1, dropped=2)
    crew: Any = SimpleNamespace(crew=SimpleNamespace(counts=counts))
    log = f"begun\n{DaskFleet.report(crew)}\n"
    assert repeated(log * 2) == {"paired": 4, "returned": 2}
    assert repeated("nothing was lost") == {"paired": 0, "returned": 0}


def test_ways_are_compared_by_their_quickest_rounds() -> None:
    found = [
        scale.Speed(taken=TAKEN, plan="quick", way=way, round=number, seconds=seconds, values=9,
                    different=different)
        for way, number, seconds, different in
        (("one", 1, 164, 0), ("two", 1, 82, 1), ("one", 2, 150, 0), ("two", 2, 75, 0))
    ]  # fmt: skip
    older = found[0].model_copy(update={"seconds": 15.0})
    table, said = scale.speed([older, *found], "quick")
    assert lines([table]) == [["one", "164 s", "150 s", "1.0"], ["two", "82 s", "75 s", "2.0"]]
    assert said.startswith("The last column compares the quickest rounds. Each run recorded 9 ")
    assert "of which 1 differed" in said
    _, said = scale.speed([one for one in found if one.round == 1], "quick")
    assert said.startswith("Each run recorded 9 ")  # there is nothing to choose from


def test_a_simulation_that_was_repeated_shows_its_newest_run() -> None:
    first, second, again = (
        scale.Scaled(taken=TAKEN, workers=workers, samples=166, speed=20, longest=1.8,
                     seconds=seconds, slept=40, between=0.0111, cpu=0.0189)
        for workers, seconds in ((1, 80), (2, 25), (1, 50))
    )  # fmt: skip
    assert lines(scale.simulation([first, second, again])) == [
        ["1", "50.0", "1.0", "20 %", "11 ms", "19 ms"],
        ["2", "25.0", "2.0", "20 %", "11 ms", "19 ms"],
    ]


def test_the_largest_store_is_what_samples_were_lost_of() -> None:
    found = [
        scale.StoreKill(taken=TAKEN, server="one", place=2.5, began_again=1, samples=samples,
                        lost=0, doubled=0, torn=0)
        for samples in (12, 24)
    ]  # fmt: skip
    assert lines(scale.store_kills(found)) == [["one", "2", "2", "0 of 24 samples", "0", "0"]]


def night(way: str, nights: int, publish: float) -> scale.StoreNight:
    requests = 11 if way == "store" else None
    return scale.StoreNight(
        taken=TAKEN, way=way, nights=nights, samples=188, size=1.17, publish=publish,
        copy_cpu=1, more=0.2, copied=2, requests=requests,
    )  # fmt: skip


def test_when_to_leave_a_branch_is_said_in_both_ways_that_the_figures_may_go_on() -> None:
    branch = [
        night("branch", nights, publish) for nights, publish in ((25, 3), (100, 6), (400, 12))
    ]
    store = [night("store", nights, 2.5) for nights in (25, 100, 400)]
    table, _, said = scale.store_nights([night("branch", 400, 99), *branch, *store])
    assert lines([table])[-1][:2] == ["400", "12.0 s"]
    told = " ".join(said.split())
    assert "grew from 3.0 to 12.0 s of CPU: with the power 0.50 of the number of nights" in told
    assert "after about 10,000 nights" in told  # 400 * (60 / 12) ** 2
    assert "between 100 and 400 nights (20 ms), after about 2,800." in told  # 400 + 48 / 0.02
    assert len([*scale.store_nights([branch[0], store[0]])]) == 2


def pinned(pin: str, *counts: int, scenario: str = "call") -> accuracy.Pinned:
    return accuracy.Pinned(
        taken=TAKEN, subject="3.3.7", pin=pin, scenario=scenario, backend="NUMBA", counts=counts
    )


def test_only_a_shift_beyond_the_floor_of_comparisons_is_bold() -> None:
    found = [pinned("none", 100_000, 100_000, 100_010), pinned("glibc", 101_000, 101_010),
             pinned("names", 100_020, 100_040)]  # fmt: skip
    assert lines(accuracy.pins(found)) == [
        ["none", "+0.000 %", "0.010 %"],
        ["glibc", "**+1.005 %**", "0.010 %"],
        ["names", "+0.030 %", "0.020 %"],
    ]


def test_a_shift_is_from_the_samples_of_the_same_filled_cache() -> None:
    found = [
        pinned("none", 1000),
        pinned("names", 1001),
        pinned("none", 2000),
        pinned("arena", 2002),
    ]
    assert lines(accuracy.pins(found)) == [
        ["none", "+0.000 %", "0.000 %"],
        ["names", "+0.100 %", "0.000 %"],
        ["arena", "+0.100 %", "0.000 %"],
    ]
    with pytest.raises(KeyError):
        next(accuracy.pins(found[1:]))


def test_rows_of_another_subject_before_the_last_one_are_not_shown() -> None:
    older = [pinned(one, 5).model_copy(update={"subject": "3.3.6"}) for one in ("none", "old")]
    table, said = accuracy.pins([*older, pinned("none", 10), pinned("arena", 11)])
    assert [row[0] for row in lines([table])] == ["none", "arena"]
    assert said.startswith("PyTensor 3.3.7, 1 sample")
    struck = [strike("run", subject="3.3.7", again=9), strike("run", again=1)]
    assert lines(scale.kills(struck))[0][1:3] == ["1", "1"]


def test_a_pin_that_one_cell_lacks_leaves_its_place_empty() -> None:
    found = [pinned("none", 10), pinned("none", 20, scenario="cold"), pinned("arena", 11)]
    assert lines(accuracy.pins(found))[-1] == ["arena", "**+10.000 %**", "0.000 %", "", ""]


def test_shares_are_by_backend_and_subject() -> None:
    found = [
        accuracy.Attributed(taken=TAKEN, subject=subject, scenario=scenario, backend="C",
                            launch="spawn", builds=1, least=least, most=0.007, largest="rewriting")
        for subject, scenario, least in (("3.3.7", "warm_disk", 0.998), ("3.3.7", "cold", 1.0),
                                         ("2.38.3", "cold", 0.999))
    ]  # fmt: skip
    table, said = accuracy.attribution(found)
    assert lines([table]) == [["C", "99.9, -, - %", "100.0, 99.8, - %"]]
    assert said.startswith("At most 7.00 ms of these builds belong to no phase.")


def built(series: int, situation: str, seconds: float, **changed: Any) -> beside_asv.Built:
    told = {"collection": f"{series}", "files": 40, "values": 20 * series, "megabytes": 2.2,
            "round": 1, "peak": 80.4}  # fmt: skip
    return beside_asv.Built(
        taken=TAKEN, series=series, situation=situation, seconds=seconds, **(told | changed)
    )


def test_building_is_compared_with_asv_where_asv_was_measured() -> None:
    found = [built(100, "from nothing", 5.0), built(100, "asv publish", 20.0),
             built(100, "from nothing", 3.0, round=2), built(200, "from nothing", 6.0)]  # fmt: skip
    assert lines(beside_asv.building(found)) == [
        ["100, 100 series, 40 files, 2 MB", "from nothing", "4.0 s", "80 MB", "5.0 times as long"],
        ["", "`asv publish`", "20.0 s", "80 MB", ""],
    ]
    assert [*beside_asv.building(found[-1:])] == []


def test_sizes_have_the_power_with_which_the_time_grows() -> None:
    found = [
        built(series, situation, seconds, values=values * series, collection=f"{series} {values}",
              one_cpu=series == 8000)
        for series, values, seconds in (
            (1000, 20, 2.0), (1000, 40, 3.0), (2000, 20, 4.0), (4000, 40, 12.0), (8000, 10, 9.0)
        )
        for situation in ("from nothing", "one new file")
    ]  # fmt: skip
    cpus = f"{TAKEN.cpus}"
    assert [line[:5] for line in lines(beside_asv.sizes(found))] == [
        ["1,000", "20", cpus, "2.0 s", ""],
        ["1,000", "40", cpus, "3.0 s", "0.58"],
        ["2,000", "20", cpus, "4.0 s", "1.00"],
        ["4,000", "40", cpus, "12.0 s", "1.00"],
        ["8,000", "10", "1", "9.0 s", ""],
    ]


def test_a_chart_that_never_came_is_said_and_a_first_page_has_none() -> None:
    found = [
        beside_asv.Opened(taken=TAKEN, project="p", page=page, browser="Firefox", side="ours",
                          loads=3, paint=844.2, chart=None, requests=10, bytes=120_400, errors=0)
        for page in ("first", "chart")
    ]  # fmt: skip
    assert [line[4] for line in lines(beside_asv.pages(found, "p"))] == ["-", "never"]


def test_the_newest_row_of_each_surface_counts_and_one_row_adds_them_up() -> None:
    def row(surface: str, cases: int, megabytes: float, **changed: Any) -> fuzz_tables.Fuzzed:
        plain = {"guided": False, "seed": 56, "seconds": 60, "refused": 1, "tracebacks": 0,
                 "slowest": 0.2, "executed": 0}  # fmt: skip
        return fuzz_tables.Fuzzed(
            taken=TAKEN, surface=surface, cases=cases, megabytes=megabytes, **(plain | changed)
        )

    rows = [row("journal", 5, 900), row("ledger", 1200, 83.4, tracebacks=1, seed=57, seconds=40),
            row("journal", 34, 71, executed=2), row("journal", 7, 20, guided=True)]  # fmt: skip
    table, how, guided = fuzz_tables.fuzzed(rows)
    assert lines([table]) == [
        ["journal", "34", "1", "0", "71", "0.2", "2"],
        ["ledger", "1,200", "1", "1", "83", "0.2", "0"],
        ["**in all**", "1,234", "2", "1", "83", "0.2", "2"],
    ]
    assert how.startswith("Each place had 40 to 60 s; `--seed` 56 and 57. Measured on ")
    assert guided.startswith("With `--guided`, 7 contents of 1 place were tried: no tracebacks, at")


@pytest.mark.parametrize(
    ("module", "plans"), [(accuracy, ()), (beside_asv, ()), (scale, (["quick"],))]
)
def test_a_part_without_rows_is_empty(
    module: Any, plans: tuple[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "read", lambda kind, table: rows.read(kind, table, tmp_path))
    texts = [text for own in module.parts(*plans).values() for text in own.values()]
    assert set(texts) == {""}
