"""A series as a row of the lists, without a template."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from observatory.dashboard import rows
from observatory.dashboard.drawing.series import Spark, spark
from observatory.dashboard.pages.newest_value import NewestChange
from observatory.dashboard.rendering import macro
from tests import factories_frame as factory
from tests.factories_site import observed

HOSTILE = "<script>alert(\"1\" + '2')&amp;"
places = st.floats(0, 84).map(lambda x: round(x, 1))


@given(places, places, st.lists(places, max_size=3))
def test_a_spark_is_that_of_the_template(x: float, y: float, steps: list[float]) -> None:
    drawn = Spark("3,4 5,6", x, y, tuple(steps))
    assert rows._spark(drawn, "b-s1") == macro("_spark.html", "spark", {})(drawn, "b-s1").strip()


@pytest.mark.parametrize("of_caches", [True, False])
def test_no_text_of_a_row_is_markup(of_caches: bool) -> None:
    site = observed(factory.frame())
    track = site.tracks[0]
    line = replace(
        track.series.line,
        subjects=tuple(replace(one, label=HOSTILE) for one in track.series.line.subjects),
    )
    place = track.series.place._replace(model="", scenario=HOSTILE, metric=HOSTILE, unit=HOSTILE)
    odd = replace(track, series=replace(track.series, line=line, place=place))
    shown = replace(site, tracks=[odd, *site.tracks[1:]])
    change = NewestChange("bad", HOSTILE, HOSTILE)
    found = rows.row(shown, 0, change, spark(odd), of_caches)
    assert found.count("&lt;script&gt;") == 5, "name, metric, subject, words, noise"
    assert "<script" not in found
    assert "&amp;amp;" in found


def test_words_of_the_glossary_are_linked_where_there_is_one() -> None:
    site = observed(factory.frame())
    change = NewestChange("quiet", "as before")
    with_links, without = (rows.row(site, 0, change, None, each) for each in (True, False))
    assert 'href="../words.html#' in with_links
    assert "words.html" not in without
