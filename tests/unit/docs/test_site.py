"""The documentation as a site: built without a warning, and no page asks anybody for anything."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest

from observatory.cli.main import Commands
from tests.docs_examples import DOCS, ROOT, build

_LOADED = {
    ("audio", "src"), ("embed", "src"), ("form", "action"), ("frame", "src"), ("iframe", "src"),
    ("image", "href"), ("img", "src"), ("img", "srcset"), ("input", "src"), ("link", "href"),
    ("object", "data"), ("script", "src"), ("source", "src"), ("source", "srcset"),
    ("track", "src"), ("use", "href"), ("video", "poster"), ("video", "src"),
}  # fmt: skip
"""Attributes that make a browser load something. Those of <a> do not."""
_OUTSIDE = re.compile(r"\s*(?:[a-z]+:)?//", re.IGNORECASE)
_NO_ADDRESS = (
    "http://www.w3.org/", "https://clipboardjs.com", "http://lunrjs.com", "https://bit.ly/2s3ChXG"
)  # fmt: skip
_SWITCHED_OFF = (
    "https://api.github.com/",  # the box with a repository's stars: there is no repo_url
    "https://${e}/api/v4/",  # the same of a GitLab
    "https://unpkg.com/mermaid",  # diagrams: no page has one
    "https://unpkg.com/resize-observer-polyfill",  # for browsers of before 2020
)
"""What the theme's script could load; the policy of the pages forbids it too."""


class _Loads(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, str, str]] = []
        self.policies: list[str] = []
        self.styles = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name.removeprefix("xlink:"): value or "" for name, value in attrs}
        if tag == "meta" and given.get("http-equiv", "").lower() == "content-security-policy":
            self.policies.append(given["content"])
        self.found += [(tag, n, v) for n, v in given.items() if (tag, n) in _LOADED]
        self.styles += given.get("style", "")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("docs") / "site"
    assert build(out) == ""
    return out


def read(page: Path) -> _Loads:
    found = _Loads()
    found.feed(page.read_text())
    return found


def in_styles(text: str) -> Iterator[str]:
    yield from re.findall(r"url\(\s*['\"]?([^'\")]*)", text)
    yield from re.findall(r"@import\s+(?:url\()?['\"]?([^'\";)]*)", text)


def test_a_link_that_leads_nowhere_and_a_page_that_nobody_finds_fail_the_build(
    tmp_path: Path,
) -> None:
    shutil.copy(ROOT / "mkdocs.yml", tmp_path)
    shutil.copytree(DOCS, tmp_path / "docs")
    (tmp_path / "docs/nowhere.md").write_text("# Nowhere")
    with (tmp_path / "docs/index.md").open("a") as page:
        page.write("\n[a](no.md) [b](tutorial.md#no) [c](/no)\n")
    said = build(tmp_path / "site", tmp_path)
    for wrong in ("nowhere.md", "'no.md'", "'tutorial.md#no'", "'/no'"):
        assert wrong in said


def test_no_page_loads_anything_from_elsewhere(built: Path) -> None:
    for page in built.rglob("*.html"):
        found = read(page)
        assert [each for each in found.found if _OUTSIDE.match(each[2])] == [], page
        assert [each for each in in_styles(found.styles) if _OUTSIDE.match(each)] == [], page
        inline = re.findall(r"<style[^>]*>(.*?)</style>", page.read_text(), re.DOTALL)
        assert [e for css in inline for e in in_styles(css) if _OUTSIDE.match(e)] == [], page


def test_no_style_and_no_picture_loads_anything_from_elsewhere(built: Path) -> None:
    for sheet in (*built.rglob("*.css"), *built.rglob("*.svg")):
        loaded = [each for each in in_styles(sheet.read_text()) if _OUTSIDE.match(each)]
        assert loaded == [], sheet


def test_every_address_in_a_script_is_known_and_out_of_use(built: Path) -> None:
    for script in built.rglob("*.js"):
        if script.parent.name == "search" or "lunr" in script.parts:
            continue  # the index has the texts of the pages; lunr/ is for other languages
        code = re.sub(r"/\*.*?\*/", "", script.read_text(), flags=re.DOTALL)
        found = set(re.findall(r"https?://[^\s\"'`)]+", code))
        assert {each for each in found if not each.startswith(_NO_ADDRESS + _SWITCHED_OFF)} == set()


def test_every_page_has_a_policy_that_lets_nothing_in_from_elsewhere(built: Path) -> None:
    for page in built.rglob("*.html"):
        (policy,) = read(page).policies
        rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
        assert rules["default-src"] == "'none'"
        allowed = {source for sources in rules.values() for source in sources.split()}
        assert allowed == {"'none'", "'self'", "'unsafe-inline'", "data:"}, page


def test_the_reference_has_every_command(built: Path) -> None:
    page = (built / "reference/commands.html").read_text()
    assert [name for name in Commands.sentences if f'id="observatory-{name}"' not in page] == []
