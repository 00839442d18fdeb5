"""Histories of several machines and causes, brought together."""

from __future__ import annotations

import pytest

from observatory.analyze.comparison.comparing import Who
from observatory.analyze.comparison.evidence import Evidence
from observatory.analyze.history.detection import Histories
from observatory.analyze.history.followed import CountedSubject, History
from observatory.analyze.history.segments import segmented
from observatory.benchmarks.catalogue import Cell
from observatory.store.records.alerts import Alerts, at_of
from observatory.store.records.profile import ImportedModule, Phase, Profile
from observatory.store.records.sample import LedgerEntry, Sample
from tests.factories import failed, sample
from tests.factories_alerts import detected, line, moment, series, stepped, subject
from tests.factories_alerts import watched as runs

DISK = Cell("radon", "warm_disk", "NUMBA", "spawn")
PROCESS = Cell("radon", "warm_process", "NUMBA", "spawn")


def history(machine: str, *nights: list[Sample]) -> History:
    counted = [
        CountedSubject(at_of(subject(n)), Evidence.of(taken), n) for n, taken in enumerate(nights)
    ]
    return History(machine, "observatory-py3.13", counted)


def died(cell: Cell, message: str) -> Sample:
    found = failed(cell, "counting")
    assert found.failure is not None
    told = found.failure.model_copy(update={"message": message})
    return found.model_copy(update={"failure": told})


def well(cell: Cell) -> Sample:
    return sample(cell, "counting", {"cache_misses": 0})


def watched(*histories: History, nights: int = 60) -> Alerts:
    calm = series(line(nights), stepped(nights))
    base = moment(nights)

    return detected(Histories(list(segmented([calm])), histories, runs(nights).runs), base)


def test_one_cause_on_two_machines_is_one_alert_until_both_are_well() -> None:
    bad, good = [died(DISK, "no")], [well(DISK)]
    found = watched(history("a", good, bad, good), history("b", good, bad, bad))
    (alert,) = found.alerts
    assert {one.machine for one in alert.series} == {"a", "b"}
    assert alert.state == "new"
    over = watched(history("a", good, bad, good), history("b", good, bad, good))
    assert over.alerts[0].state == "resolved"


def test_what_another_machine_tells_already_is_no_alert_of_a_new_machine() -> None:
    good, bad = ([sample(DISK, "counting", {"wrong_results": n})] for n in (0, 2))
    (alert,) = watched(history("a", good, bad, bad), history("b", [], [], bad)).alerts
    assert {one.machine for one in alert.series} == {"a"}
    both = watched(history("a", [], bad, bad), history("b", [], [], bad)).alerts
    assert [one.first_bad.label for one in both] == ["n1"]
    alone = watched(history("a", good, bad, good), history("b", [], [], bad)).alerts
    assert {(one.series[0].machine, one.state) for one in alone} == {
        ("a", "resolved"), ("b", "new")
    }  # fmt: skip


def test_two_errors_at_one_subject_are_two_alerts_with_ids_of_their_own() -> None:
    good = [well(DISK), well(PROCESS)]
    bad = [died(DISK, "no such file"), died(PROCESS, "no such key")]
    found = watched(history("a", good, bad))
    assert [alert.kind for alert in found.alerts] == ["crashed", "crashed"]
    assert len({alert.id for alert in found.alerts}) == 2


def test_times_that_follow_from_a_cache_are_told_with_it() -> None:
    values = stepped(60, 40, factor=3.0)
    slow = series(line(60), values)
    other = series(line(60), values, cell=("radon", "warm_disk", "C", "spawn"))
    nights = [[well(DISK)]] * 40 + [
        [sample(DISK, "counting", {"cache_misses": 4})] for _ in range(20)
    ]

    exact = history("bench", *nights)
    found = detected(Histories(list(segmented([slow, other])), [exact], runs(60).runs), moment(60))
    kinds = {alert.kind: {one.benchmark for one in alert.series} for alert in found.alerts}
    assert kinds == {
        "unexplained": {"radon warm_disk NUMBA spawn"},
        "slower to build": {"radon warm_disk C spawn"},
    }


@pytest.mark.parametrize(
    ("count", "kind", "metric", "follows"),
    [
        ("compiler_runs", "more compiler runs", "compile_time", True),
        ("compiler_runs", "more compiler runs", "peak_rss", True),
        ("seconds_slept", "sleeps", "compile_time", True),
        ("seconds_slept", "sleeps", "peak_rss", False),
        ("files_leaked", "files leaked", "compile_time", False),
    ],
)
def test_what_a_comparison_explains_by_a_count_is_told_with_it(
    count: str, kind: str, metric: str, follows: bool
) -> None:
    slow = series(line(60), stepped(60, 40, factor=3.0), metric)
    nights = [[sample(DISK, "counting", {count: n})] for n in [0] * 40 + [1] * 20]
    exact = history("bench", *nights)
    found = detected(Histories(list(segmented([slow])), [exact], runs(60).runs), moment(60))
    told = {one.metric for alert in found.alerts if alert.kind == kind for one in alert.series}
    assert told == ({count, metric} if follows else {count})
    assert len(found.alerts) == (1 if follows else 2)


