"""Whose code changed under the same version, in sources of two releases."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from observatory.benchmarks import implementations as module
from observatory.benchmarks.implementations import implementations, same_version

BEFORE = '''
@register(Dot)
def dot(op):
    """Multiply."""
    fn = njit(lambda x, y: x @ y)  # as NumPy does
    cache_version = 1
    return fn, cache_version
'''


OF_NUMBA = "link/numba/dispatch/linalg/products.py"


def written(packages: Path, source: str, module: str = OF_NUMBA) -> Path:
    path = packages / "pytensor" / module
    path.parent.mkdir(parents=True)
    path.write_text(source)
    return packages


def changed(
    tmp_path: Path, *replaced: tuple[str, str], before: str = BEFORE, module: str = OF_NUMBA
) -> list[str]:
    after = before
    for old, new in replaced:
        assert old in after
        after = after.replace(old, new)
    sides = [
        implementations(written(tmp_path / name, source, module))
        for name, source in (("old", before), ("new", after))
    ]
    return [name for name, _ in same_version(*sides)]


def test_other_code_under_the_same_version_is_named(tmp_path: Path) -> None:
    assert changed(tmp_path, ("x @ y", "y @ x")) == ["dot"]


def test_other_code_under_another_version_is_not(tmp_path: Path) -> None:
    assert changed(tmp_path, ("x @ y", "y @ x"), ("= 1", "= 2")) == []


@pytest.mark.parametrize(
    "replaced",
    [
        ("= 1", "= 2"), ("as NumPy", "like NumPy"), ("Multi", "Ap"),
        ("(op):", "(op: Op) -> None:"), ("fn: int =", "fn ="),
        ("    fn: int", "    fn: Any\n    fn: int"),
    ],
)  # fmt: skip
def test_a_version_a_comment_a_text_or_an_annotation_is_no_code(
    tmp_path: Path, replaced: tuple[str, str]
) -> None:
    before = BEFORE.replace("fn =", "fn: int =")
    assert changed(tmp_path, replaced, before=before) == []


PART = """
@step.register(Maximum)
def maximum(op):
    return ["if a < b"]
"""


@pytest.mark.parametrize(("version", "named"), [("= 2", []), ("= 1", ["maximum"])])
def test_a_part_without_a_version_changes_with_the_version_of_another_in_its_module(
    tmp_path: Path, version: str, named: list[str]
) -> None:
    replaced = ("if a < b", "if a < b or b != b"), ("= 1", version)
    assert changed(tmp_path, *replaced, before=BEFORE + PART) == named


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("return fn, cache_version", "return fn"),
        ("    cache_version = 1\n    return fn, cache_version", "    return fn"),
    ],
)
def test_a_version_that_leaves_the_key_is_named(tmp_path: Path, old: str, new: str) -> None:
    assert changed(tmp_path, (old, new)) == ["dot"]


@pytest.mark.parametrize("line", ["return fn, 1", "return fn, key(op, cache_version=1)"])
def test_a_version_is_found_where_it_is_written(tmp_path: Path, line: str) -> None:
    source = BEFORE.replace("    cache_version = 1\n", "").replace("return fn, cache_version", line)
    assert changed(tmp_path, ("x @ y", "y @ x"), ("1", "2"), before=source) == []


def test_functions_that_nobody_registers_are_not_looked_at(tmp_path: Path) -> None:
    source = BEFORE.replace("@register(Dot)\n", "")
    assert changed(tmp_path, ("x @ y", "y @ x"), before=source) == []


def test_what_an_inner_function_returns_is_code(tmp_path: Path) -> None:
    source = BEFORE.replace(
        "    fn = njit(lambda x, y: x @ y)  # as NumPy does\n",
        "    def fn(x, y):\n        return x, 7\n",
    )
    assert changed(tmp_path, ("x, 7", "x, 8"), before=source) == ["dot"]


def test_an_inversion_is_no_version(tmp_path: Path) -> None:
    source = BEFORE.replace("    cache_version", "    inversion = 5\n    cache_version")
    assert changed(tmp_path, ("= 5", "= 6"), before=source) == ["dot"]


IN_C = """
class CumOp(COp):
    def c_code(self, node, name):
        return f"code {self.mode}"

    def c_code_cache_version(self):
        return (8, *super().c_code_cache_version())

    def perform(self, node):
        return 1
"""


@pytest.mark.parametrize(
    ("replaced", "named"),
    [
        ([("code {", "other {")], ["CumOp (C)"]),
        ([("code {", "other {"), ("(8", "(9")], []),
        ([("code {", "other {"), ("8, *super().c_code_cache_version()", "8,")], []),
        ([("code {", "other {"), ("(8, *super().c_code_cache_version())", "()")], []),
        ([("return 1", "return 2")], []),
        ([("(8", "(9")], []),
    ],
)
def test_code_in_c_has_the_version_of_its_class(
    tmp_path: Path, replaced: list[tuple[str, str]], named: list[str]
) -> None:
    assert changed(tmp_path, *replaced, before=IN_C, module="tensor/extra_ops.py") == named


def test_a_class_that_has_only_a_version_is_no_implementation(tmp_path: Path) -> None:
    source = IN_C.replace("def c_code(", "def of_another_kind(")
    path = written(tmp_path, source, "tensor/extra_ops.py")
    assert implementations(path) == {}


@pytest.mark.parametrize(
    ("new", "status", "said"),
    [
        (BEFORE, 0, "0 of 1 changed"),
        (BEFORE.replace("x @ y", "y @ x"), 1, "dot: version 1"),
        (BEFORE.replace("Dot)", "Dot, 2)"), 0, "2 are new, gone or registered in another way"),
        ("def (", 2, "needs a newer Python"),
        ("", 2, "there are no implementations in"),
    ],
)
def test_the_status_says_whether_any_was_named_or_nothing_could_be_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
    new: str, status: int, said: str,
) -> None:  # fmt: skip
    sides = written(tmp_path / "old", BEFORE), written(tmp_path / "new", new)
    monkeypatch.setattr("sys.argv", ["implementations", *map(str, sides)])
    with pytest.raises(SystemExit) as ended:
        module.main()
    printed = capsys.readouterr()
    assert (ended.value.code or 0) == status
    assert said in printed.out + printed.err


@pytest.mark.parametrize(
    ("new", "status", "record"),
    [
        (BEFORE.replace("x @ y", "y @ x"), 1,
         {"compared": 1, "changed": [{"name": "dot", "versions": [1]}]}),
        ("", 0, {"compared": 0, "changed": []}),
    ],
)  # fmt: skip
def test_a_record_says_what_a_person_would_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
    new: str, status: int, record: object,
) -> None:  # fmt: skip
    sides = written(tmp_path / "old", BEFORE), written(tmp_path / "new", new)
    monkeypatch.setattr("sys.argv", ["implementations", "--json", *map(str, sides)])
    with pytest.raises(SystemExit) as ended:
        module.main()
    assert (ended.value.code or 0) == status
    assert json.loads(capsys.readouterr().out) == record
