"""What the pages say, as view models: overview, alerts, caches, health, lists, history."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from urllib.parse import parse_qsl

import pandas as pd
import pytest

from observatory.analyze.history.level_changes import judge_series
from observatory.analyze.history.segments import segmented
from observatory.analyze.sentinel import looks
from observatory.benchmarks.catalogue import Cell
from observatory.dashboard.drawing.series import MOST_VALUES, picture, spark
from observatory.dashboard.pages.alert import alert_page
from observatory.dashboard.pages.alerts import alerts_page
from observatory.dashboard.pages.caches import caches_page, chosen, times_of
from observatory.dashboard.pages.cell_values import cell_values_of
from observatory.dashboard.pages.changes import latest_change, timeline
from observatory.dashboard.pages.health import health_page
from observatory.dashboard.pages.matrix import SHOWN_IN_CELLS
from observatory.dashboard.pages.next_steps import steps
from observatory.dashboard.pages.overview import Overview, overview
from observatory.dashboard.pages.series_list import list_pages
from observatory.dashboard.pages.summary import headline, newest
from observatory.dashboard.site import build
from observatory.dashboard.site_input import SiteInput
from observatory.store.journal.latest import Note
from observatory.store.reading.compiled import Function
from observatory.store.records.alerts import Acknowledgement, Alert, At, SeriesChange
from observatory.store.records.comparison import GraphChange
from observatory.store.records.found import Found
from observatory.store.records.searches import Probe
from observatory.store.records.triage import Triage
from observatory.text.alerts import MOST_RESOLVED, with_page
from observatory.text.forge import Forge
from observatory.text.words import SHOWN_METRICS
from tests import factories_frame as factory
from tests.factories_alerts import line, series, stepped
from tests.factories_crossings import crossed
from tests.factories_searches import culprit
from tests.factories_searches import found as found_by_a_search
from tests.factories_sentinels import night
from tests.factories_site import MEASURED, observed

pytestmark = pytest.mark.long

DISK = "radon warm_disk NUMBA fork"
FORGE = Forge(compare="https://x.org/c/", tag="https://x.org/t/", issues="https://x.org/new")


def at(found: SiteInput, label: str) -> At:
    one = next(s for s in found.lines[0].subjects if s.label == label)
    return At(label=one.label, commit=one.commit, date=one.date)


def alert(found: SiteInput, state: str = "open", **changes: object) -> Alert:
    one = found.lines[0]
    told = SeriesChange(
        machine=one.machine, env_name=one.env_name, benchmark=DISK, metric="cache_misses",
        unit="functions", kind="exact", before=0, after=35, now=35,
        last_good=at(found, "3.2.4"), first_bad=at(found, "3.3.0"), newest=at(found, "3.3.7"),
        holds=True,
    )  # fmt: skip
    fields: dict[str, object] = {
        "id": "0123456789", "kind": "refused", "sentence": "35 functions miss",
        "last_good": at(found, "3.2.4"), "first_bad": at(found, "3.3.0"), "between": 0,
        "series": [told], "state": state, "first_seen": MEASURED, "seen_with": MEASURED,
        "state_since": MEASURED,
    }  # fmt: skip
    return Alert(**(fields | changes))  # type: ignore[arg-type]


def with_alerts(*alerts: Alert, **changes: object) -> SiteInput:
    found = observed(factory.frame())
    record = found.alerts.model_copy(update={"alerts": list(alerts)})
    return observed(factory.frame(), alerts=record, **changes)


def subject_of(found: SiteInput):
    return newest(cell_values_of(found, SHOWN_IN_CELLS))


def shown(found: SiteInput) -> Overview:
    subject = subject_of(found)
    return overview(found, subject, headline(subject))


def test_the_overview_speaks_of_open_alerts_first() -> None:
    found = with_alerts(alert(observed(factory.frame())))
    view = shown(found)
    assert (view.state, view.status) == ("open", "Decide")
    assert view.sentence.startswith("Nothing new. PyTensor 3.3.7: ")
    assert view.sentence.endswith(" 1 older alert waits for a decision.")
    assert [one["link"] for one in view.alerts] == ["alerts/0123456789.html"]


def test_the_overview_says_that_all_is_well() -> None:
    found = observed(factory.frame())
    view = shown(found)
    assert (view.state, view.status) == ("good", "All well")
    names = ["scenario", "backend", "launch"]
    cells = len(factory.as_frame(factory.release_rows("3.3.7"))[names].drop_duplicates())
    assert [flag.text for flag in view.safety] == [
        f"no wrong results in {cells} cells", f"no crashes in {cells} cells",
    ]  # fmt: skip


def test_the_overview_says_how_many_cells_were_not_checked() -> None:
    frame = factory.frame()
    checked = (frame["subject"] == "3.3.7") & (frame["metric"] == "wrong_results")
    view = shown(observed(frame.drop(frame[checked].index[2:])))
    absent = int(checked.sum()) - 2
    assert view.safety[0] == (f"no wrong results in 2 cells; {absent} not checked", "", "")


def test_without_radon_the_caches_of_the_next_model_are_told() -> None:
    frame = factory.frame()
    view = shown(observed(frame.assign(model=frame["model"].replace("radon", "radon_pymc"))))
    assert {one.scenario for one in view.strips} == {"warm_disk", "warm_process"}
    assert view.rows


def test_a_cache_that_is_never_asked_is_not_said_to_hit() -> None:
    warm = [Cell("radon", "warm_disk", "NUMBA", launch) for launch in ("fork", "spawn")]
    compiled = [factory.row(one, "functions_compiled", 40) for one in warm]
    view = shown(observed(pd.concat([factory.frame(), factory.as_frame(compiled)])))
    assert "40 functions are compiled without a lookup in warm_disk NUMBA" in view.sentence
    (strip,) = [one for one in view.strips if (one.scenario, one.backend) == ("warm_disk", "NUMBA")]
    assert "40 compiled without a lookup" in str(strip)
    assert "0 missed" not in str(strip)


def test_where_nothing_was_judged_nothing_is_said_to_have_stayed_as_it_was() -> None:
    alone = observed(factory.as_frame(factory.release_rows("3.3.7")))
    assert (alone.alerts.judged, alone.alerts.compared) == (0, 0)
    assert shown(alone).changed == ""
    assert shown(observed(factory.frame())).changed == "3.3.7"


@pytest.mark.parametrize(
    ("kind", "status"), [("stale", "Stale"), ("failed run", "The last run failed")]
)
def test_stale_and_failed_runs_are_states_of_their_own(kind: str, status: str) -> None:
    base = observed(factory.frame())
    found = with_alerts(alert(base, kind=kind, series=[], last_good=None))
    assert shown(found).status == status


def test_of_sampling_alone_there_are_no_tiles() -> None:
    cells = [Cell("radon_pymc", "sampling_cold", "NUMBA", name) for name in ("fork", "spawn")]
    told = {"first_draw_time": 11.6, "wrong_results": 0.0}
    rows = [factory.row(cell, *each) for cell in cells for each in told.items()]
    assert shown(observed(factory.as_frame(rows))).rows == ()


def test_the_matrix_has_a_row_for_each_backend_and_launch() -> None:
    found = observed(factory.frame())
    view = shown(found)
    assert [(row.backend, row.launch) for row in view.rows] == [
        (backend, launch) for backend in ("C", "C_VM", "NUMBA") for launch in ("fork", "spawn")
    ]
    tile = view.rows[4].tiles[view.scenarios.index("warm_process")]
    assert tile is not None
    assert tile.value.endswith(" ms")
    assert tile.link.startswith("series.html#s=")
    assert tile.change is not None


def test_the_strip_counts_misses_apart_from_time() -> None:
    rows = [*factory.frame().to_dict("records")]
    for row in rows:
        if (row["subject"], row["metric"], row["backend"], row["launch"], row["scenario"]) == (
            "3.3.7", "cache_misses", "NUMBA", "spawn", "warm_disk",
        ):  # fmt: skip
            row["value"] = 35.0
    found = observed(factory.as_frame(rows))
    view = shown(found)
    strip = next(s for s in view.strips if (s.scenario, s.backend) == ("warm_disk", "NUMBA"))
    said = {launches: (flag.state, flag.text) for launches, flag, _ in strip.counts}
    assert said == {"fork": ("good", "0 missed"), "spawn": ("bad", "35 missed")}
    whole = next(s for s in view.strips if s.backend == "C")
    assert [launches for launches, *_ in whole.counts] == ["fork and spawn"]


def test_an_alert_says_how_to_see_it_again_and_how_to_find_the_commit() -> None:
    found = observed(factory.frame())
    (_, again), (_, cross), (_, bisect) = steps(alert(found))
    assert again == (
        "observatory compare 3.2.4 3.3.0 --scenario warm_disk --backend NUMBA --launch fork "
        "--budget 1h --pass counting"
    )
    cell = '--cell "radon warm_disk NUMBA fork" --metric cache_misses'
    assert cross == f"observatory cross 3.2.4 3.3.0 {cell}"
    assert bisect == (
        'observatory bisect 3.2.4 3.3.0 --cell "radon warm_disk NUMBA fork" --metric cache_misses '
        "--repo ../pytensor"
    )


def test_the_quickest_series_to_measure_is_searched_for_and_a_time_is_not_crossed() -> None:
    found = observed(factory.frame())
    (one,) = alert(found).series
    times = one.model_copy(update={"metric": "compile_time", "kind": "noisy"})
    lost = one.model_copy(update={"metric": "reuse_lost"})
    (_, _, (_, bisect)) = steps(alert(found, series=[times, lost]))
    assert "--metric reuse_lost --repo" in bisect
    (_, (why, bisect)) = steps(alert(found, series=[times]))
    assert "--metric compile_time --repo" in bisect
    assert "in the directory that holds results/" in why
    strange = one.model_copy(update={"metric": "requests"})
    assert len(list(steps(alert(found, series=[strange])))) == 1


@pytest.mark.parametrize(
    ("metrics", "passes"),
    [
        (["compile_time"], ""),
        (["cache_misses", "compile_time"], "--budget 1h --pass counting"),  # not judged itself
        (["reuse_lost"], "--budget 1h --pass counting"),
        (["python_calls"], "--budget 1h --pass tracing"),
        (["python_calls in local_expm1"], "--budget 1h --pass tracing"),
        (["llvm_pass_runs of ADCEPass"], "--budget 1h --pass tracing"),
        (["wrong_results"], ""),
        (["cache_misses", "crashed"], ""),
    ],
)
def test_an_alert_is_seen_again_with_the_passes_that_tell_it(
    metrics: list[str], passes: str
) -> None:
    found = observed(factory.frame())
    series = [
        alert(found).series[0].model_copy(
            update={"metric": name, "kind": "noisy" if name == "compile_time" else "exact"}
        )
        for name in metrics
    ]  # fmt: skip
    (_, again), *_ = steps(alert(found, series=series))
    assert again.partition("--launch fork")[2].strip() == passes


def test_of_hostile_labels_no_command_is_made() -> None:
    found = observed(factory.frame())
    evil = at(found, "3.3.0").model_copy(update={"label": "3.3.0; rm -rf ~", "commit": "$(id)"})
    assert list(steps(alert(found, first_bad=evil))) == []
    told = alert(found).series[0].model_copy(update={"benchmark": "radon warm_disk $(id) fork"})
    assert list(steps(alert(found, series=[told]))) == []


def test_between_two_commits_next_to_each_other_nothing_is_searched() -> None:
    found = observed(factory.frame())
    one, two = (as_commit(at(found, label)) for label in ("3.2.4", "3.3.0"))
    ((_, only),) = steps(alert(found, last_good=one, first_bad=two))
    assert only.startswith(f"observatory compare --repo . {one.label} {two.label} ")


def as_commit(place: At, more: str = "") -> At:
    return place.model_copy(update={"label": f"{place.commit[:12]} {more}".rstrip()})


def test_releases_with_further_packages_are_named_by_their_labels() -> None:
    found = observed(factory.frame())
    one, two = (
        at(found, label).model_copy(update={"label": f"{label} numba==0.66.0"})
        for label in ("3.2.4", "3.3.0")
    )
    ends = "'3.2.4 numba==0.66.0' '3.3.0 numba==0.66.0'"
    commands = [command for _, command in steps(alert(found, last_good=one, first_bad=two))]
    assert [one.partition(" --")[0] for one in commands] == [
        f"observatory compare {ends}", f"observatory cross {ends}", f"observatory bisect {ends}",
    ]  # fmt: skip


def test_between_a_release_and_a_commit_the_clone_has_a_tag_and_a_hash() -> None:
    found = observed(factory.frame())
    one, two = at(found, "3.2.4"), as_commit(at(found, "3.3.0"))
    commands = [command for _, command in steps(alert(found, last_good=one, first_bad=two))]
    assert [one.partition(" --scenario")[0].partition(" --cell")[0] for one in commands] == [
        f"observatory compare --repo . rel-3.2.4 {two.label}",
        f"observatory bisect rel-3.2.4 {two.label}",
    ]


def test_commits_keep_their_packages_and_what_no_clone_has_makes_no_command() -> None:
    found = observed(factory.frame())
    old, new = at(found, "3.2.4"), at(found, "3.3.0")
    one, two = (as_commit(each, "numba==0.66.0") for each in (old, new))
    ((_, only),) = steps(alert(found, last_good=one, first_bad=two))
    assert f"{two.commit[:12]} --with numba==0.66.0 --scenario" in only
    wheel = old.model_copy(update={"label": "3.2.4+whl.0a1b2c3d"})
    for good in (wheel, as_commit(old, "numba==0.67.0"), as_commit(old, "$(id)")):
        assert list(steps(alert(found, last_good=good, first_bad=two))) == []


def test_an_alert_has_pictures_of_its_series_with_its_beginning() -> None:
    base = observed(factory.frame())
    found = with_alerts(alert(base))
    page = alert_page(found, found.alerts.alerts[0], FORGE)
    (drawn,) = page["pictures"]
    assert drawn.title == f"{DISK} cache_misses"
    assert drawn.bad is not None
    assert drawn.left < drawn.bad[0] < drawn.bad[1] == drawn.right
    assert [address for _, address in page["links"]][1] == "https://x.org/c/rel-3.2.4...rel-3.3.0"
    over = alert(base, "resolved", resolved_by=at(base, "3.3.4"))
    page = alert_page(with_alerts(over), over, Forge())
    assert page["pictures"][0].bad[1] < drawn.right


@pytest.mark.parametrize(
    ("notes", "columns"), [(("", ""), ("graph",)), (("", "no key"), ("graph", "what it says"))]
)
def test_graphs_of_an_alert_have_a_column_for_what_is_said_only_if_something_is(
    notes: tuple[str, ...], columns: tuple[str, ...]
) -> None:
    base = observed(factory.frame())
    graphs = [GraphChange(name=f"g{number}", note=note) for number, note in enumerate(notes)]
    table = alert_page(base, alert(base, graphs=graphs), FORGE)["graphs"]
    assert table.header == columns
    assert {len(row) for row in table.rows} == {len(columns)}


def test_an_alert_shows_what_a_search_found_with_a_dot_for_each_subject(tmp_path: Path) -> None:
    base = observed(factory.frame())
    told = alert(base)
    good, middle, bad = (at(base, label) for label in ("3.2.4", "3.2.4", "3.3.0"))
    probes = [Probe(at=good, value=0), Probe(at=middle, value=None), Probe(at=bad, value=35)]
    one = culprit(before=good, after=bad, high=35.0)
    search = found_by_a_search(
        cell=Cell(*DISK.split()), good=good, bad=bad, probes=probes, culprits=[one], subjects=9
    )
    forge = replace(FORGE, commit="https://x.org/commit/")
    page = alert_page(with_alerts(told, found=Found([search])), told, forge)
    (view,) = page["searches"]
    (shown_culprit,) = view["culprits"]
    build(with_alerts(told, found=Found([search])), tmp_path, forge)
    text = (tmp_path / "alerts" / f"{told.id}.html").read_text("utf-8")
    assert "What a search found" in text
    assert f'<a href="https://x.org/commit/{"a" * 40}">' in text
    assert shown_culprit.change == "3.2.4 → 3.3.0: 0 → 35, confirmed"
    assert shown_culprit.sure
    assert shown_culprit.commits[0].link == f"https://x.org/commit/{'a' * 40}"
    assert shown_culprit.beside == ["Keys differ."]
    assert [(dot.value, dot.level) for dot in view["dots"]] == [
        ("0", 0), ("no value", None), ("35", 1),
    ]  # fmt: skip
    assert view["untried"] == 6
    assert page["named"]
    listed = alerts_page(with_alerts(told, found=Found([search])))["groups"]
    assert [one["culprit"] for _, own in listed for one in own] == [
        "aaaaaaaaaaaa by Ada, confirmed"
    ]
    assert alert_page(with_alerts(told), told, FORGE)["searches"] == []


def test_an_alert_shows_which_package_made_it() -> None:
    base = observed(factory.frame())
    told = alert(base)
    own = {"good": at(base, "3.2.4"), "bad": at(base, "3.3.0"), "cell": Cell(*DISK.split())}
    found = with_alerts(told, found=Found((), [crossed(**own), crossed(metric="files", **own)]))
    (view,) = alert_page(found, told, FORGE)["crossings"]
    sentences = [block["sentence"] for block in view["blocks"] if "sentence" in block]
    assert sentences[1].startswith("numba did it: if only it is new, the value is 4")
    (table,) = (block for block in view["blocks"] if "rows" in block)
    assert table["rows"][1:3] == [["PyTensor", "0"], ["numba", "4"]]
    listed = alerts_page(found)["groups"]
    assert [one["culprit"] for _, own in listed for one in own] == ["numba 0.66.0 → 0.68.0"]


def test_an_alert_about_times_of_a_night_in_which_the_machine_moved_says_so() -> None:
    base = observed(factory.frame())
    machine = base.lines[0].machine
    times = alert(base).series[0].model_copy(update={"metric": "compile_time", "kind": "noisy"})
    told = alert(base, series=[times])
    nights = [night(n, machine=machine) for n in range(8)]
    nights.append(night(8, 1.3, 1.3, 1.3, machine=machine))
    when = {("3.3.0", machine): nights[-1].taken_at + timedelta(hours=2)}
    found = with_alerts(told, looks=looks(nights), measured_at=when)
    said = alert_page(found, told, FORGE)["machine"]
    assert said.startswith("The machine is slower (+30 %): 3 of 3 pieces of fixed work changed")
    assert alert_page(found, alert(base), FORGE)["machine"] == ""  # counts are nobody's machine
    early = {("3.3.0", machine): nights[-2].taken_at}
    calm = with_alerts(told, looks=looks(nights), measured_at=early)
    assert alert_page(calm, told, FORGE)["machine"] == ""
    (table,) = health_page(found, subject_of(found))["nights"]
    assert table.rows[0][0] == f"{nights[-1].taken_at:%Y-%m-%d %H:%M}"
    assert table.rows[0][1:4] == ("+30 %",) * 3


def test_a_withdrawn_alert_says_nothing_of_today_and_links_to_the_alert_it_is_part_of() -> None:
    base = observed(factory.frame())
    live = alert(base, id="c" * 10)
    gone = alert(
        base, "resolved", between=4, resolution=f"it is now part of alert {live.id}",
        notes=[],
    )  # fmt: skip
    page = alert_page(with_alerts(live, gone), gone, FORGE)
    assert "not measured" not in page["span"]
    assert page["gap"] == 0
    assert [(row.newest, row.holds) for row in page["rows"]] == [("-", "")]
    assert page["resolution"][0] == ("It", "")
    assert page["resolution"][-1] == (live.id, f"alerts/{live.id}.html")
    assert page["decisions"] == []


def test_every_row_of_an_alert_links_to_its_chart_or_to_the_ledgers() -> None:
    base = observed(factory.frame())
    told = alert(base).series[0]
    lost = told.model_copy(update={"metric": "reuse_lost"})
    one = alert(base, series=[told, lost])
    chart, ledgers = alert_page(with_alerts(one), one, FORGE)["rows"]
    assert chart.link.startswith("series.html#s=")
    assert ledgers.link.startswith("compare.html#a=")
    assert ledgers.link.endswith("&cell=radon+warm_disk+NUMBA+fork")


def test_an_open_alert_asks_for_a_decision_and_says_how() -> None:
    one = alert(observed(factory.frame()))
    forge = replace(FORGE, triage="https://x.org/add/triage")
    expected, bug, noise = alert_page(with_alerts(one), one, forge)["decisions"]
    assert [expected.name, bug.name, noise.name] == ["expected", "bug", "noise"]
    for each in (expected, bug, noise):
        (read,) = Triage.model_validate(tomllib.loads(each.text)).acknowledged
        assert (read.id, read.until > MEASURED) == (one.id, True)
        assert each.command.startswith(f"observatory ack {one.id} ")
    assert bug.link.startswith("https://x.org/new?title=The+cache+refuses+functions%2C+since+3.3.0")
    address, _, query = expected.link.partition("?")
    assert (address, dict(parse_qsl(query))) == (
        forge.triage, {"filename": f"{one.id}-expected.toml", "value": expected.text},
    )  # fmt: skip
    without = alert_page(with_alerts(one), one, FORGE)["decisions"]
    assert [each.button for each in without] == ["", "Open an issue", ""]


def test_a_resolved_alert_is_listed_with_what_became_of_it() -> None:
    base = observed(factory.frame())
    gone = alert(base, "resolved", resolution="withdrawn: no change is seen there any more")
    (row,) = [row for _, own in alerts_page(with_alerts(gone))["groups"] for row in own]
    assert row["resolution"] == "withdrawn: no change is seen there any more"


def test_a_decision_of_the_page_is_later_than_the_one_that_it_replaces() -> None:
    """Somebody may have acknowledged the alert after the newest sample."""
    later = MEASURED + timedelta(days=9)
    given = Acknowledgement(
        id="0123456789", who="Ada", why="known", at=later, until=later + timedelta(days=1)
    )
    one = alert(observed(factory.frame()), "acknowledged", acknowledged=given)
    for each in alert_page(with_alerts(one), one, FORGE)["decisions"]:
        (read,) = Triage.model_validate(tomllib.loads(each.text)).acknowledged
        assert read.at > given.at


def test_of_many_resolved_alerts_the_newest_have_pages() -> None:
    base = observed(factory.frame())
    many = [alert(base, "resolved", id=f"{n:010x}") for n in range(MOST_RESOLVED + 9)]
    live = alert(base, id="f" * 10)
    assert with_page(with_alerts(live, *many).alerts) == [live, *many[:MOST_RESOLVED]]


def functions(found: SiteInput, *cells: str) -> dict[tuple[str, str, str], object]:
    one, line_ = found.lines[0].subjects[-1], found.lines[0]
    made = [Function("Add", "hit", 3, 0.5, 100), Function("Mul", "miss", 1, 0.25, 0)]
    return {(line_.machine, line_.env_name, one.commit): dict.fromkeys(cells, made)}


def test_cells_that_did_the_same_are_told_together() -> None:
    base = observed(factory.frame())
    cells = ("radon cold NUMBA fork", "radon cold NUMBA spawn", "radon cold C fork")
    found = observed(factory.frame(), functions=functions(base, *cells))
    (spot,) = chosen(found)
    page = caches_page(found, spot, times_of(found)[spot])
    ((scenario, _, kept),) = page["scenarios"]
    assert scenario == "cold"
    assert [one.title for one in kept] == ["C under fork", "NUMBA under fork and spawn"]
    assert kept[0].counts == (("hit", "3"), ("miss", "1"))
    assert kept[0].bar == (("hit", 75.0), ("miss", 25.0))
    assert "4 functions, 750 ms, 100 B" in kept[0].summary


@pytest.mark.parametrize(
    ("cold", "warm", "without", "said"),
    [
        (4.0, 0.5, None, "from build 2 on; each saves 3.50 s of a cold build"),
        (4.0, 0.5, 3.0, "from build 2 on; each saves 2.50 s"),
        (9.0, 0.5, 3.0, "from build 4 on; each saves 2.50 s"),
        (4.0, 3.5, 3.0, "never: a warm build takes as long as one without a cache"),
    ],
)
def test_after_how_many_builds_a_cache_has_paid(
    cold: float, warm: float, without: float | None, said: str
) -> None:
    times = {
        Cell("radon", "cold", "NUMBA", "fork"): cold,
        Cell("radon", "warm_process", "NUMBA", "fork"): warm,
    }
    if without is not None:
        times[Cell("radon", "warm_process", "NUMBA_NO_CACHE", "fork")] = without
    base = observed(factory.frame())
    found = observed(factory.frame(), functions=functions(base, "radon cold NUMBA fork"))
    (spot,) = chosen(found)
    ((*_, shown),) = caches_page(found, spot, times)["paybacks"]
    assert shown == said


def test_health_names_what_failed_and_what_is_missing() -> None:
    cell = Cell("radon", "cold", "C", "fork")
    notes = [Note("3.3.7", cell, "failed", "killed by SIGKILL"),
             Note("3.3.7", cell, "absent", "Python is too old", metric="python_calls"),
             Note("3.3.7", cell, "absent", "its times are left out", measure="timing"),
             Note("3.0.0", cell, "failed", "long ago")]  # fmt: skip
    elsewhere = [Note("3.3.7", cell, "failed", "another machine's")]
    found = observed(factory.frame(), notes={("bench-2c", "py3.12"): notes, ("m", "e"): elsewhere})
    page = health_page(found, subject_of(found))
    assert page["notes"] == [
        ("Samples that failed", [("cold C fork", "killed by SIGKILL")]),
        (
            "Metrics without a value",
            [
                ("cold C fork", "no python_calls: Python is too old"),
                ("cold C fork", "its times are left out"),
            ],
        ),
    ]


def test_every_series_is_on_one_list() -> None:
    found = observed(factory.frame())
    pages = list(list_pages(found))
    places = [place for page in pages for _, own in page.groups for place in own]
    assert places == list(range(len(found.ids)))
    assert [page.of for page in pages] == [len(pages)] * len(pages)


def test_the_history_tells_the_newest_first_and_no_stale_runs() -> None:
    base = observed(factory.frame())
    stale = alert(base, kind="stale", series=[], last_good=None, id="a" * 10)
    found = with_alerts(alert(base), stale)
    told = timeline(found.alerts, frozenset({"0123456789"}))["chapters"]
    dates = [date for _, date, *_ in told]
    assert dates == sorted(dates, reverse=True)
    events = [(label, state, link) for label, _, own, _ in told for _, state, _, link in own]
    worse = [event for event in events if event[1]]
    assert worse == [("3.3.0", "open", "alerts/0123456789.html")]
    assert len(worse) < len(events)


def test_the_history_does_not_tell_what_the_results_show_no_longer() -> None:
    base = observed(factory.frame())
    withdrawn = alert(base, "resolved", id="c" * 10, resolution="withdrawn")
    over = alert(base, "resolved", id="d" * 10, resolved_by=alert(base).first_bad)
    found = with_alerts(withdrawn, over)
    told = timeline(found.alerts, frozenset({"c" * 10, "d" * 10}))["chapters"]
    links = {link for *_, own, _ in told for *_, link in own if link}
    assert links == {f"alerts/{'d' * 10}.html"}


def test_a_picture_of_a_long_series_shows_its_newest_values() -> None:
    values = stepped(400, 350, 2.0)
    (track,) = segmented([series(line(400), values)])
    found = SiteInput([track], (), observed(factory.as_frame([])).alerts, "0.1")
    drawn = picture(found, 0)
    assert (len(drawn.points), drawn.count) == (MOST_VALUES, 400)
    assert drawn.points[-1].x < drawn.right
    assert len(drawn.levels) == 2
    assert drawn.table.rows[0][0] == "n399"


def test_a_spark_has_a_mark_where_the_level_changes() -> None:
    (flat,) = segmented([series(line(60), stepped(60))])
    (step,) = segmented([series(line(60), stepped(60, 30, 2.0))])
    (one,) = segmented([series(line(1), stepped(1))])
    assert spark(one) is None
    assert spark(flat).steps == ()
    (place,) = spark(step).steps
    assert place == pytest.approx(spark(step).width / 2, abs=2)


def test_what_is_wrong_and_has_an_alert_is_known() -> None:
    rows = [
        row | {"value": 3.0} if row["metric"] == "wrong_results" and row["subject"] == "3.3.7"
        and row["scenario"] == "warm_disk" and row["backend"] == "NUMBA" else row
        for row in factory.frame().to_dict("records")
    ]  # fmt: skip
    base = observed(factory.as_frame(rows))
    told = alert(base).series[0].model_copy(update={"metric": "wrong_results"})
    cells = ("radon warm_disk NUMBA fork", "radon warm_disk NUMBA spawn")
    one = alert(base, "acknowledged", kind="wrong results",
                series=[told.model_copy(update={"benchmark": cell}) for cell in cells])  # fmt: skip
    record = base.alerts.model_copy(update={"alerts": [one]})
    view = shown(observed(factory.as_frame(rows), alerts=record))
    assert view.state == "good"
    assert "known wrong results in 2 cells; " in view.sentence


def test_a_new_machine_sees_its_own_values_beside_the_recorded_history() -> None:
    own = factory.as_frame(factory.release_rows("3.3.7", machine="laptop"))
    found = observed(pd.concat([factory.frame(), own]), machine="laptop")
    subject = newest(cell_values_of(found, frozenset(SHOWN_METRICS)), "laptop")
    assert subject is not None
    assert subject.setting.machine == "laptop"
    view = overview(found, subject, headline(subject))
    assert view.of_machines == 2
    tiles = [tile for row in view.rows for tile in row.tiles if tile is not None]
    assert tiles
    for tile in tiles:
        assert tile.change is not None
        assert tile.change.words.startswith("first here; ")
        assert tile.change.words.endswith(" on bench-2c")
        assert tile.spark is not None
        assert tile.link.count("s=") == 2


def test_what_is_wrong_since_the_first_subject_is_not_called_well() -> None:
    rows = [
        row | {"value": 3.0} if row["metric"] == "wrong_results" else row
        for row in factory.frame().to_dict("records")
    ]
    view = shown(observed(factory.as_frame(rows)))
    assert (view.state, view.status) == ("bad", "Wrong")
    assert "Nothing is wrong" not in view.sentence


def test_an_alert_of_another_environment_is_not_told_of_this_one() -> None:
    frame = factory.frame()
    later = frame.assign(python="3.13", date=frame["date"] + timedelta(days=400))
    base = observed(pd.concat([frame, later]))
    old, new = base.lines
    assert (old.era.python, new.era.python) == ("3.12", "3.13")
    one = alert(base)
    told = one.series[0].model_copy(update={"env_name": new.env_name})
    record = base.alerts.model_copy(
        update={"alerts": [one, one.model_copy(update={"id": "d" * 10, "series": [told]})]}
    )
    found = observed(pd.concat([frame, later]), alerts=record)
    tracks = [t for t in found.tracks if t.series.benchmark == DISK
              and t.series.place.metric == "cache_misses"]  # fmt: skip
    ids = [[one.id for one, _ in found.verdicts_on(track).alerts] for track in tracks]
    assert ids == [["0123456789"], []]


def test_stale_environments_do_not_hide_what_got_worse() -> None:
    base = observed(factory.frame())
    late = [alert(base, kind="stale", series=[], last_good=None, id=f"{n:010x}") for n in range(9)]
    view = shown(with_alerts(*late, alert(base)))
    assert [one["link"] for one in view.alerts] == ["alerts/0123456789.html"]
    assert view.stale == 9


def test_results_without_journals_are_not_said_to_be_without_failures() -> None:
    found = observed(factory.frame(), measured_at={})
    assert not health_page(found, subject_of(found))["has_journals"]
    assert not shown(found).recorded


def test_the_newest_subject_is_set_against_the_one_before() -> None:
    rows = factory.frame().to_dict("records")
    for row in rows:
        if (row["subject"], row["metric"], row["scenario"], row["backend"]) == (
            "3.3.7", "cache_misses", "warm_disk", "NUMBA",
        ):  # fmt: skip
            row["value"] = 35.0
    title, changed, _ = latest_change(observed(factory.as_frame(rows)))
    assert title == "3.3.7 against 3.3.4: 2 differ"
    assert {(cell, words) for cell, *_, words in changed} == {
        (f"radon warm_disk NUMBA {launch}", "0 \N{RIGHTWARDS ARROW} 35")
        for launch in ("fork", "spawn")
    }
    title, *_ = latest_change(observed(factory.frame()))
    assert title == "3.3.7 against 3.3.4: no count or level differs"
    assert latest_change(observed(factory.as_frame([]))) == ("", [], None)


def test_a_picture_shows_where_a_long_series_changed() -> None:
    values = stepped(400, 150, 2.0)
    (track,) = segmented([series(line(400), values)])
    found = SiteInput([track], (),
                     observed(factory.as_frame([])).alerts, "0.1")  # fmt: skip
    (moved,) = judge_series([track]).moved
    drawn = picture(found, 0, moved.change)
    assert drawn.bad is not None
    assert drawn.left < drawn.bad[0] < drawn.right
    assert len(drawn.points) == MOST_VALUES