def test_a_time_that_stays_is_not_over_with_the_count_that_came_with_it() -> None:
    slow = series(line(60), stepped(60, 40, factor=3.0))
    misses = [0] * 40 + [4] * 8 + [0] * 12
    nights = [[sample(DISK, "counting", {"cache_misses": n})] for n in misses]
    found = detected(
        Histories(list(segmented([slow])), [history("bench", *nights)], runs(60).runs),
        moment(60),
    )
    states = {alert.kind: alert.state for alert in found.alerts}
    assert states == {"unexplained": "resolved", "slower to build": "open"}


def test_a_crash_of_the_newest_subject_is_no_second_alert_as_a_failed_run() -> None:
    exact = history("bench", *[[well(DISK)]] * 59, [died(DISK, "no")])
    found_runs = runs(60, failures={"no": [str(DISK)], "late": ["radon cold C spawn"]}).runs
    found = detected(Histories([], [exact], found_runs), moment(60))
    assert sorted(alert.kind for alert in found.alerts) == ["crashed", "failed run"]
    assert all("late" in a.sentence for a in found.alerts if a.kind == "failed run")


def test_counts_alone_alarm_where_no_file_of_values_can_be_read() -> None:
    found = detected(Histories([], [history("a", [well(DISK)], [died(DISK, "no")])], []),
                  moment(2))  # fmt: skip
    assert [alert.kind for alert in found.alerts] == ["crashed"]


def test_times_that_only_describe_a_count_are_not_missed_later() -> None:
    def built(misses: int, seconds: float) -> list[Sample]:
        timed = sample(DISK, "timing", {"compile_time": seconds})
        return [sample(DISK, "counting", {"cache_misses": misses}), timed]

    nights = [built(0, 0.4)] * 20 + [built(4, 4.0)] * 40
    found = detected(Histories([], [history("bench", *nights)], runs(60).runs), moment(60))
    (alert,) = found.alerts
    assert [one.metric for one in alert.series] == ["cache_misses", "compile_time"]
    assert alert.notes == []


def profiled(cell: Cell, loading: float, memory: int) -> list[Sample]:
    """Two timing samples of a build and a counting one, with their phases."""
    times = [
        Profile(phases=[Phase(name="loading", entries=1, seconds=loading + n / 1000)])
        for n in range(2)
    ]
    peaks = [Phase(name="numba: lowering", entries=1, peak_bytes=memory)]
    imports = [ImportedModule(name="pytensor", depth=0, seconds=1.0)]
    imports += [ImportedModule(name="pandas", depth=1, seconds=0.4)] * (loading > 0.2)
    metrics = {"compile_time": loading + 0.5, "peak_rss": 1e8 + memory, "import_time": loading}
    return [
        *(sample(cell, metrics=metrics, profile=one) for one in times),
        sample(cell, "counting", profile=Profile(phases=peaks)),
        sample(cell, "tracing", profile=Profile(imports=imports)),
    ]


@pytest.mark.parametrize(
    ("metric", "unexplained", "said"),
    [
        (
            "compile_time",
            "import_time",
            "; the phase `loading` takes 200 ms more (100 → 300 ms)",
        ),
        ("peak_rss", "import_time", ", the phase `numba: lowering` raises it by 50.0 MB more"),
        ("import_time", "call_time", "; `pandas` is newly imported, which takes 400 ms"),
    ],
)
def test_an_alert_about_a_time_or_memory_says_where_that_begins(
    metric: str, unexplained: str, said: str
) -> None:
    """Samples of some subjects on each side: those of one are too few to be sure of a phase."""
    asked: list[int] = []
    labels = {subject(number).commit: number for number in range(60)}

    def samples(who: Who) -> list[Sample]:
        asked.append(labels[who[2]])
        slow = labels[who[2]] >= 40
        return profiled(DISK, 0.3 if slow else 0.1, 80_000_000 if slow else 30_000_000)

    step = series(line(60), stepped(60, 40), metric)
    calm = series(line(60), stepped(60, seed=4), unexplained)
    given = Histories(list(segmented([step, calm])), (), runs(60).runs, samples=samples)
    (alert,) = detected(given, moment(60)).alerts
    assert said in alert.sentence
    assert sorted(asked) == list(range(36, 44))


def test_a_step_of_which_no_subject_has_a_profile_is_told_without_one() -> None:
    step = series(line(60), stepped(60, 40))
    (alert,) = detected(Histories(list(segmented([step])), (), runs(60).runs), moment(60)).alerts
    assert alert.sentence.endswith("%)")


@pytest.mark.parametrize("metric", ["files_grown", "bytes_grown", "compiler_runs"])
def test_whatever_another_default_makes_worse_is_a_series_of_its_event(metric: str) -> None:
    warm = Cell("radon", "warm_disk", "DEFAULT", "spawn")
    compiled = [
        [LedgerEntry(name="f", kind=kind, key="k", outcome="hit", seconds=0.1, step="build")]
        for kind in ("c_module", "numba")
    ]
    before, after = (
        [
            sample(warm, "counting", {"cache_misses": 0, metric: value}, ledger=ledger),
            sample(warm.filler, "counting", {"cache_misses": 1}, ledger=ledger),
        ]
        for value, ledger in zip((0, 3), compiled, strict=True)
    )
    found = watched(history("a", before, after, after))
    (event,) = found.alerts
    assert (event.kind, event.state) == ("another default", "event")
    assert [(one.metric, one.after) for one in event.series] == [(metric, 3)]
