"""Texts of strangers in what commands print: the runner of a workflow obeys none of them."""

from __future__ import annotations

import io
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from observatory.cli.guarded import _Guarded
from observatory.cli.output import append_summary
from observatory.errors import Exit
from observatory.text.plain import for_log
from scripts.new_commits import say
from tests import factories_comparison as factory
from tests.factories_asv import foreign

OBEYED = re.compile(r"^\s*::|##\[", re.MULTILINE)
"""What the runner of a GitHub workflow takes for a command (`ActionCommand.TryParse`)."""
ORDERS = (
    "\n::set-env name=PATH::x\r\n  ::add-mask::a\n##[error]b\x1b[2K\x1b]0;t\x07\u202e\u2028::stop"
)
pieces = st.lists(st.sampled_from(
    [":", "::", "#", "##", "##[", "[", " ", "\n", "\t", "\r", "\x1b", "x", "é", "\u2028", "\x85"]
) | st.text(max_size=3), max_size=12)  # fmt: skip


def obeyed(said: str) -> list[str]:
    control = {one for one in said if not one.isprintable() and one not in "\n\t"}
    return OBEYED.findall(said) + sorted(control)


def run(*arguments: str | Path) -> tuple[int, str]:
    """Exit status, and all that was printed, byte for byte."""
    command = [sys.executable, "-m", "observatory", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, check=False)
    return done.returncode, (done.stdout + done.stderr).decode()


@given(pieces)
def test_nothing_that_is_written_in_pieces_is_a_command(parts: list[str]) -> None:
    written = io.StringIO()
    stream = _Guarded(written)
    for part in parts:
        stream.write(part)
    assert obeyed(written.getvalue()) == []
    assert obeyed(for_log("".join(parts))) == []
    assert for_log(for_log("".join(parts))) == for_log("".join(parts))


@given(st.text(st.characters(codec="ascii", exclude_characters=":#", categories=["L", "N", "P"])))
def test_plain_text_stays_as_it_is(text: str) -> None:
    assert for_log(f"{text}\n\t{text}") == f"{text}\n\t{text}"


def test_bytes_are_not_taken_for_text_and_go_past() -> None:
    raw = io.BytesIO()
    stream = _Guarded(io.TextIOWrapper(raw))
    with pytest.raises(TypeError):
        stream.write(b"")  # type: ignore[arg-type]
    stream.buffer.write(b"\x00")
    stream.flush()
    assert raw.getvalue() == b"\x00"


@pytest.mark.parametrize("order", [("##", "[error]x"), ("::", "error::x"), (":", ":error::x")])
@pytest.mark.parametrize("before", [" " * 1000, " " * 999 + "x"])
def test_a_long_line_is_not_remembered(before: str, order: tuple[str, str]) -> None:
    written = io.StringIO()
    stream = _Guarded(written)
    for part in (before, *order):
        stream.write(part)
    assert obeyed(written.getvalue()) == []


@pytest.mark.parametrize("added", [{ORDERS: 0}, {ORDERS[:60]: ORDERS, ORDERS[60:]: [ORDERS]}])
def test_a_key_of_a_comparison_gives_no_orders(tmp_path: Path, added: dict[str, object]) -> None:
    good = json.loads(factory.slower().model_dump_json(by_alias=True))
    file = tmp_path / "comparison.json"
    file.write_text(json.dumps(good | added))
    code, said = run("comment", file, "--summary", tmp_path / "summary.md")
    assert code == Exit.ARTIFACT
    assert obeyed(said) == []


def test_texts_of_a_comparison_give_no_orders(tmp_path: Path) -> None:
    good = json.loads(factory.slower().model_dump_json(by_alias=True))
    good["warnings"] = [ORDERS]
    good["reproduce"] = ORDERS
    for verdict in good["verdicts"]:
        verdict["reason"] = ORDERS
        verdict["cell"]["model"] = ORDERS
    file = tmp_path / "comparison.json"
    file.write_text(json.dumps(good))
    code, said = run("comment", file, "--summary", tmp_path / "summary.md")
    assert code == Exit.OK, said
    assert obeyed(said + (tmp_path / "summary.md").read_text()) == []


def test_names_of_files_machines_and_benchmarks_give_no_orders(tmp_path: Path) -> None:
    results = tmp_path / "results"
    machine = results / f"ma{ORDERS[:30]}"
    machine.mkdir(parents=True)
    content = foreign({f"bench{ORDERS}": [[1.5]], "broken": ORDERS})
    (machine / f"c0ffee00-{ORDERS[1:20]}.json").write_text(json.dumps(content))
    (machine / f"beef{ORDERS[:20]}.json").write_text(ORDERS)
    for words in (["show"], ["show", f"no{ORDERS}"], ["alerts"]):
        code, said = run(*words, "--results", results)
        assert code != Exit.UNEXPECTED
        assert "beef" in said
        assert obeyed(said) == [], words


def test_what_a_workflow_passes_on_gives_no_orders() -> None:
    """Names of branches become arguments, and typer prints them itself."""
    code, said = run(f"no-command{ORDERS}")
    assert code == Exit.USAGE
    assert obeyed(said) == []
    code, said = run("show", f"--no-option{ORDERS}")
    assert code == Exit.USAGE
    assert obeyed(said) == []


def test_a_summary_holds_no_control_characters(tmp_path: Path) -> None:
    append_summary(tmp_path / "summary.md", f"one{ORDERS}\n| a | b |\n")
    text = (tmp_path / "summary.md").read_text()
    assert obeyed(text) == []
    assert text.endswith("\n| a | b |\n")


def test_every_script_that_a_workflow_runs_guards_what_it_prints() -> None:
    """Messages of git, pytest and a forge, and names of commits, pass through them."""
    root = Path(__file__).parents[3]
    steps = "\n".join(path.read_text() for path in (root / ".github/workflows").glob("*.yml"))
    run_by = re.findall(r"\.venv/bin/python (?:-m scripts\.|scripts/)(\w+)", steps)
    assert len(set(run_by)) >= 6
    for name in run_by:
        source = (root / "scripts" / f"{name}.py").read_text()
        assert "with guarded():\n        sys.exit(main())" in source, name


def test_what_a_script_says_of_strangers_gives_no_orders(tmp_path: Path) -> None:
    summary = tmp_path / "summary.md"
    words = ("--repo", str(tmp_path), "--stored", str(tmp_path), "--branch", f"b{ORDERS}")
    script = Path(__file__).parents[3] / "scripts/new_commits.py"
    done = subprocess.run([sys.executable, script, *words], capture_output=True, check=False)
    assert done.returncode not in (0, 1)
    assert b"add-mask" in done.stderr
    assert obeyed(done.stderr.decode()) == []
    say(summary, f"no commit{ORDERS}")
    assert obeyed(summary.read_text()) == []
