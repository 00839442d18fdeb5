"""The static site: a directory of pages from everything that was observed.

Every page can be read without JavaScript but the two whose contents somebody has yet to choose
(`series.html`, `compare.html`). Nothing is ever asked of another server, and the same input gives
the same bytes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from observatory.analyze.history.alerts import STALE_AFTER
from observatory.analyze.history.recorded import FEWEST_FOR_A_HABIT
from observatory.benchmarks.catalogue import MAIN_BACKENDS
from observatory.dashboard.colours import css_name
from observatory.dashboard.data import data_files
from observatory.dashboard.drawing import geometry
from observatory.dashboard.feed import atom
from observatory.dashboard.kept import Kept, Later, hashed
from observatory.dashboard.navigation import Place
from observatory.dashboard.pages.alert import alert_page
from observatory.dashboard.pages.alert_files import alert_files
from observatory.dashboard.pages.alerts import alerts_page
from observatory.dashboard.pages.badge import PATH as BADGE
from observatory.dashboard.pages.badge import badge
from observatory.dashboard.pages.caches import caches_page, chosen, times_of
from observatory.dashboard.pages.caches import path_of as caches_path
from observatory.dashboard.pages.cell_values import cell_values_of
from observatory.dashboard.pages.census import census_pages
from observatory.dashboard.pages.changes import latest_change, timeline
from observatory.dashboard.pages.contracts import PATH as CONTRACTS
from observatory.dashboard.pages.contracts import contracts_page
from observatory.dashboard.pages.growth import PATH as GROWTH
from observatory.dashboard.pages.growth import growth_page
from observatory.dashboard.pages.guard import PATH as GUARD
from observatory.dashboard.pages.guard import guard_page
from observatory.dashboard.pages.health import health_page, lines_of
from observatory.dashboard.pages.history import History, history
from observatory.dashboard.pages.matrix import SHOWN_IN_CELLS, matrices
from observatory.dashboard.pages.overview import overview
from observatory.dashboard.pages.path import PATH as WALK
from observatory.dashboard.pages.path import path_page
from observatory.dashboard.pages.profiles import ProfilePages
from observatory.dashboard.pages.series_list import ListPage, list_pages
from observatory.dashboard.pages.series_list import path_of as list_path
from observatory.dashboard.pages.story import story_of
from observatory.dashboard.pages.summary import Newest, facts, headline, newest
from observatory.dashboard.pages.torture import PATH as TORTURE
from observatory.dashboard.pages.torture import torture_page
from observatory.dashboard.pages.work import work_history
from observatory.dashboard.publish import publish, refuse_foreign
from observatory.dashboard.rendering import assets, rendered
from observatory.dashboard.site_input import SiteInput, Spot
from observatory.dashboard.views import Views
from observatory.text.alerts import with_page
from observatory.text.forge import Forge
from observatory.text.plain import shorten
from observatory.text.words import glossaries

MATRIX = "matrix.html"
WORDS = "words.html"
COMPARE = "compare.html"
_LINES_SHOWN = 8
_PROBLEM = 600
_AT_ONCE = 3
"""Files whose values may be in memory at once."""


def build(
    observed: SiteInput, out: Path, forge: Forge | None = None, url: str = "",
    kept: Kept | None = None,
) -> Path:  # fmt: skip
    """Write the site into ``out`` and return the path of its first page.

    ``url``: where it will be; other sites show a picture beside a link only if they know that.

    ``out`` is a directory that is absent, empty, or was made by an earlier call; it is replaced.
    ``forge``: what the measured project is called, and where its code is shown. ``kept``: what an
    earlier build left, of the same code and options; it gets what this one leaves.

    Raises:
        dashboard.publish.NotOurDirectoryError: ``out`` holds something that was not written here.

    """
    refuse_foreign(out)
    kept = kept or Kept()
    publish(_Site(observed, forge or Forge(), url, kept).files(), out, kept)
    return out / "index.html"


class _Site:
    """The files of one site."""

    def __init__(self, observed: SiteInput, forge: Forge, url: str, kept: Kept) -> None:
        self._observed = observed
        self._url = f"{url.rstrip('/')}/" if url else ""
        self._forge = forge
        self._nightly = any(len(one.subjects) >= FEWEST_FOR_A_HABIT for one in observed.lines)
        self._cell_values = cell_values_of(observed, SHOWN_IN_CELLS)
        self._views = Views(observed, kept, of_caches=bool(self._cell_values))
        self._subject = newest(self._cell_values, observed.machine)
        self._caches = chosen(observed)
        self._census = census_pages(observed)
        self._growth = growth_page(observed)
        self._guard = guard_page(observed)
        self._path = path_page(observed)
        self._profiles = ProfilePages(observed)

    def files(self) -> Iterator[tuple[str, bytes | Later]]:
        """Every file of the site: its path and its content, or how to make it."""
        for number, one in enumerate(self._files()):
            if number % _AT_ONCE == 0:
                self._observed.let_go()
            yield one

    def _files(self) -> Iterator[tuple[str, bytes | Later]]:
        observed = self._observed
        # First, so that what is drawn for a row is forgotten with its page.
        yield from self._lists()
        noises = [view.noise for view in self._views.all]
        yield "index.html", self._index(noises)
        if self._subject is not None:
            yield MATRIX, self._matrix(self._subject)
        words = glossaries() if self._subject else glossaries(())
        yield WORDS, self._page(WORDS, glossaries=words)
        yield "series.html", self._page("series.html", split=sorted(observed.shelves.split))
        title, rows, pair = latest_change(observed)
        profile = self._profiles.of_pairs.get(pair) if pair else None
        yield COMPARE, self._page(COMPARE, static=rows, static_title=title, profile=profile)
        yield (
            "health.html",
            self._page("health.html", **health_page(observed, self._subject, noises)),
        )
        yield "alerts.html", self._page("alerts.html", **alerts_page(observed))
        if self._guard is not None:
            yield GUARD, self._page(GUARD, **self._guard)
        if self._path is not None:
            yield WALK, self._page(WALK, **self._path)
        if self._growth is not None:
            yield GROWTH, self._page(GROWTH, **self._growth)
        if observed.contracts:
            yield CONTRACTS, self._page(CONTRACTS, tables=contracts_page(observed.contracts))
        if observed.faults:
            yield TORTURE, self._page(TORTURE, **torture_page(observed.faults))
        if longest := newest(self._cell_values):
            yield "releases.html", self._releases(longest, history(self._cell_values, longest))
        for one in with_page(observed.alerts):
            path = f"alerts/{one.id}.html"
            page = alert_page(observed, one, self._forge, self._views.pictured)
            work = self._profiles.of_alerts.get(one.id)
            yield path, self._page("alert.html", path=path, here="alerts.html", work=work, **page)
            first = next(iter(page["pictures"]), None)
            yield from alert_files(one, first and (first.key, first.make))
        for each in self._profiles.pages():
            values = each.values(observed)
            yield each.path, self._page("flame.html", path=each.path, here=COMPARE, **values)
        for census in self._census:
            front = self._census[0].path
            values = census.values(self._census)
            yield census.path, self._page("census.html", path=census.path, here=front, **values)
        yield from self._caches_pages()
        moment = observed.alerts.newest or datetime.min.replace(tzinfo=UTC)
        yield "alerts.atom", atom(observed.alerts, moment, self._url)
        yield BADGE, badge(observed.alerts)
        yield from data_files(observed, self._forge, profiles=self._profiles, views=self._views)
        yield from assets()

    def _lists(self) -> Iterator[tuple[str, Later]]:
        """The lists of all series. They do not name the newest subject: else all would change."""
        views, entries = self._views, [(o.name, o.key, o.pages) for o in self._entries()]
        common = repr(self._common("series.html", "../") | {"pages": entries, "section": ""})
        for page in list_pages(self._observed):
            path = list_path(page.number)
            own = [views.keys[number] for _, numbers in page.groups for number in numbers]
            words = page.number, page.of, [(name, len(own)) for name, own in page.groups]

            def make(page: ListPage = page, path: str = path) -> bytes:
                groups = [(name, list(map(views.row, own))) for name, own in page.groups]
                return self._page(
                    "list.html", path=path, here="series.html", number=page.number, of=page.of,
                    groups=groups, path_of=list_path, newest=None,
                )  # fmt: skip

            yield path, Later(hashed(common, repr(words), *own), make)

    def _index(self, noises: Sequence[float | None]) -> bytes:
        observed, subject = self._observed, self._subject
        claim = None if subject is None else headline(subject)
        view = overview(observed, subject, claim)
        lines = list(lines_of(observed, noises))
        if not lines:
            return self._page("index.html", template="empty.html")
        longest = newest(self._cell_values)
        return self._page(
            "index.html",
            view=view,
            subject=subject and shorten(subject.subject, 60),
            story=story_of(history(self._cell_values, longest)) if longest else None,
            census=[one.summary() for one in self._census],
            lines=lines[:_LINES_SHOWN],
            more_lines=max(0, len(lines) - _LINES_SHOWN),
        )

    def _matrix(self, subject: Newest) -> bytes:
        measured = self._observed.measured_at
        moment = measured.get((subject.subject, subject.setting.machine))
        return self._page(
            MATRIX, subject=shorten(subject.subject, 60), facts=facts(subject, moment),
            matrices=matrices(subject),
        )  # fmt: skip

    def _releases(self, longest: Newest, past: History) -> bytes:
        work = work_history(self._observed, longest, past.own, past.times[0].releases)
        alerts = self._observed.alerts
        pages = frozenset(one.id for one in with_page(alerts))
        return self._page(
            "releases.html",
            history=past,
            times=tuple(zip(past.times, geometry.time_drawings(past.times), strict=True)),
            work=work,
            drawn=[(one, *geometry.time_drawings((one,))) for one in work.panels],
            misses=tuple(zip(past.misses, geometry.count_drawings(past.misses), strict=True)),
            wrong=(past.wrong, *geometry.count_drawings((past.wrong,))),
            legend=tuple((name, css_name(name), geometry.shape_of(name)) for name in MAIN_BACKENDS),
            story=timeline(alerts, pages),
        )

    def _caches_pages(self) -> Iterator[tuple[str, bytes]]:
        if not self._caches:
            return
        times = times_of(self._observed)
        for spot in self._caches:
            labels = [
                (self._label(other), caches_path(other), other == spot)
                for other in reversed(self._caches)
            ]
            path, page = caches_path(spot), caches_page(self._observed, spot, times.get(spot, {}))
            front = caches_path(self._caches[-1])
            yield path, self._page("caches.html", path=path, here=front, subjects=labels, **page)

    def _label(self, spot: Spot) -> str:
        """A subject, with its line where there are several."""
        observed = self._observed
        label = shorten(observed.subject(spot).label, 24)
        if len({other[0] for other in self._caches}) == 1:
            return label
        return f"{label} ({shorten(observed.lines[spot[0]].name, 40)})"

    def _entries(self) -> list[Place]:
        """The navigation; a place has several pages that belong together."""
        caches = caches_path(self._caches[-1]) if self._caches else ""
        census = self._census[0].path if self._census else ""
        found = (
            Place("Overview", "o", (("Overview", "index.html", True),)),
            Place("Alerts", "a", (("Alerts", "alerts.html", True),)),
            Place("Charts", "s", (("All series", "series.html", True),)),
            Place("Compare", "c", (("Compare", COMPARE, True),)),
            Place("Caches", "k", (
                ("Function by function", caches, self._caches),
                ("Every cell", MATRIX, self._subject), ("Op by Op", census, census),
                ("Step by step", WALK, self._path), ("Growing graphs", GROWTH, self._growth),
            )),
            Place("Wrong answers", "w", (
                ("Shared caches", GUARD, self._guard),
                ("Caches under faults", TORTURE, self._observed.faults),
            )),
            Place("History", "h", (("History", "releases.html", self._cell_values),)),
            Place("Health", "r", (
                ("Runs", "health.html", True),
                ("What PyTensor needs from numba", CONTRACTS, self._observed.contracts),
            )),
        )  # fmt: skip
        return [place for place in found if place.pages]

    def _page(
        self, name: str, *, template: str = "", path: str = "", here: str = "", **values: Any
    ) -> bytes:
        """Render a page. ``here``: the entry of the navigation that it belongs to."""
        common = self._common(here or path or name, "../" * (path or name).count("/"))
        more = {
            "newest": self._observed.alerts.newest, "address": path or name,
            "nightly": self._nightly, "stale_after": int(STALE_AFTER.total_seconds()),
        }  # fmt: skip
        return rendered(template or name, common | more | values)

    def _common(self, page: str, root: str) -> dict[str, Any]:
        """What pages show beside their contents, but for the newest subject."""
        places = self._entries()
        ours = self._cell_values or not (self._forge.name or self._observed.tracks)
        others = f"{self._forge.name} benchmarks" if self._forge.name else "Benchmarks"
        brand = "Compile-cache observatory" if ours else others
        return {
            "root": root,
            "page": page,
            "pages": places,
            "section": next((one for one in places if one.has(page)), None),
            "brand": brand,
            "repository": self._forge.repository,
            "project": self._forge.name,
            "of_caches": bool(self._cell_values),
            "problems": [shorten(text, _PROBLEM) for text in self._observed.problems],
            "recorded": bool(self._observed.measured_at),
            "version": self._observed.version,
            "url": self._url,
        }
