"""The series page in a real Chromium, from file://: hand-made data files, no network."""

from __future__ import annotations

import csv
import json
import math
import re
from dataclasses import dataclass, field
from hashlib import sha1
from pathlib import Path
from statistics import median
from urllib.parse import urlencode

import pytest
from jinja2 import Environment, PackageLoader, StrictUndefined

from observatory.dashboard.rendering import assets as files_of_the_site
from tests.browser.conftest import columns_of, violations

pytestmark = pytest.mark.browser
HOSTILE = "\"><img src=x onerror=alert(1)><script>console.error('x')</script> $$x^2$$ @b | `c`` #1"
TIME, SLOW_DRIFT, COUNT, MEMORY, OTHER_ERA = "aa01", "aa02", "aa03", "aa04", "aa05"
STRANGE, LONG, LATE = "bb01", "bb02", "bb03"
RELEASES = 40


# --- A directory as the site is: pages, assets and data files ------------------------------------


def subject(n: int) -> list[str]:
    """Label, commit and date of the n-th release."""
    commit = sha1(str(n).encode(), usedforsecurity=False).hexdigest()
    date = f"2025-{1 + n // 28:02d}-{1 + n % 28:02d}T12:00:00Z"
    return [
        f"3.{n // 10}.{n % 10}",
        commit,
        date,
        "",
        f"https://example.org/commit/{commit}",
        commit,
    ]


def subjects(first: int, count: int) -> list[list[str]]:
    return [subject(n) for n in range(first, first + count)]


def series(values: list[float], **given: object) -> dict[str, object]:
    """One series by the contract; whatever is not given is plain."""
    plain: dict[str, object] = {
        "name": "radon warm_disk NUMBA spawn", "metric": "compile_time", "unit": "seconds",
        "kind": "noisy", "line": 0, "at": None, "v": values, "n": [10] * len(values),
        "lo": None, "hi": None, "bounds": [0, len(values)], "levels": [median(values)],
        "steps": [], "drift": None, "judgement": "judged", "reason": "", "noise": 0.02,
        "alerts": [], "colour": "numba", "expected": None,
    }  # fmt: skip
    return plain | given


def step(at: int, words: str, numbers: str, size: float) -> dict[str, object]:
    """A step as the site tells it; ``size``: above 0 for the worse."""
    return {"at": at, "worse": size > 0, "words": words, "numbers": numbers, "size": abs(size)}


def wave(level: float, n: int, share: float = 0.015) -> list[float]:
    return [level * (1 + share * math.sin(1.7 * i + i * i)) for i in range(n)]


def spread(values: list[float], share: float) -> dict[str, list[float | None]]:
    wide: dict[str, list[float | None]] = {
        "lo": [v * (1 - share) for v in values],
        "hi": [v * (1 + share) for v in values],
    }
    wide["lo"][3] = wide["hi"][3] = None
    return wide


def stepped() -> dict[str, object]:
    """Gaps at 3, 12 and 13; a step for the better at 14, and one for the worse at 30."""
    at = [k for k in range(RELEASES) if k not in (3, 12, 13)]
    values = wave(6.07, 11) + wave(4.47, 16) + wave(5.02, 10)
    return series(
        values, at=at, **spread(values, 0.02), bounds=[0, 11, 27, 37], levels=[6.07, 4.47, 5.02],
        steps=[
            step(11, "faster: −26 %", "6.07 → 4.47 s; 95 % interval −28 to −25 %", -0.3),
            step(27, "slower: +12 %", "4.47 → 5.02 s; 95 % interval +10 to +14 %", 0.12),
        ],
        alerts=[
            {"id": "f00d", "state": "open", "kind": "slower", "at": 27,
             "sentence": "it is slower to build: +12 % (4.47 → 5.02 s)"},
            {"id": "beef", "state": "resolved", "kind": "faster", "at": None, "sentence": ""},
        ],
    )  # fmt: skip


