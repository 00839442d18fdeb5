from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from observatory.text.plain import begun, clean, shorten

HIDDEN = ("\x00", "\x1b", "\u200b", "\u202e", "\u2066", "\ufeff", "\u0301", "\u05d0", "\U000e0041",
          "\ue000")  # fmt: skip


@pytest.mark.parametrize("hidden", HIDDEN)
def test_what_hides_moves_or_reorders_is_replaced_and_not_dropped(hidden: str) -> None:
    assert clean(f"x{hidden}b") == "x\ufffdb"


def test_letters_and_signs_of_the_trade_stay() -> None:
    assert clean("4.9 µs → σ² naïve") == "4.9 µs → σ² naïve"


def test_every_kind_of_space_is_one_space() -> None:
    assert clean(" a\t\r\n b\u00a0\u2003c ") == "a b c"


@given(st.text())
def test_a_clean_text_is_one_visible_line_and_stays_so(text: str) -> None:
    cleaned = clean(text)
    assert clean(cleaned) == cleaned
    assert not {unicodedata.category(c)[0] for c in cleaned.replace(" ", "")} - set("LNPS")


@given(st.text(max_size=500), st.integers(min_value=3, max_value=90))
def test_a_short_text_stays_and_a_long_one_keeps_both_ends(text: str, most: int) -> None:
    short = shorten(text, most)
    assert len(short) <= most
    if len(clean(text)) <= most:
        assert short == clean(text)
    else:
        assert "…" in short


@given(st.text(max_size=500), st.integers(min_value=3, max_value=90))
def test_a_long_sentence_keeps_its_beginning_word_by_word(text: str, most: int) -> None:
    short, cleaned = begun(text, most), clean(text)
    assert len(short) <= most
    if len(cleaned) <= most:
        assert short == cleaned
    else:
        assert short.endswith("…")
        kept = short.removesuffix("…")
        assert cleaned.startswith(kept)
        assert " " not in cleaned[: most - 1] or cleaned[len(kept)] == " "


def test_a_number_is_not_cut() -> None:
    told = "3.3.4 leaves more files: 248 to 256 (radon)"
    assert begun(told, 38) == "3.3.4 leaves more files: 248 to 256…"
    assert begun(told, 34) == "3.3.4 leaves more files: 248 to…"


def test_a_text_of_megabytes_is_cut_before_it_is_read() -> None:
    assert shorten("ab" * 10**7, 20) == "ababababababa…ababab"
