"""The pages of the reference are what the code says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from observatory.app.schemas import schemas
from observatory.benchmarks.catalogue import BACKENDS, LAUNCHES, METRICS, MODELS, SCENARIOS
from observatory.cli.main import Commands
from observatory.errors import Exit
from scripts import reference
from scripts.docs.markdown import (
    cell,
    code,
    fenced,
    limits,
    schema_tables,
    table,
    type_of,
)

ADVICE = "the reference is not what the code says: `make docs`, and commit what it writes"


@pytest.fixture(scope="module")
def made() -> dict[str, str]:
    return reference.pages()


def test_the_committed_files_are_those_that_the_code_makes() -> None:
    assert reference.stale(reference.files(reference.ROOT), reference.ROOT) == [], ADVICE


def test_every_command_is_there_with_its_options(made: dict[str, str]) -> None:
    page = made["commands.md"]
    for name in Commands.sentences:
        help_ = page.split(f"## observatory {name}\n", 1)[1].split("\n## ", 1)[0]
        assert f"Usage: observatory {name}" in help_
        assert "--help" in help_


def test_help_is_as_wide_in_any_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    wide = reference.help_of(["show"])
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert reference.help_of(["show"]) == wide
    assert max(map(len, wide.splitlines())) <= reference.WIDTH
    assert "\x1b" not in wide


def test_every_exit_status_and_every_word_is_there(made: dict[str, str]) -> None:
    statuses = made["exit-statuses.md"]
    assert [one for one in Exit if f"| `{one.value}` | `{one.name}` |" not in statuses] == []
    words = made["metrics.md"]
    for known in (BACKENDS, LAUNCHES, METRICS, MODELS, SCENARIOS):
        assert [name for name in known if f"\n| `{name}` |" not in words] == []


def test_every_published_schema_is_there(made: dict[str, str]) -> None:
    for name in schemas():
        assert f"](../schemas/{name})" in made["schemas.md"]


def test_a_page_that_is_missing_or_differs_is_stale(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("a")
    assert reference.stale({"a.md": "a", "b.md": "b"}, tmp_path) == ["b.md"]
    assert reference.stale({"a.md": "A"}, tmp_path) == ["a.md"]


def test_checking_writes_nothing_and_writing_makes_the_check_pass(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(reference, "files", lambda _: {"new/a.md": "text\n"})
    assert reference.main(["--check"], tmp_path) == 1
    assert "new/a.md is stale" in capsys.readouterr().out
    assert not (tmp_path / "new").exists()
    assert reference.main([], tmp_path) == 0
    assert reference.main(["--check"], tmp_path) == 0


def link(name: str) -> str:
    return f"<{name}>"


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        ({"type": "string"}, "string"),
        ({"type": "string", "format": "date-time"}, "date-time"),
        ({"$ref": "#/$defs/Cell"}, "<Cell>"),
        ({"anyOf": [{"$ref": "#/$defs/Cell"}, {"type": "null"}]}, "<Cell> or null"),
        ({"type": "array", "items": {"type": "integer"}}, "list of integer"),
        ({"type": "array", "prefixItems": [{"type": "integer"}, {"type": "string"}]},
         "list: integer, string"),
        ({"type": "object", "additionalProperties": {"type": "number"}},
         "object: each value number"),
        ({"enum": ["a", 1]}, '`"a"` or `1`'),
        ({"const": "x"}, '`"x"`'),
        ({}, "anything"),
    ],
)  # fmt: skip
def test_a_type_is_said_in_words(schema: dict[str, Any], said: str) -> None:
    assert type_of(schema, link) == said


def test_limits_are_those_of_a_value_and_of_what_it_is_made_of() -> None:
    schema = {
        "anyOf": [
            {"maxItems": 1000, "items": {"maxLength": 200}, "type": "array"},
            {"type": "null"},
        ]
    }
    assert list(limits(schema)) == ["at most 1,000", "each at most 200 characters"]
    assert list(limits({"minimum": 0, "pattern": "^a$"})) == ["≥ 0", "`^a$`"]


def test_an_object_that_two_schemas_have_alike_is_told_once_and_another_one_twice() -> None:
    def schema(*kinds: str) -> dict[str, Any]:
        fields = {kind: {"type": kind} for kind in kinds}
        return {
            "title": "T",
            "properties": {"part": {"$ref": "#/$defs/Part"}},
            "$defs": {"Part": {"type": "object", "properties": fields}},
        }

    page = "\n".join(
        schema_tables({"a": schema("string"), "b": schema("string"), "c": schema("number")})
    )
    assert page.count("### Part\n") == 1
    assert page.count("### Part (2)\n") == 1
    assert page.count("[Part](#part)") == 2
    assert page.count("[Part](#part-2)") == 1


def test_what_a_table_cannot_hold_is_escaped() -> None:
    assert code("a|b") == "<code>a&#124;b</code>"
    assert code("a`b|") == "<code>a&#96;b&#124;</code>"
    assert cell("a |\n <b> *c* [d]") == "a &#124; &lt;b&gt; &#42;c&#42; &#91;d]"
    assert fenced("```\nx") == "````text\n```\nx\n````"
    assert table(("a", "b"), [("1", "2")]) == "| a | b |\n| --- | --- |\n| 1 | 2 |"
