"""Which searches are made for what; what they measure is replaced."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from observatory.app import searching
from observatory.app.bisection import Sought
from observatory.app.crossing import Asked, cross
from observatory.app.probing import OutOfTimeError, Prober
from observatory.app.searching import Searcher, of_packages
from observatory.app.session import Session
from observatory.app.unattended import open_ranges, search_open, searched
from observatory.app.wanted import Wanted, cost, named_alert, of_alert, wanted_named
from observatory.benchmarks.catalogue import MEMBERS, Cell
from observatory.errors import SelectionError
from observatory.run import counter
from observatory.run.environments import NO_PINS
from observatory.run.sources import SubjectError
from observatory.store.records import alerts as alerts_record
from observatory.store.records import crossings, searches
from observatory.store.records.alerts import Alert, Alerts, At, SeriesChange
from observatory.store.records.comparison import GraphChange
from observatory.store.records.crossings import Crossed
from observatory.store.records.found import known
from observatory.store.records.searches import Certainty, Culprit, Searched
from observatory.store.records.subject import Subject
from tests.factories import NOON, WARM, header, subject
from tests.factories_crossings import crossed
from tests.factories_git import git as git_in
from tests.factories_searches import culprit
from tests.factories_searches import found as found_by_a_search


def at(label: str, commit: str = "") -> At:
    return At(label=label, commit=commit or label, date=NOON)


def series(good: At, bad: At, metric: str = "cache_misses", **changes: Any) -> SeriesChange:
    own = {
        "machine": "bench", "env_name": "observatory-py3.13", "benchmark": str(WARM),
        "metric": metric, "unit": "count", "kind": "exact", "before": 0, "after": 4,
        "last_good": good, "first_bad": bad, "newest": bad, "holds": True,
    }  # fmt: skip
    return SeriesChange(**{**own, **changes})


def alert(id_: str, *found: SeriesChange, state: str = "new") -> Alert:
    return Alert(
        id=id_ * 10, kind="more misses", sentence="", last_good=found[0].last_good,
        first_bad=found[0].first_bad, between=3, series=list(found), state=state,
        first_seen=NOON, seen_with=NOON, state_since=NOON,
    )  # fmt: skip


def saved(results: Path, *found: Alert) -> None:
    results.mkdir(exist_ok=True)
    alerts_record.save(results, Alerts(
        observatory="0.1", newest=NOON, last_good=None, judged=0, alerts=list(found),
    ))  # fmt: skip


class Searches:
    """Records what is searched, and finds the culprits that it is told."""

    def __init__(self, results: Path) -> None:
        self.results = results
        self.made: list[Sought] = []
        self.culprit: Callable[[Sought], tuple[int, int] | None] = lambda _: (0, 1)
        self.finished = True
        self.certainty: Certainty = "confirmed"
        self.crossed: list[Asked] = []
        self.whole = True

    def cross(self, session: Session, asked: Asked) -> Crossed:
        self.crossed.append(asked)
        found = crossed(
            cell=asked.cell, metric=asked.metric, good=at(asked.old.label, asked.old.commit),
            bad=at(asked.new.label, asked.new.commit), finished=self.whole,
        )  # fmt: skip
        crossings.save(session.results, found)
        return found

    def __call__(self, session: Session, sought: Sought) -> Searched:
        self.made.append(sought)
        ends = self.culprit(sought)
        one = sought.subjects
        culprits = [] if ends is None else [Culprit(
            before=at(one[ends[0]].label, one[ends[0]].commit),
            after=at(one[ends[1]].label, one[ends[1]].commit), low=0, high=4,
            certainty=self.certainty if sought.confirm else "not measured again",
        )]  # fmt: skip
        found = Searched(
            observatory="0.1", machine=session.machine.machine, cell=sought.cell,
            metric=sought.metric, good=at(one[0].label, one[0].commit),
            bad=at(one[-1].label, one[-1].commit), within=sought.within, subjects=len(one),
            probes=[], measured=2, taken_at=datetime.now(UTC), culprits=culprits,
            finished=self.finished,
        )  # fmt: skip
        searches.save(self.results, found)
        return found

    @property
    def labels(self) -> list[list[str]]:
        return [[one.label for one in sought.subjects] for sought in self.made]


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Searches:
    found = Searches(tmp_path / "results")
    monkeypatch.setattr(searching, "bisect", found)
    monkeypatch.setattr(searching, "cross", found.cross)
    return found


@pytest.fixture
def searcher(tmp_path: Path) -> Searcher:
    session = Session("bisect", tmp_path / "results", tmp_path / "state", header().machine)
    return Searcher(session)


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    """A repository with two tags, and commits on main by title, one of which merged a branch."""
    where = tmp_path_factory.mktemp("clone")

    git = partial(git_in, where)
    git("init", "--quiet", "--initial-branch=main")
    for title in ("zero", "one", "two"):
        git("commit", "--quiet", "--allow-empty", "-m", title)
        if title == "zero":
            git("tag", "rel-3.3.6")
    git("checkout", "--quiet", "-b", "side", "HEAD~1")
    for title in ("side one", "side two"):
        git("commit", "--quiet", "--allow-empty", "-m", title)
    git("checkout", "--quiet", "main")
    git("merge", "--quiet", "--no-ff", "-m", "merge", "side")
    git("tag", "rel-3.3.7")
    log = git("log", "--format=%s=%H").splitlines()
    return where, dict(line.split("=") for line in log)


def test_commits_between_two_releases_are_searched_after_them(
    searcher: Searcher, made: Searches, clone: tuple[Path, dict[str, str]]
) -> None:
    where, commits = clone
    found = list(
        replace(searcher, repo=where).search(Wanted("3.3.6", "3.3.7", WARM, "cache_misses"))
    )
    assert made.labels[0] == ["3.3.6", "3.3.7"]
    assert [one.commit for one in made.made[1].subjects] == [
        commits[name] for name in ("zero", "one", "two", "merge")
    ]
    assert [one.label for one in made.made[1].within or ()] == ["3.3.6", "3.3.7"]
    assert [one.confirm for one in made.made] == [False, True]
    assert len(found) == len(made.made) == 2


def test_a_release_whose_tag_the_clone_lacks_is_measured_again_as_a_release(
    searcher: Searcher, made: Searches, clone: tuple[Path, dict[str, str]]
) -> None:
    told: list[str] = []
    session = replace(searcher.session, progress=lambda update: told.append(update.text))
    own = replace(searcher, repo=clone[0], session=session)
    found = list(own.search(Wanted("3.3.7", "3.3.8", WARM, "cache_misses")))
    assert made.labels == [["3.3.7", "3.3.8"]] * 2
    assert [one.confirm for one in made.made] == [False, True]
    assert len(found) == 2
    assert any("has no rel-3.3.8: run `git fetch --tags` in it" in line for line in told)


def test_what_a_merge_brought_is_searched_from_where_its_branch_began(
    searcher: Searcher, made: Searches, clone: tuple[Path, dict[str, str]]
) -> None:
    where, commits = clone
    made.culprit = lambda sought: (len(sought.subjects) - 2, len(sought.subjects) - 1)
    ends = commits["zero"], commits["merge"]
    list(replace(searcher, repo=where).search(Wanted(*ends, WARM, "cache_misses")))
    assert [one.commit for one in made.made[-1].subjects] == [
        commits[name] for name in ("one", "side one", "side two", "merge")
    ]
    made.made.clear()
    made.culprit = lambda _: (0, 1)  # "one", which is no merge
    list(replace(searcher, repo=where).search(Wanted(*ends, WARM, "cache_misses")))
    assert len(made.made) == 1


def test_from_a_release_to_a_commit_the_clone_is_searched_from_its_tag_on(
    searcher: Searcher, made: Searches, clone: tuple[Path, dict[str, str]]
) -> None:
    where, commits = clone
    own = replace(searcher, repo=where)
    for ends in (("3.3.6", commits["two"]), (commits["zero"], "3.3.7")):
        list(own.search(Wanted(*ends, WARM, "cache_misses")))
    titles = [["zero", "one", "two"], ["zero", "one", "two", "merge"]]
    for sought, expected in zip(made.made, titles, strict=False):
        assert [one.commit for one in sought.subjects] == [commits[one] for one in expected]


def test_commits_of_an_alert_are_searched_with_their_packages(
    searcher: Searcher, made: Searches, clone: tuple[Path, dict[str, str]]
) -> None:
    where, commits = clone
    more = "numba==0.66.0"
    old, new = (at(f"{commits[name][:12]} {more}", commits[name]) for name in ("zero", "two"))
    saved(searcher.session.results, alert("a", series(old, new)))
    wanted = of_alert(searcher.session.results, "a")
    assert (wanted.good, wanted.bad) == tuple(f"{commits[one]} {more}" for one in ("zero", "two"))
    own = replace(searcher, repo=where)
    list(own.search(wanted))
    assert {one.extras for one in made.made[0].subjects} == {(more,)}
    with pytest.raises(SelectionError, match="have different requirements"):
        list(own.search(replace(wanted, bad=commits["two"])))


def test_a_release_in_the_range_of_an_alert_is_the_commit_of_its_tag(
    searcher: Searcher, clone: tuple[Path, dict[str, str]]
) -> None:
    where, commits = clone
    results, two = searcher.session.results, commits["two"]
    synthetic = at("3.3.6", "9" * 40), at("3.3.5", "8" * 40)
    saved(results, *(alert(name, series(good, at(two[:12], two)))
                     for name, good in zip("ab", synthetic, strict=True)))  # fmt: skip
    assert open_ranges(results, where) == [(commits["zero"], two), ("8" * 40, two)]


def test_culprits_of_another_search_in_the_range_are_tried_first(
    searcher: Searcher, made: Searches
) -> None:
    list(searcher.search(Wanted("3.3.4", "3.3.8", WARM, "cache_misses")))
    list(searcher.search(Wanted("3.3.3", "3.3.8", WARM, "python_calls")))
    first = {one.label for one in made.made[1].subjects if one.commit in made.made[1].first}
    assert first == {"3.3.4", "3.3.5"}


def test_releases_with_the_same_further_requirement_are_a_range(
    searcher: Searcher, made: Searches
) -> None:
    ends = "3.3.6 pymc==6.4.0", "3.3.8 pymc==6.4.0"
    list(searcher.search(Wanted(*ends, WARM, "cache_misses")))
    assert made.labels == [[f"3.3.{n} pymc==6.4.0" for n in (6, 7, 8)]]
    with pytest.raises(SelectionError, match="name their clone with --repo"):
        list(searcher.search(Wanted("3.3.6 pymc==6.4.0", "3.3.8", WARM, "cache_misses")))


def test_commits_of_no_clone_are_refused(searcher: Searcher) -> None:
    with pytest.raises(SelectionError, match="name their clone with --repo"):
        list(searcher.search(Wanted("main", "topic", WARM, "cache_misses")))


def test_an_alert_names_its_ends_and_the_series_that_a_sample_tells(searcher: Searcher) -> None:
    results = searcher.session.results
    good, bad = at("3.3.6"), at("0123456", "1" * 40)
    time = series(good, bad, "compile_time", kind="noisy", before=2.0, after=3.0)
    strange = series(good, bad, "requests")
    work = series(good, bad, "python_calls", kind="near_exact")
    first = series(None, bad, "compile_time", kind="noisy")
    saved(
        results, alert("a", time, work, series(good, bad)), alert("b", time), alert("d", first),
        alert("e", strange),
    )  # fmt: skip
    assert of_alert(results, "aaa") == Wanted("3.3.6", "1" * 40, WARM, "cache_misses")
    assert of_alert(results, "b") == Wanted("3.3.6", "1" * 40, WARM, "compile_time", 1.5)
    counts = series(good, bad, "instructions", kind="near_exact")
    saved(
        results, alert("f", counts, work, time), alert("9", time, counts), alert("d", first),
        alert("e", strange),
    )  # fmt: skip
    asked = [of_alert(results, name, counted).metric for name in "f9" for counted in (True, False)]
    assert asked == ["instructions", "python_calls", "instructions", "compile_time"]
    with pytest.raises(
        SelectionError, match="about requests, which the observatory does not measure"
    ):
        of_alert(results, "e")
    with pytest.raises(SelectionError, match="no alert with an id that begins with 'c'"):
        of_alert(results, "c")
    with pytest.raises(SelectionError, match="has no good subject before it"):
        of_alert(results, "d")
    more = series(at("3.3.6 pymc==6.4.0", "2" * 40), at("3.3.8 pymc==6.4.0", "3" * 40))
    saved(results, alert("a", more))
    assert of_alert(results, "a").good == "3.3.6 pymc==6.4.0"


def test_of_an_alert_a_cell_or_a_metric_may_be_chosen(searcher: Searcher) -> None:
    results, good, bad = searcher.session.results, at("3.3.6"), at("3.3.8")
    other = Cell("radon", "cold", "C", "fork")
    saved(results, alert(
        "a", series(good, bad), series(good, bad, "python_calls", kind="near_exact"),
        series(good, bad, benchmark=str(other)),
    ))  # fmt: skip
    assert wanted_named(results, ["a"], str(other), "").cell == other
    assert wanted_named(results, ["a"], "", "python_calls").metric == "python_calls"
    assert wanted_named(results, ["a"], str(WARM), "cache_misses").cell == WARM
    for cell, metric in ((str(other), "python_calls"), ("radon", ""), ("", "compile_time")):
        with pytest.raises(SelectionError, match=r"of alert a{10}, there is no series"):
            wanted_named(results, ["a"], cell, metric)


@pytest.mark.parametrize(
    ("beginning", "told"),
    [
        ("", "no alert with an id that begins with ''"),
        ("a", "more than one alert .* choose from a{10}, a{9}b$"),
        ("c", "no alert"),
    ],
)
def test_one_alert_must_be_named(searcher: Searcher, beginning: str, told: str) -> None:
    results, good, bad = searcher.session.results, at("3.3.6"), at("3.3.8")
    several = [alert("a", series(good, bad)), alert("b", series(good, bad))]
    other = several[0].model_copy(update={"id": "a" * 9 + "b", "state": "resolved"})
    several.append(other)
    saved(results, *several)
    with pytest.raises(SelectionError, match=told):
        wanted_named(results, [beginning], "", "")
    assert named_alert(results, "a" * 10).id == "a" * 10


SVD = Cell("ops", "census_cold", "NUMBA", "spawn")


def named(*graphs: str, id_: str = "a") -> Alert:
    """An alert of a census that names graphs."""
    found = series(at("3.3.6"), at("3.3.8"), "wrong_results", benchmark=str(SVD))
    return alert(id_, found).model_copy(
        update={"graphs": [GraphChange(name=one) for one in graphs]}
    )


def test_only_the_graphs_that_an_alert_names_are_built(searcher: Searcher) -> None:
    results, few = searcher.session.results, ("linalg.eig", "linalg.svd")
    saved(
        results, named(*few), named("linalg.eig", "gone.since", id_="b"),
        named(*MEMBERS["ops"], id_="c"), named(id_="d"),
    )  # fmt: skip
    found = of_alert(results, "a")
    assert (found.graphs, found.supposed) == (few, True)
    for other in "bcd":  # a graph that is gone, nearly all of them, none
        assert of_alert(results, other).graphs == ()
    assert wanted_named(results, ["a"], "", "", graphs=["linalg.ei*"]).graphs == tuple(
        one for one in MEMBERS["ops"] if one.startswith("linalg.ei")
    )
    ends = ["3.3.6", "3.3.8"]
    asked = wanted_named(results, ends, str(SVD), "wrong_results", graphs=["linalg.svd"])
    assert (asked.graphs, asked.supposed) == (("linalg.svd",), False)
    with pytest.raises(SelectionError, match=r"there is no graph 'linalg\.sdv'"):
        wanted_named(results, ends, str(SVD), "wrong_results", graphs=["linalg.sdv"])
    # What takes a tenth of the time comes first.
    assert cost(named(*few)) < cost(named(id_="d"))


def test_graphs_that_do_not_show_the_change_alone_are_not_the_end_of_the_search(
    searcher: Searcher, made: Searches
) -> None:
    made.culprit = lambda sought: None if sought.graphs else (0, 1)
    wanted = Wanted("3.3.6", "3.3.8", SVD, "wrong_results", graphs=("linalg.svd",))
    (found,) = searcher.search(replace(wanted, supposed=True))
    assert isinstance(found, Searched)
    assert [one.graphs for one in made.made] == [("linalg.svd",), ()]
    assert found.culprits
    # Who names them wants no others.
    (found,) = searcher.search(wanted)
    assert made.made[-1].graphs == ("linalg.svd",)
    assert isinstance(found, Searched)
    assert not found.culprits


def test_alerts_that_wait_are_searched_for_once_and_counts_first(
    searcher: Searcher, made: Searches, monkeypatch: pytest.MonkeyPatch
) -> None:
    results = searcher.session.results
    first = series(at("3.3.5"), at("3.3.6"), "python_calls", kind="near_exact")
    second = series(at("3.3.7"), at("3.3.8"))
    known = series(at("3.3.6"), at("3.3.7"))
    times = series(at("3.3.2"), at("3.3.3"), "compile_time", kind="noisy")
    saved(
        results, alert("a", first), alert("b", second, state="open"),
        alert("c", known, state="acknowledged"), alert("d", times),
    )  # fmt: skip
    made.culprit = lambda _: None
    monkeypatch.setattr(searching, "Prober", counting({}))
    for _ in range(2):
        list(search_open(searcher))
    # The records know a subject by its commit, and these alerts by its label.
    assert [(one.metric, one.subjects[0].label) for one in made.made[:3]] == [
        ("cache_misses", "3.3.7"), ("python_calls", "3.3.5"), ("compile_time", "3.3.2"),
    ]  # fmt: skip


def counting(of: Mapping[str, Mapping[str, float]]) -> type[Prober]:
    """A prober of work: by metric, what each subject has; all others have none."""

    class Counting(Prober):
        def recorded(self, subjects: Sequence[Subject]) -> dict[int, float | None]:
            del subjects
            return {}

        def value(self, subject: Subject, pins: Mapping[str, str] = NO_PINS) -> float | None:
            del pins
            self.samples += 3
            return of.get(self.metric.name, {}).get(subject.label)

    return Counting


@pytest.mark.parametrize(
    ("work", "ratio", "searched_for"),
    [
        ({"python_calls": (1000.0, 1200.0)}, 1.3, "python_calls"),
        ({"python_calls": (1000.0, 1000.0)}, 1.3, "compile_time"),
        ({"python_calls": (1000.0, 1003.0)}, 1.3, "compile_time"),
        ({"python_calls": (1000.0, 800.0)}, 1.3, "compile_time"),
        ({"python_calls": (1000.0, 1001.0), "instructions": (2e9, 3e9)}, 1.3, "instructions"),
        ({"python_calls": (1000.0, 1100.0)}, None, "python_calls"),
        ({"python_calls": (1000.0, 1005.0)}, None, "compile_time"),
    ],
    ids=["explains", "equal", "too little", "other direction", "instructions", "much", "little"],
)
def test_the_work_that_explains_a_time_is_searched_for_instead(
    work: Mapping[str, tuple[float, float]], ratio: float | None, searched_for: str,
    searcher: Searcher, made: Searches, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    own = {
        metric: dict(zip(("3.3.6", "3.3.7"), values, strict=True))
        for metric, values in work.items()
    }
    monkeypatch.setattr(searching, "Prober", counting(own))
    monkeypatch.setattr(counter, "find", lambda: counter.Counter("callgrind", ""))
    list(searcher.search(Wanted("3.3.6", "3.3.7", WARM, "compile_time", ratio)))
    (sought,) = made.made
    assert sought.metric == searched_for
    assert sought.instead_of == (None if searched_for == "compile_time" else "compile_time")
    assert sought.samples == 6 * (1 if searched_for == "python_calls" else 2)


def test_what_llvm_does_is_searched_for_only_where_it_compiles(
    searcher: Searcher, made: Searches, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = {"python_calls": {"3.3.6": 1000.0, "3.3.7": 1000.0},
           "llvm_pass_runs": {"3.3.6": 47_572.0, "3.3.7": 60_000.0}}  # fmt: skip
    monkeypatch.setattr(searching, "Prober", counting(own))
    monkeypatch.setattr(counter, "find", lambda: counter.Counter("", "none"))
    cold = Cell("radon", "cold", "NUMBA", "spawn")
    for cell in (cold, WARM):
        list(searcher.search(Wanted("3.3.6", "3.3.7", cell, "compile_time", 1.3)))
    assert [one.metric for one in made.made] == ["llvm_pass_runs", "compile_time"]


def test_a_search_whose_time_is_over_while_work_is_counted_ends_quietly(
    searcher: Searcher, made: Searches, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Late(counting({})):  # type: ignore[misc]
        def value(self, *_: object) -> None:
            raise OutOfTimeError

    monkeypatch.setattr(searching, "Prober", Late)
    assert not list(searcher.search(Wanted("3.3.6", "3.3.7", WARM, "compile_time")))
    assert not made.made


def test_a_search_for_the_work_of_a_time_is_one_for_the_alert_on_the_time(
    searcher: Searcher, made: Searches
) -> None:
    waiting = matching(searcher, "3.3.6", "3.3.7")
    (only,) = waiting.series
    of_time = waiting.model_copy(
        update={"series": [only.model_copy(update={"metric": "compile_time", "kind": "noisy"})]}
    )
    list(searcher.search(Wanted("3.3.6", "3.3.7", WARM, "python_calls")))
    (found,) = searches.readable(searcher.session.results)
    assert not found.is_of(of_time)
    assert found.model_copy(update={"instead_of": "compile_time"}).is_of(of_time)


def matching(searcher: Searcher, good: str, bad: str, id_: str = "a") -> Alert:
    """An alert on two releases whose commits are those of the subjects."""
    subjects = searcher.session.subjects.parse_all([good, bad], (), None)
    return alert(id_, series(*(at(one.label, one.commit) for one in subjects)))


@pytest.mark.parametrize("more", ["", " pymc==6.4.0"])
def test_an_alert_is_searched_for_when_its_search_is_over(
    searcher: Searcher, made: Searches, more: str
) -> None:
    results = searcher.session.results
    waiting = matching(searcher, f"3.3.6{more}", f"3.3.7{more}")
    saved(results, waiting)
    made.finished = False
    list(search_open(searcher))
    assert not searched(results, waiting, commits=False)
    made.finished = True
    list(search_open(searcher))
    assert searched(results, waiting, commits=False)
    assert not searched(results, waiting)  # its commits are not searched
    list(search_open(searcher))
    assert len(made.made) == 2


def test_two_alerts_on_one_change_are_one_search(searcher: Searcher, made: Searches) -> None:
    both = [matching(searcher, "3.3.6", "3.3.7", id_) for id_ in "ab"]
    saved(searcher.session.results, *both)
    list(search_open(searcher))
    assert len(made.made) == 1


def test_where_a_package_did_it_the_search_goes_on_for_which(
    searcher: Searcher, made: Searches
) -> None:
    results = searcher.session.results
    waiting = matching(searcher, "3.3.6", "3.3.7")
    saved(results, waiting)
    made.certainty, made.whole = "dependencies", False
    first, second = search_open(searcher)
    assert (first, isinstance(second, Crossed)) == (searches.readable(results)[0], True)
    (asked,) = made.crossed
    assert (asked.old.label, asked.new.label) == ("3.3.6", "3.3.7")
    assert (asked.cell, asked.metric) == (WARM, "cache_misses")
    assert known(results).of_change(waiting) == ([first], [second])
    assert not searched(results, waiting, commits=False)  # its time was over
    made.whole = True
    list(search_open(searcher))
    assert searched(results, waiting, commits=False)
    list(search_open(searcher))
    assert len(made.crossed) == 2


def test_packages_of_a_backend_are_not_searched_for(searcher: Searcher) -> None:
    """Their versions cannot be chosen, so that another package would be blamed."""
    cell = Cell("radon", "cold", "JAX_CACHED", "spawn")
    asked = Asked(subject("3.3.6"), subject("3.3.7"), cell, "cache_misses")
    with pytest.raises(SelectionError, match="JAX_CACHED adds jax to each environment"):
        cross(searcher.session, asked)
    due = [culprit(certainty="dependencies")]
    searched_for = (found_by_a_search(cell=one, culprits=due) for one in (cell, WARM))
    assert [len(of_packages(one)) for one in searched_for] == [0, 1]


@pytest.mark.parametrize("certainty", ["confirmed", "not reproduced"])
def test_no_package_is_searched_for_where_none_can_have_done_it(
    certainty: Certainty, searcher: Searcher, made: Searches
) -> None:
    made.certainty = certainty
    list(searcher.search(Wanted("3.3.6", "3.3.7", WARM, "cache_misses")))
    made.certainty = "dependencies"
    list(searcher.search(Wanted("3.3.6", "3.3.7", WARM, "files_leaked")))
    assert [asked.metric for asked in made.crossed] == ["files_leaked"]


def test_of_a_time_no_package_is_searched_for(
    searcher: Searcher, made: Searches, monkeypatch: pytest.MonkeyPatch
) -> None:
    made.certainty = "dependencies"
    monkeypatch.setattr(searching, "Prober", counting({}))
    list(searcher.search(Wanted("3.3.6", "3.3.7", WARM, "compile_time")))
    assert len(made.made) == 1
    assert made.crossed == []


def test_a_search_that_cannot_be_made_stops_no_other(searcher: Searcher, made: Searches) -> None:
    told: list[str] = []
    own = replace(searcher, session=replace(
        searcher.session, progress=lambda update: told.append(update.text)
    ))  # fmt: skip
    saved(own.session.results, *(matching(own, good, "3.3.8", id_)
                                 for good, id_ in (("3.3.6", "a"), ("3.3.7", "b"))))  # fmt: skip

    def fails(sought: Sought) -> tuple[int, int] | None:
        if len(sought.subjects) > 2:
            raise SubjectError("3.3.6 gave no cache_misses")
        return 0, 1

    made.culprit = fails
    assert len(list(search_open(own))) == 1
    assert any("alert aaaaaaaaaa: 3.3.6 gave no cache_misses" in line for line in told)


def test_no_search_begins_after_the_time_is_over(searcher: Searcher, made: Searches) -> None:
    late = replace(searcher, session=replace(searcher.session, deadline=0.0))
    saved(late.session.results, matching(late, "3.3.6", "3.3.7"))
    assert list(search_open(late)) == []
    assert made.made == []


def test_a_search_is_of_the_change_within_its_range_and_of_no_other(made: Searches) -> None:
    del made
    search = Searched(
        observatory="0.1", machine="bench", cell=WARM, metric="cache_misses", good=at("a"),
        bad=at("d"), subjects=4, probes=[], measured=0, taken_at=NOON, within=(at("x"), at("y")),
        culprits=[Culprit(before=at("b"), after=at("c"), low=0, high=1, certainty="confirmed")],
    )  # fmt: skip
    for ends in (("a", "d"), ("b", "c"), ("x", "y")):
        assert search.is_of(alert("a", series(*map(at, ends)))), ends
    assert not search.is_of(alert("a", series(at("a"), at("c"))))
    other = Cell("radon", "cold", "C", "fork")
    assert not search.is_of(alert("a", series(at("a"), at("d"), benchmark=str(other))))
    later = search.model_copy(update={"within": None, "taken_at": NOON + timedelta(days=1)})
    change = alert("a", series(at("a"), at("d")))
    assert searches.of_change([search, later], change) == [later, search]
