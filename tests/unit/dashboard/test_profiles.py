"""Pages with flame graphs: of alerts and of the newest subjects, and links to them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from observatory.app.observed import site_data
from observatory.app.profiles import profile
from observatory.benchmarks.catalogue import Cell
from observatory.dashboard.pages import profiles
from observatory.dashboard.pages.profiles import ProfileOfAlert, ProfilePages
from observatory.dashboard.site import build
from observatory.errors import SelectionError
from observatory.store.asv.files import project
from observatory.store.records.alerts import At
from observatory.store.records.profile import Phase, Profile
from observatory.store.records.sample import Sample
from tests.factories import NOON, WARM, header, journal, ledger, sample, traced

PAGE = "profiles/0-0--0-1-radon-warm_disk-NUMBA-fork.html"


def measured(results: Path, label: str, day: int, *more: Sample, misses: int | None = None) -> None:
    missed = {"cache_misses": 35 * day if misses is None else misses}
    found = [
        sample(WARM, "counting", missed, ledger=ledger("Add"),
               started_at=NOON + timedelta(days=day)), *more,
    ]  # fmt: skip
    under = header(label, commit=f"{day:x}" * 40, date=NOON + timedelta(days=day))
    project(results, journal(results, found, under=under).read())


def site(results: Path) -> Path:
    return build(site_data([results])[0], results / "html").parent


def test_an_alert_and_the_comparison_lead_to_the_flame_graph(tmp_path: Path) -> None:
    measured(tmp_path, "3.3.6", 0, traced(100))
    measured(tmp_path, "3.3.7", 1, traced(150))
    html = site(tmp_path)
    (alert,) = html.glob("alerts/*.html")
    text = alert.read_text("utf-8")
    assert f'href="../{PAGE}"' in text
    assert "<code>f</code> was entered 100 times, now 150" in text
    assert f'href="{PAGE}"' in (html / "compare.html").read_text("utf-8")
    data = (html / "data/profiles.js").read_text("utf-8")
    assert json.loads(data[data.index("{") : data.rindex("}") + 1]) == {
        "pages": {"0-0 0-1": [str(WARM), PAGE]},
        "cells": [str(WARM)],
        "of": {"0-0": [0], "0-1": [0]},
    }
    page = (html / PAGE).read_text("utf-8")
    assert "compare.html#a=0-0&amp;b=0-1" in page
    assert "<code>f</code> was entered 100 times" in page
    assert page.count('<figure class="flame"') == 1


def test_a_subject_whose_profiles_have_seconds_alone_is_not_listed(tmp_path: Path) -> None:
    """Compaction removes them, and the command would find nothing then."""
    seconds = Profile(phases=[Phase(name="rewriting", entries=1, seconds=0.5)])
    for day, label in enumerate(("3.3.6", "3.3.7")):
        measured(tmp_path, label, day, sample(metrics={"compile_time": 1.0}, profile=seconds))
    data = (site(tmp_path) / "data/profiles.js").read_text("utf-8")
    found = json.loads(data[data.index("{") : data.rindex("}") + 1])
    assert found["pages"]
    assert (found["cells"], found["of"]) == ([], {"0-0": [], "0-1": []})


def test_without_profiles_of_both_there_is_no_page_and_no_link(tmp_path: Path) -> None:
    measured(tmp_path, "3.3.6", 0)
    measured(tmp_path, "3.3.7", 1, traced(150))
    html = site(tmp_path)
    assert not (html / "profiles").exists()
    (alert,) = html.glob("alerts/*.html")
    assert (
        '<p class="quiet">There is no flame graph: no build of 3.3.6 with NUMBA was traced.</p>'
        in alert.read_text("utf-8")
    )
    assert "flame" not in (html / "compare.html").read_text("utf-8")


def test_names_in_the_sentence_of_an_alert_are_code(tmp_path: Path) -> None:
    for day, calls in enumerate((1000, 1500)):
        when = NOON + timedelta(days=day)
        under = header(f"3.3.{6 + day}", commit=f"{day}" * 40, date=when)
        project(tmp_path, journal(tmp_path, [traced(calls)], under=under).read())
    (alert,) = site(tmp_path).glob("alerts/*.html")
    text = alert.read_text("utf-8").partition("<main")[2]
    assert "More work, since 3.3.7" in text
    assert "(1,000 → 1,500); <code>f</code> was entered 1,000 times, now 1,500" in text


def pages_of(results: Path, *sides: Mapping[Cell, int], **changes: Any) -> ProfilePages:
    """Pages of subjects that traced these cells; the newest one begins an alert about misses."""
    for day, calls in enumerate(sides):
        last = day == len(sides) - 1
        measured(results, f"3.3.{day}", day, *(traced(n, cell) for cell, n in calls.items()),
                 misses=35 * last)  # fmt: skip
    observed, problems = site_data([results])
    assert problems == []
    (one,) = [
        each for each in observed.alerts.alerts if each.series[:1]
        and each.series[0].metric == "cache_misses"
    ]  # fmt: skip
    changed = observed.alerts.model_copy(update={"alerts": [one.model_copy(update=changes)]})
    return ProfilePages(replace(observed, alerts=changed))


def shown(pages: ProfilePages) -> ProfileOfAlert | None:
    return next(iter(pages.of_alerts.values()), None)


SPAWN, PROCESS = (Cell("radon", name, "NUMBA", "spawn") for name in ("warm_disk", "warm_process"))
C, CALL = Cell("radon", "warm_disk", "C_VM", "fork"), Cell("radon", "call", "NUMBA", "fork")


def test_an_alert_whose_cells_have_no_profile_shows_a_build_with_the_same_backend(
    tmp_path: Path,
) -> None:
    """Of those builds the one that changed most, and no calls and no other backend."""
    before = {SPAWN: 1000, PROCESS: 1000, C: 1000, CALL: 1000}
    pages = pages_of(tmp_path, before, {SPAWN: 1001, PROCESS: 1002, C: 1500, CALL: 1500})
    found = shown(pages)
    assert found is not None
    assert found.page is not None
    assert found.page.cell == PROCESS
    assert found.note == (
        "The cells of this alert have no profile. This is the build with the same backend that "
        "changed most."
    )
    html = site(tmp_path)
    (text,) = [
        text for path in html.glob("alerts/*.html")
        if found.note in (text := path.read_text("utf-8"))
    ]  # fmt: skip
    assert f'href="../{found.page.path}"' in text
    assert (html / found.page.path).exists()


def test_the_cell_of_an_alert_comes_before_one_that_changed_more(tmp_path: Path) -> None:
    found = shown(pages_of(tmp_path, {WARM: 1000, SPAWN: 1000}, {WARM: 1001, SPAWN: 1500}))
    assert found is not None
    assert found.page is not None
    assert (found.page.cell, found.note) == (WARM, "")


GONE = At(label="3.2.4", commit="e" * 40, date=NOON)


@pytest.mark.parametrize(
    ("sides", "changes", "why"),
    [
        (({}, {}), {}, "no build of 3.3.0 or 3.3.1 with NUMBA was traced"),
        (({WARM: 1}, {C: 1}), {}, "no build of 3.3.1 with NUMBA was traced"),
        (({CALL: 1}, {WARM: 1}), {}, "no build of 3.3.0 with NUMBA was traced"),
        (({SPAWN: 1}, {WARM: 1}), {}, "no build with NUMBA has a profile in both subjects"),
        (({}, {}), {"series": []}, "this alert is not about a build"),
        (
            ({}, {}),
            {"last_good": None},
            "no earlier subject was good, so there are no two builds to compare",
        ),
        (({}, {}), {"last_good": GONE}, "one of 3.2.4 and 3.3.1 is no longer in these results"),
    ],
)
def test_an_alert_without_a_flame_graph_says_why(
    tmp_path: Path, sides: Sequence[Mapping[Cell, int]], changes: Mapping[str, Any], why: str
) -> None:
    found = shown(pages_of(tmp_path, *sides, **changes))
    assert found == ProfileOfAlert(None, f"There is no flame graph: {why}.")


def test_nothing_is_said_of_flame_graphs_where_a_run_failed_or_there_are_too_many(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sides = {WARM: 1000}, {WARM: 1500}
    assert shown(pages_of(tmp_path / "a", *sides, kind="failed run", series=[])) is None
    assert shown(pages_of(tmp_path / "b", *sides)) is not None
    monkeypatch.setattr(profiles, "_MOST", 0)
    assert shown(pages_of(tmp_path / "c", *sides)) is None


def test_every_subject_is_shown_against_the_one_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    subjects = 14
    pages = pages_of(tmp_path / "a", *({WARM: 1000 + n} for n in range(subjects)))
    wanted = [((0, n), (0, n + 1)) for n in range(subjects - 1)]
    assert sorted(pages.of_pairs) == wanted
    monkeypatch.setattr(profiles, "_NEWEST", 3)
    assert sorted(pages_of(tmp_path / "b", *[{WARM: 1}] * 6).of_pairs) == wanted[2:5]


def test_the_command_for_a_flame_graph_is_shown_for_the_pairs_for_which_it_works(
    tmp_path: Path,
) -> None:
    sides = [{WARM: 1000, C: 3}, {SPAWN: 1}, {WARM: 1002}, {}, {SPAWN: 2}]
    recorded = pages_of(tmp_path, *sides).recorded()
    works = {
        (base, head)
        for base, head in permutations(range(len(sides)), 2)
        if {*recorded.get((0, base), ())} & {*recorded.get((0, head), ())}
    }
    assert works == {(0, 2), (2, 0), (1, 4), (4, 1)}
    for base, head in permutations(range(len(sides)), 2):
        labels = f"3.3.{base}", f"3.3.{head}"
        if (base, head) in works:
            assert profile(*labels, results=tmp_path).html()
        else:
            with pytest.raises(SelectionError):
                profile(*labels, results=tmp_path)


def test_no_command_names_a_subject_by_a_label_that_others_have_or_that_is_an_option(
    tmp_path: Path,
) -> None:
    for day, label in enumerate(("main", "main", "--out=x", "3.3.7")):
        measured(tmp_path, label, day, traced(100))
    assert list(ProfilePages(site_data([tmp_path])[0]).recorded()) == [(0, 3)]
