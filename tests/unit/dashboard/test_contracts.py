"""The page of the contracts with numba."""

from __future__ import annotations

import re
from pathlib import Path

from observatory.dashboard.pages.contracts import contracts_page
from observatory.dashboard.site import build
from observatory.store.records.contracts import Contracts
from tests import factories_frame as factory
from tests.factories_contracts import contract, contracts
from tests.factories_site import observed

EVIL = "</code><script>alert(1)</script>\"'>"


def page(records: list[Contracts], out: Path) -> str:
    build(observed(factory.frame(), contracts=records), out)
    return (out / "contracts.html").read_text("utf-8")


def text_of(html: str) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", html[html.index("<main") :]).split())


def test_without_records_there_is_no_page_and_no_link_to_one(tmp_path: Path) -> None:
    build(observed(factory.frame()), tmp_path)
    assert not (tmp_path / "contracts.html").exists()
    assert "contracts.html" not in (tmp_path / "index.html").read_text()


def test_with_records_the_page_of_runs_leads_there(tmp_path: Path) -> None:
    page([contracts()], tmp_path)
    assert 'href="contracts.html"' in (tmp_path / "health.html").read_text()


def test_without_results_the_page_is_there_all_the_same(tmp_path: Path) -> None:
    build(observed(factory.as_frame([]), contracts=[contracts()]), tmp_path)
    assert "PyTensor 3.3.7 on Python 3.13" in (tmp_path / "contracts.html").read_text()


def test_numbas_stand_in_the_order_of_their_versions_the_newest_first(tmp_path: Path) -> None:
    records = [contracts(version) for version in ("0.68.0", "0.9.1", "0.66.0", "0.68.0rc1")]
    (table,) = contracts_page(records)
    assert [numba for numba, _ in table["columns"]] == ["0.68.0", "0.68.0rc1", "0.66.0", "0.9.1"]


def test_each_pytensor_has_a_table_the_newest_first() -> None:
    records = [contracts(label=label) for label in ("2.38.3", "3.10.0", "3.3.7")]
    records.append(contracts(label="3.3.7", extras=("observatory-fault==1.0",)))
    assert [table["title"] for table in contracts_page(records)] == [
        "PyTensor 3.10.0 on Python 3.13",
        "PyTensor 3.3.7 on Python 3.13",
        "PyTensor 3.3.7 with observatory-fault==1.0 on Python 3.13",
        "PyTensor 2.38.3 on Python 3.13",
    ]


def test_what_is_broken_is_said_in_words_with_the_reason(tmp_path: Path) -> None:
    broken = [contract("uid_fork", "broken", detail="the same number twice"), contract("stamp")]
    said = text_of(page([contracts("0.67.0"), contracts("0.68.0", broken)], tmp_path))
    assert "broken 1 of 2 numba releases: 0.68.0." in said
    assert "broken uid_fork with numba 0.68.0: the same number twice" in said
    assert "Why it matters: uid_fork is needed." in said
    assert "uid_fork uid_fork holds broken holds" in said


def test_one_sentence_speaks_for_all_numbas_that_break_alike() -> None:
    broken = [contract("uid_fork", "broken")]
    (table,) = contracts_page([contracts(numba, broken) for numba in ("0.67.0", "0.68.0")])
    assert [numbas for _, _, numbas, *_ in table["not_held"]] == ["0.68.0 and 0.67.0"]


def test_all_statuses_are_words(tmp_path: Path) -> None:
    found = [
        contract("one"), contract("two", "broken"), contract("three", "failed"),
        contract("four", "unavailable"),
    ]  # fmt: skip
    said = text_of(page([contracts(found=found)], tmp_path))
    for row in ("one holds holds", "two holds broken", "three holds not judged"):
        assert row in said
    assert "four holds not used" in said


def test_a_contract_that_only_some_records_have_leaves_a_gap() -> None:
    new = [contract("uid_fork"), contract("new")]
    old = contracts("0.67.0", [contract("uid_fork")])
    (table,) = contracts_page([old, contracts("0.68.0", new)])
    ((_, rows),) = table["groups"]
    assert [[cell.text for cell in cells] for _, _, cells in rows] == [
        ["holds", "holds"],
        ["holds", "-"],
    ]


def test_a_numba_beyond_the_bounds_is_marked(tmp_path: Path) -> None:
    said = text_of(page([contracts("0.68.0"), contracts("0.68.1", lifted=True)], tmp_path))
    assert "0.68.1 beyond PyTensor's bounds 0.68.0" in said.replace("&#39;", "'")


def test_everything_that_holds_is_said_too(tmp_path: Path) -> None:
    assert "holds everything that this PyTensor uses, with 1 numba release." in text_of(
        page([contracts()], tmp_path)
    )


def test_hostile_texts_stay_text(tmp_path: Path) -> None:
    found = [
        contract("uid_fork", "broken", detail=EVIL, needed=EVIL, holds=EVIL),
        contract("x" * 150, area="y" * 150), contract(EVIL, "failed", area=EVIL),
    ]  # fmt: skip
    html = page([contracts(EVIL, found, declared=EVIL)], tmp_path)
    assert "<script>alert" not in html
    assert "&lt;script&gt;" in html
    assert re.findall(r"<script(?![^>]*src=)", html) == []


def test_the_order_of_the_files_does_not_matter(tmp_path: Path) -> None:
    records = [contracts("0.67.0"), contracts("0.68.0"), contracts(label="2.37.0")]
    assert page(records, tmp_path / "a") == page(records[::-1], tmp_path / "b")
