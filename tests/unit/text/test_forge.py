"""Addresses that exist, and none that do not."""

from __future__ import annotations

import pytest

from observatory.store.asv.config import AsvConfig, beside, load
from observatory.store.base.problems import RecordError
from observatory.text.forge import Forge, forge_of

SYNTHETIC, REAL = "90de0405" * 5, "3df0a9a8" * 5


def test_releases_are_tags_commits_are_commits_and_ranges_are_compared() -> None:
    forge = forge_of(AsvConfig("numba", repo="git@github.com:numba/numba.git"))
    assert forge.of("3.3.8", SYNTHETIC) == "https://github.com/numba/numba/releases/tag/rel-3.3.8"
    assert forge.of("3df0a9a8", REAL) == f"https://github.com/numba/numba/commit/{REAL}"
    assert forge.of("3.3.7+whl.0a1b2c3d", SYNTHETIC) == ""
    ends = ("3.3.7", SYNTHETIC), ("3.3.8", SYNTHETIC)
    assert forge.between(*ends) == "https://github.com/numba/numba/compare/rel-3.3.7...rel-3.3.8"
    assert forge.pull_request(7) == "https://github.com/numba/numba/pull/7"


def test_the_address_of_commits_that_asv_is_given_is_used() -> None:
    forge = forge_of(AsvConfig(show_commit_url="http://code.example.org/p/commit/"))
    assert forge.of("3df0a9a8", REAL) == f"https://code.example.org/p/commit/{REAL}"
    assert forge.between(("3df0a9a8", REAL), ("3df0a9a8", REAL)) == ""


@pytest.mark.parametrize("url", ["javascript:alert(1)", "/home/me/numba", "file:///numba"])
def test_what_is_no_address_of_the_web_makes_none(url: str) -> None:
    assert forge_of(AsvConfig(repo=url, show_commit_url=url)) == Forge()


def test_a_configuration_with_comments_is_read_and_is_found_beside_the_results(tmp_path) -> None:
    path = tmp_path / "asv.conf.json"
    path.write_text(
        """{// a comment
        "project": "numba", /* another */ "repo": "https://github.com/numba/numba.git",
        "matrix": {"numpy": [], // the last
        },
        }"""
    )
    (tmp_path / "results").mkdir()
    assert beside(tmp_path / "results") == path
    assert load(path).project == "numba"
    assert load(path).repo == "https://github.com/numba/numba.git"
    path.write_text("[1, 2")
    with pytest.raises(RecordError, match=r"cannot be read as asv\.conf\.json"):
        load(path)
