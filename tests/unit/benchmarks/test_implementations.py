"""Whose code changed under the same version, in sources of two releases."""

from __future__ import annotations

from pathlib import Path

import pytest

from observatory.benchmarks.implementations import implementations, same_version

BEFORE = '''
@register(Dot)
def dot(op):
    """Multiply."""
    fn = njit(lambda x, y: x @ y)  # as NumPy does
    cache_version = 1
    return fn, cache_version
'''


def changed(tmp_path: Path, *replaced: tuple[str, str], before: str = BEFORE) -> list[str]:
    after = before
    for old, new in replaced:
        assert old in after
        after = after.replace(old, new)
    sides = []
    for name, source in (("old", before), ("new", after)):
        dispatch = tmp_path / name / "pytensor" / "link" / "numba" / "dispatch"
        (dispatch / "linalg").mkdir(parents=True)
        (dispatch / "linalg" / "products.py").write_text(source)
        sides.append(implementations(tmp_path / name))
    return [name for name, _ in same_version(*sides)]


def test_other_code_under_the_same_version_is_named(tmp_path: Path) -> None:
    assert changed(tmp_path, ("x @ y", "y @ x")) == ["dot"]


def test_other_code_under_another_version_is_not(tmp_path: Path) -> None:
    assert changed(tmp_path, ("x @ y", "y @ x"), ("= 1", "= 2")) == []


@pytest.mark.parametrize("replaced", [("= 1", "= 2"), ("as NumPy", "like NumPy"), ("Multi", "Ap")])
def test_a_version_a_comment_or_a_text_is_no_code(
    tmp_path: Path, replaced: tuple[str, str]
) -> None:
    assert changed(tmp_path, replaced) == []


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