def long(n: int = 600, pieces: int = 20) -> dict[str, object]:
    """More values than have room for marks, and more steps than have room for labels."""
    bounds = [n * i // pieces for i in range(pieces + 1)]
    levels = [1.1**i for i in range(pieces)]
    values = [v for a, b, level in zip(bounds, bounds[1:], levels, strict=False)
              for v in wave(level, b - a)]  # fmt: skip
    steps = [
        step(bounds[i], "slower: +10 %", "a → b; 95 % interval +9 to +11 %", 0.1)
        for i in range(1, pieces)
    ]
    return series(values, line=3, **spread(values, 0.03), bounds=bounds, levels=levels, steps=steps)


def data() -> dict[str, dict[str, object] | list[str]]:
    """Every data file, by name."""
    drifting = [5.4 * 1.22 ** (i / 39) * v for i, v in enumerate(wave(1.0, RELEASES, 0.01))]
    counts: list[float] = [0] * 22 + [7] * 10 + [21] * 8
    memory = [v * 1e6 for v in wave(412, RELEASES, 0.004)]
    lines = {
        "axis": "subject", "models": ["radon", "radon_pymc"],
        "commit_url": "https://example.org/commit/", "compare_url": "https://example.org/compare/",
        "lines": [
            {"machine": "epyc-2core", "env": "py3.11 numba0.61", "era": "EPYC 7763, Linux 6.8",
             "subjects": subjects(1, RELEASES)},
            {"machine": "epyc-2core", "env": "py3.11 numba0.61", "era": "EPYC 9V74, Linux 6.11",
             "subjects": subjects(34, 12)},
            {"machine": "<b>m</b>", "env": HOSTILE, "era": "",
             "subjects": [[f"@{HOSTILE}", f"-{HOSTILE}", "2025-01-01T00:00:00Z"],
                          *subjects(2, 4)]},
            {"machine": "long", "env": "py3.12", "era": "",
             "subjects": [[f"{n:07x}", f"{n:040x}", "2024-01-01T00:00:00Z"] for n in range(600)]},
        ],
    }  # fmt: skip
    first = {
        TIME: stepped(),
        SLOW_DRIFT: series(
            drifting, name="radon warm_disk C spawn", colour="c", **spread(drifting, 0.015),
            levels=[5.4], drift={"ratio": 1.22, "words": "about +22 %",
                                 "numbers": "95 % interval +19 to +25 %"},
        ),
        COUNT: series(
            counts, metric="cache_misses", unit="functions", kind="exact", judgement="exact",
            bounds=[0, 22, 32, 40], levels=[0, 7, 21], noise=None, expected=0, n=None,
            steps=[
                step(22, "higher: +7", "0 → 7", 100.0), step(32, "higher: +14", "7 → 21", 1.1),
            ],
        ),
        MEMORY: series(memory, metric="peak_rss", unit="bytes", judgement="unfit",
                       reason="values of one run are not independent"),
        OTHER_ERA: series(wave(3.4, 12), line=1, levels=[3.4]),
    }  # fmt: skip
    strange = series(
        [1.0, 2.0, 3.0], name=f"=1+{HOSTILE}", metric=HOSTILE, unit=HOSTILE, line=2, at=[0, 2, 4],
        judgement="described", reason=HOSTILE, colour="\"><img src=x>", noise=None,
        alerts=[{"id": HOSTILE, "state": HOSTILE, "kind": HOSTILE, "sentence": HOSTILE, "at": 1}],
    )  # fmt: skip
    late = series(wave(1.0, 10), line=3, at=list(range(590, 600)), kin={"environments": [LONG]})
    second = {STRANGE: strange, LONG: long(), LATE: late}
    shared = dict(columns_of(lines.pop("lines")))
    texts = {
        name: {id_: json.dumps(one) for id_, one in all_.items()}
        for name, all_ in (("series-aa", first), ("series-bb", second))
    }
    return {"lines": lines | shared["lines"], "subjects": shared["subjects"], **texts, **grid()}


def grid(n: int = 20_000) -> dict[str, dict[str, object] | list[str]]:
    """The data of the grid of all series; the first one got worse, the last ones are noisiest."""
    index = {
        "id": [TIME] * n, "name": [f"series {i}" for i in range(n)], "metric": ["time"] * n,
        "line": [0] * n,
    }  # fmt: skip
    columns = {
        "per": 1000, "group": [f"module {i % 7}" for i in range(n)], "backend": [""] * n,
        "state": ["bad", *["quiet"] * (n - 1)], "words": ["slower: +12 %"] * n,
        "noise": [i / n for i in range(n)], "when": ["2025-01-01"] * n, "impact": [0.1] * n,
    }  # fmt: skip
    sparks = {f"sparks-{k}": ["AZaz09"] * 1000 for k in range(n // 1000)}
    return {"index": index, "grid": columns, **sparks}


def write(directory: Path) -> Path:
    """Write the directory and return the path of its series page."""
    assets, out = directory / "assets", directory / "data"
    assets.mkdir(parents=True)
    for name, content in files_of_the_site():
        (directory / name).parent.mkdir(parents=True, exist_ok=True)
        (directory / name).write_bytes(content)
    out.mkdir()
    for name, content in data().items():
        (out / f"{name}.js").write_text(f'observatory.receive("{name}", {json.dumps(content)});\n')
    environment = Environment(
        loader=PackageLoader("observatory.dashboard"), autoescape=True, undefined=StrictUndefined
    )
    page = directory / "series.html"
    page.write_text(
        environment.get_template("series.html.j2").render(
            root="",
            page="series.html",
            pages=[],
            version="0.1.0",
            newest=None,
            section=None,
            brand="Benchmarks",
            repository="",
            project="",
            url="",
            split=["", "a", "b"],
        )
    )
    return page


# --- A browser -----------------------------------------------------------------------------------


@dataclass
class Visit:
    """A page, what the browser complained about and what it asked for."""

    page: object
    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def text(self, selector: str) -> str:
        return self.page.inner_text(selector)

    def until(self, condition: str) -> None:
        """Wait until an expression is true; the timeout names it."""
        self.page.wait_for_function(f"() => {condition}", timeout=60_000)

    def chosen(self) -> dict[str, list[str]]:
        return self.page.evaluate("observatory.choices()")

    def shown(self) -> tuple[float, float]:
        """The first and the last place on the x axis that is drawn."""
        return tuple(self.page.evaluate(f"[{FROM}, {TO}]"))

    def links(self, selector: str) -> list[str]:
        return self.page.eval_on_selector_all(
            f"{selector} a", "all => all.map(a => a.getAttribute('href'))"
        )


CODE = re.compile(r"(?<!`)(`+)(?!`).+?(?<!`)\1(?!`)")
FROM, TO = (f"Number(canvas.dataset.span.split(' ')[{n}])" for n in (0, 1))
DRAWN = "document.querySelector('.uplot canvas') && performance.getEntriesByName('told').length"
PICTURE = "document.querySelector('.uplot canvas').toDataURL()"
EVERYTHING = {
    "s": [TIME, SLOW_DRIFT, OTHER_ERA], "hide": [SLOW_DRIFT], "scale": ["log"], "of": ["first"],
    "off": ["alerts", "intervals"], "from": ["0-5"], "to": ["1-3"], "a": ["0-10"], "b": ["0-20"],
}  # fmt: skip


def address(**choices: object) -> str:
    return "#" + urlencode(choices, doseq=True)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("site"))


@pytest.fixture
def visit(browser, site):
    """Open the series page; it must be quiet and ask for files only, whatever a test does."""
    opened: list[Visit] = []

    def _visit(hash_: str, *, width: int = 1280, scheme: str = "light", **context: object) -> Visit:
        page = browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme, offline=True,
            reduced_motion="reduce", **context,
        ).new_page()  # fmt: skip
        seen = Visit(page)
        opened.append(seen)
        page.on("console", lambda message: seen.complaints.append(message.text))
        page.on("pageerror", lambda error: seen.complaints.append(str(error)))
        page.on("requestfailed", lambda request: seen.complaints.append(f"failed: {request.url}"))
        page.on("request", lambda request: seen.requests.append(request.url))
        page.goto(site.as_uri() + hash_)
        return seen

    yield _visit
    for seen in opened:
        assert seen.complaints == []
        assert [url for url in seen.requests if not url.startswith(("file://", "data:"))] == []
        seen.page.context.close()


@pytest.fixture
def drawn(visit):
    """Open the page and wait until its chart is there."""

    def _drawn(hash_: str, **given: object) -> Visit:
        seen = visit(hash_, **given)
        seen.until(DRAWN)
        seen.until("document.querySelector('#here').children.length")
        return seen

    return _drawn


# --- What is shown -------------------------------------------------------------------------------


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_is_quiet_local_and_no_wider_than_the_screen(drawn, width, scheme):
    every = [TIME, SLOW_DRIFT, COUNT, MEMORY, OTHER_ERA]
    seen = drawn(address(s=every), width=width, scheme=scheme)
    seen.page.click("#numbers > summary")
    seen.until("document.querySelectorAll('#table tbody tr').length > 40")
    assert seen.page.evaluate("document.documentElement.scrollWidth") <= width
    assert seen.page.locator("#chart canvas").count() > 0


def test_each_unit_has_a_chart_and_all_move_together(drawn):
    seen = drawn(address(s=[TIME, COUNT, MEMORY]))
    assert seen.page.locator(".uplot").count() == 3
    before = seen.page.evaluate(
        "[...document.querySelectorAll('.uplot canvas:not(.glass)')].map(c => c.toDataURL())"
    )
    seen.page.click("#closer")
    seen.page.wait_for_timeout(300)
    after = seen.page.evaluate(
        "[...document.querySelectorAll('.uplot canvas:not(.glass)')].map(c => c.toDataURL())"
    )
    assert all(one != other for one, other in zip(before, after, strict=True))


def test_a_change_of_the_colour_scheme_is_drawn(drawn):
    seen = drawn(address(s=TIME))
    seen.page.evaluate(f"window.before = {PICTURE}")
    seen.page.emulate_media(color_scheme="dark")
    seen.until(f"{PICTURE} !== window.before")


def test_steps_and_drifts_are_told_in_words(drawn):
    seen = drawn(address(s=[TIME, SLOW_DRIFT, COUNT, MEMORY]))
    facts = seen.text("#facts")
    assert "faster: −26 % (6.07 → 4.47 s; 95 % interval −28 to −25 %): first in 3.1.5" in facts
    good = f"3.1.2 {subject(12)[1][:10]}"
    assert f"last without it: {good}; 2 in between have no value" in facts
    assert "slower: +12 % (4.47 → 5.02 s" in facts
    assert "drifts: about +22 % from the first value to the last" in facts
    assert "higher: +7 (0 → 7)" in facts
    assert "higher: +14 (7 → 21)" in facts
    assert "not judged: values of one run are not independent" in facts
    assert "37 of 40 subjects" in facts
    assert "alerts/f00d.html" in seen.links("#facts")
    assert f"https://example.org/commit/{subject(15)[1]}" in seen.links("#facts")


def test_values_are_counted_among_all_subjects_of_the_line(drawn):
    """Also of a benchmark that was not measured at first, or is no longer."""
    seen = drawn(address(s=LATE, **{"with": "none"}))
    assert "10 of 600 subjects" in seen.text("#facts")


def test_the_title_has_the_name_of_the_site(drawn):
    assert drawn(address(s=TIME)).page.title() == "radon warm_disk NUMBA spawn · Benchmarks"


def test_without_a_choice_every_series_is_a_card_that_can_be_found_and_sorted(visit):
    seen = visit("")
    seen.page.wait_for_selector(".tile-of svg")
    assert not seen.page.is_visible("#series")
    assert seen.text("#grid-count") == "20,000 of 20,000 series"
    cards = seen.page.locator(".tile-of")
    assert cards.count() < 200  # only those in sight are in the page
    assert cards.first.get_attribute("href") == f"series.html#s={TIME}"  # it needs a person
    seen.page.evaluate("scrollTo(0, document.body.scrollHeight / 2)")
    seen.until("document.querySelector('.tile-of').title !== 'series 0'")
    assert cards.count() < 200
    seen.page.fill("[name=words]", "series 1999")
    seen.until("/^12 of/.test(document.querySelector('#grid-count').textContent)")
    seen.page.fill("[name=words]", "")
    seen.page.select_option("[name=sort]", "noise")
    seen.page.select_option("[name=by]", "")
    seen.until("document.querySelector('.tile-of').title === 'series 19999'")
    assert seen.page.evaluate("document.documentElement.scrollWidth") <= 1280
    cards.first.focus()
    seen.page.keyboard.press("Tab")
    assert seen.page.evaluate("document.activeElement.title") == "series 19998"
    assert seen.chosen() == {"sort": ["noise"], "by": ["none"]}
    again = visit(address(sort="noise", by="none", words="1299"))
    again.page.wait_for_selector(".tile-of svg")
    assert again.page.input_value("[name=words]") == "1299"
    assert again.page.locator(".tile-of").first.get_attribute("title") == "series 12999"


def test_another_address_of_the_grid_shows_what_it_names(visit):
    seen = visit(address(words="1999"))
    seen.page.wait_for_selector(".tile-of svg")
    seen.page.evaluate(f"location.hash = '{address(words='12999', by='none')}'")
    seen.until("/^1 of/.test(document.querySelector('#grid-count').textContent)")
    assert seen.page.input_value("[name=words]") == "12999"
    assert seen.page.input_value("[name=by]") == ""
    seen.page.evaluate(f"location.hash = '{address(s=TIME)}'")
    seen.until(DRAWN)
    seen.page.evaluate("location.hash = ''")
    seen.until("document.title === 'All series · Benchmarks'")
    seen.until("/^20,000 of/.test(document.querySelector('#grid-count').textContent)")


def test_on_a_phone_cards_are_on_the_first_screen_and_filters_one_touch_away(visit):
    seen = visit("", width=390, has_touch=True, is_mobile=True)
    seen.page.wait_for_selector(".tile-of svg")
    assert seen.page.locator(".tile-of").nth(2).bounding_box()["y"] < 844 - 92
    assert not seen.page.is_visible("[name=words]")
    seen.page.click(".filters-of > summary")
    seen.page.fill("[name=words]", "series 1999")
    seen.until("/^12 of/.test(document.querySelector('#grid-count').textContent)")


def test_cards_fill_the_width_that_the_window_has_when_they_are_shown_again(visit):
    seen = visit("")
    seen.page.wait_for_selector(".tile-of svg")
    seen.page.evaluate(f"location.hash = '{address(s=TIME)}'")
    seen.until(DRAWN)
    seen.page.set_viewport_size({"width": 1000, "height": 900})
    seen.page.evaluate("new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")
    seen.page.evaluate("location.hash = ''")
    seen.page.wait_for_selector(".tile-of svg")
    first, second = (seen.page.locator(".tile-of").nth(n).bounding_box() for n in (0, 1))
    assert first["y"] == second["y"]


@pytest.mark.parametrize("unknown", ["aaff", "../lines", "aa01 "])
def test_an_unknown_id_is_said_and_the_others_are_shown(drawn, unknown):
    more = [f"aa{n}" for n in range(10, 21)]
    seen = drawn(address(s=[unknown, TIME, *more]))
    assert "The first 12 of 13 series are shown." in seen.text("#problems")
    assert f"No series has the id {unknown.strip()}" in seen.text("#problems")
    assert "renamed or removed" in seen.text("#problems")
    assert seen.text("#name") == "radon warm_disk NUMBA spawn"


def test_a_key_in_the_address_may_have_the_name_of_anything(drawn):
    """Every object of JavaScript has a `constructor`."""
    seen = drawn(address(s=TIME, constructor="1", toString="1", __proto__="1"))
    assert seen.complaints == []
    assert seen.text("#name") == "radon warm_disk NUMBA spawn"


def test_without_javascript_the_lists_are_named(visit):
    seen = visit(address(s=TIME), java_script_enabled=False)
    assert seen.page.is_visible("noscript a[href='list/001.html']")


def test_texts_of_strangers_stay_text(drawn):
    seen = drawn(address(s=[STRANGE, TIME]), width=390)
    seen.page.click("#numbers > summary")
    seen.until("document.querySelectorAll('#table tbody tr').length === 1 + 37")
    seen.page.focus("#chart")
    for key in ("Home", "Enter", "End", "Enter"):
        seen.page.keyboard.press(key)
    seen.page.focus("#chart")
    assert HOSTILE in seen.page.text_content("#facts h3")
    assert HOSTILE in seen.page.text_content("#keys")
    assert seen.page.locator("main img, main script, main b b").count() == 0
    assert seen.page.evaluate("document.documentElement.scrollWidth") <= 390


def test_values_of_zero_are_told_where_they_cannot_be_drawn(drawn):
    seen = drawn(address(s=COUNT, scale="log", of="first"))
    assert "a logarithmic scale shows only values above 0" in seen.text("#cannot")
    assert "its level is 0, so there are no percentages" in seen.text("#cannot")


def test_a_long_history_is_drawn_and_its_older_steps_are_folded(drawn):
    seen = drawn(address(s=LONG))
    assert seen.page.locator("#facts article > ul > li").count() == 6
    assert "13 older" in seen.text("#facts summary")
    seen.page.click("#more > summary")
    seen.page.get_by_label("from", exact=True).select_option("3-580")  # values have marks again
    seen.until(f"{FROM} === 580")
    seen.page.click("#reset")
    seen.until(f"{FROM} === 0")


# --- What is chosen ------------------------------------------------------------------------------


def test_the_address_restores_everything(drawn):
    seen = drawn(address(**EVERYTHING))
    seen.page.click("#more > summary")
    seen.page.wait_for_selector("option[value='0-5']", state="attached")
    form = seen.page.evaluate("[...new FormData(document.querySelector('#controls'))]")
    assert form == [
        ["scale", "log"], ["by", "subject"], ["of", "first"], ["show", "levels"],
        ["from", "0-5"], ["to", "0-36"],  # the slot that two environments share
    ]  # fmt: skip
    keys = "[...document.querySelectorAll('#keys button')].map(b => b.getAttribute('aria-pressed'))"
    assert seen.page.evaluate(keys) == ["true", "false", "true"]
    assert seen.shown() == (5, 36)
    between = seen.text("#between")
    assert "3.1.1" in between
    assert "3.2.1" in between
    assert "NUMBA spawn, compile_time, epyc" in between
    assert "C spawn" not in between  # it is hidden
    assert seen.chosen() == EVERYTHING


def test_another_address_is_followed(drawn):
    seen = drawn(address(s=TIME, scale="log", of="first"))
    seen.page.evaluate(f"location.hash = '{address(s=COUNT, off='levels')}'")
    seen.until("document.title.startsWith('radon') && /cache_misses/.test(about.textContent)")
    assert not seen.page.is_checked("input[value=levels]")
    assert seen.page.is_checked("input[name=scale][value=linear]")
    assert seen.page.is_checked("input[name=of][value='']")


def test_each_choice_goes_into_the_address(drawn):
    seen = drawn(address(s=[TIME, SLOW_DRIFT]))
    page = seen.page
    page.click("#more > summary")
    page.get_by_label("log", exact=True).check()
    page.get_by_label("% of newest level").check()
    page.get_by_label("levels and steps").uncheck()
    page.get_by_label("from", exact=True).select_option("0-30")
    page.get_by_label("to", exact=True).select_option("0-12")  # the ends may be given either way
    page.get_by_role("button", name="radon warm_disk C spawn").click()
    expected = {"s": [TIME, SLOW_DRIFT], "scale": ["log"], "of": ["newest"], "off": ["levels"],
                "from": ["0-12"], "to": ["0-30"], "hide": [SLOW_DRIFT]}  # fmt: skip
    assert seen.chosen() == expected
    seen.until(f"{FROM} === 12")
    page.click("#reset")
    seen.until("!observatory.choices().from")
    page.get_by_role("button", name="radon warm_disk C spawn").click()
    assert "hide" not in seen.chosen()


def test_the_chart_says_when_every_series_is_hidden(drawn):
    seen = drawn(address(s=TIME))
    seen.page.click("#keys button")
    seen.page.wait_for_selector("text=Every series is hidden.")


# --- Cursor and pins -----------------------------------------------------------------------------


def test_arrow_keys_move_the_cursor_and_enter_pins(drawn):
    seen = drawn(address(s=[TIME, COUNT]))
    press = seen.page.keyboard.press
    seen.page.focus("#chart")
    press("Home")
    assert seen.text("#said").startswith("3.0.1, 2025-01-02. radon warm_disk NUMBA spawn")
    assert "3.0.1" in seen.text("#here")
    press("ArrowRight")
    press("ArrowRight")
    press("ArrowRight")
    assert "no value" in seen.text("#here")  # a gap
    press("ArrowRight")
    press("Enter")
    assert seen.chosen()["a"] == ["0-4"]
    press("End")
    assert "against 3.0.5" in seen.text("#here")
    press("Enter")
    assert seen.chosen()["b"] == ["0-39"]
    assert "higher: +21" in seen.text("#between")
    assert "faster" in seen.text("#between")
    assert "2 steps in between" in seen.text("#between")
    commits = f"{subject(5)[1]}...{subject(40)[1]}"
    assert seen.links("#between") == [
        *(f"https://example.org/commit/{subject(n)[1]}" for n in (5, 40)),
        f"https://example.org/compare/{commits}", "compare.html#a=0-4&b=0-39",
    ]  # fmt: skip
    press("Escape")
    assert "a" not in seen.chosen()


def test_a_pinned_point_lets_go_and_points_of_two_lines_are_not_compared(drawn):
    seen = drawn(address(s=[TIME, OTHER_ERA], a="0-10"))
    seen.page.focus("#chart")
    seen.page.keyboard.press("End")
    seen.page.keyboard.press("Enter")
    assert seen.chosen()["b"] == ["1-11"]
    assert "two environments" in seen.text("#between")
    assert seen.page.locator("#between a[href^=compare]").count() == 0
    seen.page.keyboard.press("Enter")
    assert "b" not in seen.chosen()


def test_the_pointer_does_what_keys_do_and_zooms_only_a_chart_with_the_focus(drawn):
    seen = drawn(address(s=TIME))
    box = seen.page.locator("#chart").bounding_box()
    x, y = box["x"] + box["width"] * 0.6, box["y"] + box["height"] * 0.5
    seen.page.mouse.move(x, y)
    seen.until("/against|3\\.2\\.\\d/.test(here.textContent)")
    seen.page.mouse.wheel(0, 40)  # scrolls the page
    assert seen.shown() == (0, 39)
    seen.page.mouse.click(x, y)
    seen.until("observatory.choices().a")
    seen.page.mouse.wheel(0, -240)
    seen.until(f"{TO} - {FROM} < 39")
    seen.until("observatory.choices().from || observatory.choices().to")


def test_a_finger_can_scroll_past_the_chart_and_pin(drawn):
    seen = drawn(address(s=TIME), width=390, has_touch=True, is_mobile=True)
    box = seen.page.locator("#chart").bounding_box()
    seen.page.touchscreen.tap(box["x"] + box["width"] * 0.6, box["y"] + box["height"] * 0.5)
    seen.until("observatory.choices().a")


def test_two_fingers_zoom_in_and_what_they_touch_stays_under_them(drawn):
    seen = drawn(address(s=TIME), width=390, has_touch=True, is_mobile=True)
    box = seen.page.locator(".u-over").bounding_box()
    touch = seen.page.context.new_cdp_session(seen.page)

    def fingers(kind: str, *shares: float) -> None:
        points = [
            {"x": box["x"] + share * box["width"], "y": box["y"] + 90, "id": n}
            for n, share in enumerate(shares)
        ]
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    fingers("touchStart", 0.45)
    fingers("touchStart", 0.45, 0.55)
    fingers("touchMove", 0.35, 0.65)
    fingers("touchMove", 0.25, 0.75)
    fingers("touchEnd")
    seen.until(f"{TO} - {FROM} < 12")
    start, end = seen.shown()
    assert start > 12
    assert end < 28
    seen.page.wait_for_timeout(300)
    assert "a" not in seen.chosen()  # two fingers pin nothing


def test_dragging_zooms_in_and_the_strip_moves_the_window(drawn):
    seen = drawn(address(s=TIME, **{"from": "0-10", "to": "0-30"}))

    def drag(place: str, start: float, end: float) -> None:
        box = seen.page.locator(place).bounding_box()
        y = box["y"] + box["height"] * 0.5
        seen.page.mouse.move(box["x"] + box["width"] * start, y)
        seen.page.mouse.down()
        seen.page.mouse.move(box["x"] + box["width"] * end, y, steps=4)
        seen.page.mouse.up()

    drag(".u-over", 0.4, 0.6)
    seen.until(f"{TO} - {FROM} < 8")
    start, end = seen.shown()
    drag("#strip", (start + end + 1) / 2 / 40, (start + end + 1) / 2 / 40 - 0.25)
    seen.until(f"{TO} === {end - 10}")
    assert seen.shown() == (start - 10, end - 10)
    seen.page.dblclick(".u-over")
    seen.until(f"{FROM} === 0 && {TO} === 39")
    seen.page.focus("#chart")
    seen.page.keyboard.press("+")
    seen.until(f"{TO} - {FROM} < 30")
    seen.page.keyboard.press("0")
    seen.until(f"{TO} - {FROM} === 39")


def test_the_axis_begins_where_values_begin(drawn):
    seen = drawn(address(s=LATE, **{"with": "none"}))
    assert seen.shown() == (0, 9)  # of 600 subjects
    seen.page.click("#more > summary")
    seen.until("document.querySelectorAll('#span-from option').length === 10")


def test_kin_are_overlaid_unless_somebody_says_otherwise(drawn):
    seen = drawn(address(s=LATE, **{"with": "environments"}))
    seen.until("document.querySelectorAll('#keys .kin').length === 1")
    seen.page.click("#more > summary")
    seen.page.get_by_label("other environments").uncheck()
    seen.until("!document.querySelector('#keys .kin')")
    assert seen.chosen()["with"] == ["none"]
    assert seen.page.get_by_label("other metrics").is_disabled()


def test_ends_are_named_on_the_line_that_was_chosen_first(drawn):
    """Without what is overlaid, the names in the address still mean something."""
    seen = drawn(address(s=[OTHER_ERA, TIME]))
    seen.page.click("#more > summary")
    for end, name in (("from", "1-3"), ("to", "1-5")):
        seen.page.get_by_label(end, exact=True).select_option(name)
    chosen = {name: seen.chosen()[name] for name in ("from", "to")}
    assert chosen == {"from": ["1-3"], "to": ["1-5"]}
    assert seen.shown() == (36, 38)
    seen.page.evaluate(f"location.hash = '{address(s=OTHER_ERA, **{'with': 'none'}, **chosen)}'")
    seen.until(f"{FROM} === 3 && {TO} === 5")


def test_on_a_phone_the_chart_is_on_the_first_screen(drawn):
    seen = drawn(address(s=TIME), width=390, has_touch=True, is_mobile=True)
    box = seen.page.locator(".u-over").bounding_box()
    assert box["y"] + box["height"] < 844


# --- To others, and onto paper ------------------------------------------------------------------


def test_a_view_is_saved_as_a_picture_and_as_json(drawn):
    seen = drawn(address(s=[TIME, COUNT], hide=COUNT, scale="log"))
    seen.page.click("#share > summary")
    with seen.page.expect_download() as picture:
        seen.page.click("#picture")
    name = "radon-warm_disk-NUMBA-spawn-compile_time"
    assert picture.value.suggested_filename == f"{name}.png"
    content = Path(picture.value.path()).read_bytes()
    wide, tall = (int.from_bytes(content[at : at + 4], "big") for at in (16, 20))
    box = seen.page.locator("#canvas").bounding_box()
    assert content.startswith(b"\x89PNG")
    assert len(content) > 5000
    assert wide >= box["width"]
    assert tall > 300
    with seen.page.expect_download() as saved:
        seen.page.click("#json")
    told = json.loads(Path(saved.value.path()).read_text())
    assert told["view"] == seen.page.url
    (one,) = told["series"]  # the other one is hidden
    assert (one["name"], one["metric"]) == ("radon warm_disk NUMBA spawn", "compile_time")
    assert len(one["values"]) == 37
    assert one["values"][0]["commit"] == subject(1)[1]
    assert one["values"][-1]["level"] == 5.02
    assert [step["words"] for step in one["steps"]] == ["faster: −26 %", "slower: +12 %"]


def test_a_view_is_copied_with_its_zoom_scale_and_choice(drawn):
    seen = drawn(address(s=TIME))
    seen.page.get_by_label("log", exact=True).check()
    seen.page.click("#closer")
    seen.page.evaluate("observatory.copy = text => { window.copied = text; }")
    seen.page.click("#share > summary")
    seen.page.click("#link")
    again = drawn("#" + seen.page.evaluate("copied").split("#")[1])
    assert again.shown() == seen.shown() != (0, 39)
    assert again.page.is_checked("input[name=scale][value=log]")


def test_paper_has_the_chart_in_light_colours_and_nothing_to_click_on(drawn):
    seen = drawn(address(s=TIME), scheme="dark")
    page = seen.page
    ground = "getComputedStyle(document.body).getPropertyValue('--card').trim()"
    assert page.evaluate(ground) == "#191f27"
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.evaluate("performance.clearMarks('told')")
    page.emulate_media(media="print", color_scheme="light")  # a browser says so at any moment
    seen.until(DRAWN)
    seen.until("Math.round(document.querySelector('.uplot canvas').clientWidth) === 680")
    page.emulate_media(media="print", color_scheme="dark")
    assert page.evaluate(ground) == "#ffffff"
    for gone in (".bar", "#strip", "#how", ".beside", "#numbers"):
        assert not page.is_visible(gone), gone
    for kept in ("#name", "#chart", "#keys", "#facts"):
        assert page.is_visible(kept), kept
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    page.emulate_media(media="screen", color_scheme="dark")
    seen.until("document.querySelector('.uplot canvas').clientWidth > 680")
    assert page.evaluate(ground) == "#191f27"


def test_a_table_that_is_too_wide_shows_that_there_is_more(drawn):
    seen = drawn(address(s=[TIME, COUNT, MEMORY]), width=390)
    seen.page.click("#numbers > summary")
    seen.until("document.querySelector('#table .scroll')")
    shadow = "getComputedStyle(document.querySelector('#table .scroll'))"
    assert seen.page.evaluate(f"{shadow}.backgroundAttachment") == "local, local, scroll, scroll"
    place = seen.page.locator("#table .scroll")
    place.evaluate(
        "e => { e.replaceChildren(document.createElement('p'));"
        " e.firstChild.style.cssText = 'width: 900px; height: 80px'; }"
    )
    hinted = place.screenshot()
    place.evaluate("e => { e.firstChild.style.width = '10px'; }")
    assert place.screenshot() != hinted


# --- The numbers ---------------------------------------------------------------------------------


def test_numbers_are_copied_as_markdown_and_as_csv(drawn):
    seen = drawn(address(s=[STRANGE, TIME]))
    seen.page.click("#numbers > summary")
    seen.page.evaluate("observatory.copy = text => { window.copied = text; }")
    seen.page.click("text=Copy as Markdown")
    lines = seen.page.evaluate("copied").split("\n")
    assert len({line.replace("\\|", "").count("|") for line in lines}) == 1
    # What strangers wrote is code, in which nobody is called and nothing is linked.
    bare = [CODE.sub("", line) for line in lines]
    assert not set("@#<`") & {*bare[0], *"".join(line.split("|")[1] for line in bare)}
    assert "```=1+" in lines[0]
    assert lines[-1].startswith("| ```@")
    assert "5.02 s" in "\n".join(lines)
    seen.page.click("text=Copy as CSV")
    text = seen.page.evaluate("copied")
    rows = list(csv.reader(text.split("\r\n")))
    assert {len(row) for row in rows} == {3 + 2 * 5}
    # No spreadsheet runs what begins with a quotation mark.
    assert rows[0][3] == f"'=1+{HOSTILE} {HOSTILE}, <b>m</b>, {HOSTILE} ({HOSTILE}): value"
    assert rows[-1] == [f"'@{HOSTILE}", f"'-{HOSTILE}", "2025-01-01T00:00:00Z",
                        "1", "", "", "10", "2", *[""] * 5]  # fmt: skip
    assert rows[1][:1] + rows[1][-2:] == ["3.4.0", "10", "5.02"]


def test_the_numbers_are_those_that_are_shown_and_name_their_environments(drawn):
    seen = drawn(address(s=[TIME, OTHER_ERA]))
    seen.page.click("#numbers > summary")
    heads = seen.page.locator("#table th[scope=colgroup]")
    heads.first.wait_for()
    assert "EPYC 7763" in heads.all_inner_texts()[0]
    assert "EPYC 9V74" in heads.all_inner_texts()[1]
    seen.page.locator("#keys button").first.click()
    seen.until("document.querySelectorAll('#table th[scope=colgroup]').length === 1")
    assert "EPYC 9V74" in heads.first.inner_text()


def test_nothing_is_saved_of_hidden_series(drawn):
    seen = drawn(address(s=TIME))
    seen.page.locator("#keys button").click()
    seen.page.click("#share > summary")
    for made in ("picture", "json"):
        seen.page.click(f"#{made}")
        seen.until(f"problems.children.length === {1 if made == 'picture' else 2}")
    assert "Every series is hidden, so there is nothing to save." in seen.text("#problems")


def test_a_double_click_shows_the_whole_history_and_pins_nothing(drawn):
    seen = drawn(address(s=TIME, a="0-10", b="0-20", **{"from": "0-5", "to": "0-30"}))
    box = seen.page.locator("#chart").bounding_box()
    seen.page.mouse.dblclick(box["x"] + box["width"] * 0.5, box["y"] + box["height"] * 0.5)
    seen.until("!observatory.choices().from")
    assert seen.chosen() == {"s": [TIME], "a": ["0-10"], "b": ["0-20"]}


def test_the_link_to_the_content_keeps_what_is_chosen(drawn):
    seen = drawn(address(s=TIME, scale="log"))
    seen.page.focus(".skip")
    seen.page.keyboard.press("Enter")
    seen.until("document.activeElement.id === 'main'")
    assert seen.chosen() == {"s": [TIME], "scale": ["log"]}


# --- Accessibility -------------------------------------------------------------------------------


def test_axe_finds_nothing(browser, site):
    """Neither on the charts nor on the grid, however small."""
    page = browser.new_context(viewport={"width": 1280, "height": 900}, bypass_csp=True).new_page()
    shown = address(s=[TIME, SLOW_DRIFT, COUNT, OTHER_ERA], hide=COUNT, a="0-3", b="0-30")
    page.goto(site.as_uri() + shown)
    page.wait_for_selector("#between li")
    for folded in ("#numbers", "#more", "#share"):
        page.click(f"{folded} > summary")
    page.wait_for_selector("#table tbody td")
    assert violations(page, every=True) == []
    page.goto("about:blank")
    page.goto(site.as_uri())
    page.wait_for_selector(".tile-of svg")
    assert violations(page, every=True) == []
    page.context.close()


@pytest.mark.parametrize("width", [390, 1280])
def test_targets_are_large_enough(drawn, width):
    seen = drawn(address(s=[TIME, SLOW_DRIFT], a="0-3", b="0-30"), width=width)
    small = seen.page.evaluate(
        "[...document.querySelectorAll('#series :is(button, select, summary, label:has(input))')]"
        ".map(e => [e.textContent.slice(0, 30), e.getBoundingClientRect()])"
        ".filter(([, r]) => r.width < 24 || r.height < 24).map(([text]) => text)"
    )
    assert small == []
