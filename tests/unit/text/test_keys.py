"""Why keys differ, in words."""

from __future__ import annotations

from collections.abc import Sequence

from observatory.analyze.keys import Difference, KeyChange
from observatory.text.keys import told
from observatory.text.markdown import markdown


def changed(name: str, path: str = "version", base: str = "1", head: str = "2") -> KeyChange:
    return KeyChange(name, "a", "b", (Difference(("key", path), base, head),))


def same(name: str) -> KeyChange:
    return KeyChange(name, "a", "a", ())


def said(
    between: Sequence[KeyChange] = (),
    within: dict[str, Sequence[KeyChange]] | None = None,
    head: str | None = "2.0",
) -> str:
    stable = within if within is not None else {"1.0": [same("exp")], "2.0": [same("exp")]}
    return "\n\n".join(map(markdown, told("1.0", head, between, stable)))


def test_a_key_that_is_the_same_is_one_sentence() -> None:
    assert said([same("exp")]) == "The key is the same in `1.0` and in `2.0`."
    assert said([same("exp"), same("log")]) == (
        "The keys of all 2 functions are the same in `1.0` and in `2.0`."
    )


def test_stable_keys_of_one_subject_are_one_sentence() -> None:
    assert said(within={"1.0": [same("exp")]}, head=None) == (
        "The key is the same in two processes of `1.0`."
    )


def unstored(name: str) -> KeyChange:
    return KeyChange(name, "", "", ())


def test_a_function_without_a_key_is_not_called_stable() -> None:
    sides = {"1.0": [unstored("solve")], "2.0": [unstored("solve")]}
    assert said([unstored("solve")], sides) == (
        "1 function has no key in `1.0` and in `2.0`: no cache stores it, and each process "
        "compiles it again.\n\n- `solve`"
    )
    assert said([], {"1.0": [unstored("a"), unstored("b"), same("exp")]}, head=None) == (
        "2 functions have no key in `1.0`: no cache stores them, and each process compiles them "
        "again.\n\n- `a`\n- `b`\n\nThe key is the same in two processes of `1.0`."
    )


def test_a_part_that_differs_is_shown_with_both_values() -> None:
    assert said([changed("exp"), same("log")]) == (
        "1 function of 2 has a different key in `2.0` than in `1.0`.\n\n"
        "- `exp`\n\n"
        "| part of the key | 1.0 | 2.0 |\n"
        "|---|---|---|\n"
        "| `key > version` | `1` | `2` |"
    )


def test_functions_that_differ_alike_share_a_table() -> None:
    text = said([changed("exp"), changed("log"), changed("sum", base="3")])
    assert text.count("| part of the key |") == 2
    assert "- `exp`\n- `log`" in text
    assert text.index("`sum`") < text.index("`exp`")  # what few have comes first


def test_keys_of_two_processes_share_a_table_whatever_their_values() -> None:
    """A number at random is another one for each function."""
    restless = [changed("exp", base="1", head="2"), changed("log", base="3", head="4")]
    text = said([], {"1.0": restless}, head=None)
    assert text.startswith("In `1.0`, two processes give different keys to 2 functions of 2.")
    assert text.count("| part of the key |") == 1
    assert "The values are those of the first of 2:" in text


def test_what_differs_from_process_to_process_is_not_blamed_on_the_other_subject() -> None:
    within: dict[str, Sequence[KeyChange]] = {"1.0": [same("exp")], "2.0": [changed("exp")]}
    text = said([changed("exp")], within)
    assert "In `2.0`, two processes" in text
    assert "has a different key in" not in text


def test_names_and_values_of_strangers_are_only_text() -> None:
    text = said([changed("a`b|c\x1b[31m", base="x|y`z")])
    assert "\x1b" not in text
    (row,) = [line for line in text.splitlines() if "version" in line]
    assert row.count("|") - row.count("\\|") == 4


def test_an_unstable_function_hides_no_change_of_another_with_its_name() -> None:
    unstable = KeyChange("Elemwise", "u1", "u2", (Difference(("key", "id"), "1", "2"),))
    across = KeyChange("Elemwise", "u1", "u3", (Difference(("key", "id"), "1", "3"),))
    other = KeyChange("Elemwise", "v1", "v2", (Difference(("key", "version"), "1", "2"),))
    steady = KeyChange("Elemwise", "v1", "v1", ())
    text = said([across, other], {"1.0": [unstable, steady], "2.0": [steady]})
    assert "1 function of 1 has a different key in `2.0` than in `1.0`." in text
