"""PYTENSOR_FLAGS: what is written is read again, whatever stands in a value."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from observatory.benchmarks.flags import flag, parsed

VALUES = st.text(st.sampled_from("ab /=,#'\"\\-Wl"), max_size=12).map(str.strip)


@given(st.dictionaries(st.sampled_from(["one", "two__three"]), VALUES))
def test_flags_are_read_as_they_were_written(flags: dict[str, str]) -> None:
    assert dict(parsed(",".join(flag(*each) for each in flags.items()))) == flags


def test_what_is_no_flag_is_left_out() -> None:
    assert dict(parsed(" , floatX = float32 ,nothing,,")) == {"floatX": "float32"}


def test_an_open_quote_is_an_error() -> None:
    with pytest.raises(ValueError, match="No closing quotation"):
        dict(parsed("cxxflags='-O1"))
