"""The page of caches under faults."""

from __future__ import annotations

import re
from datetime import timedelta
from pathlib import Path

from observatory.dashboard.pages.torture import torture_page
from observatory.dashboard.site import build
from observatory.store.records.torture import Torture
from tests import factories_frame as factory
from tests.factories_site import observed
from tests.factories_torture import STARTED, fault, torture

EVIL = "</code><script>alert(1)</script>\"'>"
DAY = timedelta(days=1)


def page(records: list[Torture], out: Path) -> str:
    build(observed(factory.frame(), faults=records), out)
    return (out / "torture.html").read_text("utf-8")


def text_of(html: str) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", html[html.index("<main") :]).split())


def test_without_records_there_is_no_page_and_no_link_to_one(tmp_path: Path) -> None:
    build(observed(factory.frame()), tmp_path)
    assert not (tmp_path / "torture.html").exists()
    assert "torture.html" not in (tmp_path / "index.html").read_text()


def test_the_newest_release_is_the_first_column() -> None:
    records = [torture("3.0.0", date=STARTED - DAY), torture("3.1.0")]
    (matrix,) = torture_page(records)["matrices"]
    assert [label for label, _ in matrix["columns"]] == ["3.1.0", "3.0.0"]
    assert torture_page(records[::-1]) == torture_page(records)


def test_a_machine_has_a_matrix_of_its_own() -> None:
    records = [torture(), torture(machine="other")]
    titles = [one["title"] for one in torture_page(records)["matrices"]]
    assert titles == [
        "bench, Python 3.13, with --steps 12",
        "other, Python 3.13, with --steps 12",
    ]


def test_the_matrix_of_the_newest_release_comes_first() -> None:
    old, new = torture("3.0.0", date=STARTED - DAY), torture("3.1.0", machine="other")
    matrices = torture_page([old, new])["matrices"]
    assert [one["newest"] for one in matrices] == ["3.1.0", "3.0.0"]


def test_the_page_says_who_filled_the_caches_of_others(tmp_path: Path) -> None:
    record = torture()
    assert record.tried is not None
    others = {"python": "3.12.1", "numba": "0.67.0", "pytensor": "3.3.7<b>"}
    with_others = record.model_copy(
        update={"tried": record.tried.model_copy(update={"others": others})}
    )
    html = page([with_others], tmp_path)
    assert (
        "The other versions in of_python, of_numba and of_pytensor are Python 3.12.1, numba 0.67.0 "
        "and PyTensor 3.3.7" in text_of(html)
    )
    assert "3.3.7<b>" not in html
    assert "The other versions" not in page([record], tmp_path)


def test_faults_that_leave_files_in_the_cache_are_named_the_most_first() -> None:
    faults = [
        fault("full", left=1), fault("leftovers", left=1000), fault("index_empty", left=0),
        fault("killed", left=None), fault("index_missing", left=-2),
        fault("killed", left=6, cache="c"),
        fault("exchanged", "WRONG", left=5, group="control"),
    ]  # fmt: skip
    (matrix,) = torture_page([torture(faults=faults)])["matrices"]
    assert matrix["findings"] == [
        (
            "after 2 faults, files or directories stay in numba's cache that no later process "
            "deletes: leftovers (1,000), full (1)"
        ),
        (
            "after 1 fault, files or directories stay in the C cache that no later process "
            "deletes: killed (6)"
        ),
    ]


def test_what_lasts_is_red_and_what_is_worse_is_said_first(tmp_path: Path) -> None:
    old = torture("3.0.0", [fault("full", "recompiles", "safe")], STARTED - DAY)
    new = torture("3.1.0", [fault("full", "raises", "raises")])
    (matrix,) = torture_page([old, new])["matrices"]
    assert (matrix["verdict"].text, matrix["verdict"].state) == ("1 lasting fault", "bad")
    said = text_of(page([old, new], tmp_path))
    assert "Worse than in 3.0.0: full of numba's cache: raises every time" in said.replace(
        "&#39;", "'"
    )
    assert "full full is done raises every time recompiles once" in said


def test_wrong_numbers_are_said_first() -> None:
    silent = fault("crossed", "safe", "WRONG")
    lasting, once = fault("full", "raises", "raises"), fault("torn", "raises", "safe")
    (matrix,) = torture_page([torture(faults=[silent, lasting, once])])["matrices"]
    assert matrix["verdict"].text == "1 fault with wrong numbers, 2 lasting faults"
    (matrix,) = torture_page([torture(faults=[once])])["matrices"]
    assert matrix["verdict"].text == "nothing lasts"


def test_a_fault_that_chance_decides_is_no_verdict_on_a_release() -> None:
    (matrix,) = torture_page([torture(faults=[fault("x", "dies", certain=False)])])["matrices"]
    assert matrix["verdict"].state == "good"


def test_a_control_that_was_not_seen_outranks_all(tmp_path: Path) -> None:
    blind = torture(faults=[fault("exchanged", "safe", group="control"), fault("full", "WRONG")])
    (matrix,) = torture_page([blind])["matrices"]
    assert matrix["verdict"].state == "unknown"
    assert "safe: NOT SEEN" in text_of(page([blind], tmp_path))


def test_hostile_texts_stay_text(tmp_path: Path) -> None:
    evil = fault(EVIL, "raises", cache=EVIL[:40], group=EVIL[:40], what=EVIL)
    html = page([torture(EVIL[:30], [evil], machine="bench")], tmp_path)
    assert "<script>alert" not in html
    assert re.findall(r"<script(?![^>]*src=)", html) == []
