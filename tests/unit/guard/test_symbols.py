from __future__ import annotations

import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st

from observatory.guard.scan.symbols import SMALLEST_RANDOM, Name, class_of, parse
from tests.factories_scan import RANDOM_UID, mangled

# As numba 0.68 wrote them; only the types at the end are cut.
FLAGS = "B108c8tJTIeFIjxB2IKSgI4CrvQClYb5wBbdC9XqiUXJBeo6CupFwBRTnJ8MYuYVV4Go5Py8kqLE5BIQOzEtT71WExjUaLEONR8zjcAkiiBO0AQA"  # noqa: E501
OUTER = "8pytensor4link5numba8dispatch5basic22numba_funcified_fgraphB2v1B98c8tJTIeFIjxB2IKSgI4CrvQClYb5wBbdC9XqiUXJBeo6CupFwBRTnJ8MYuYVV4Go5Py8kqLE5BIQOzEtT71WExjURRAjNQE_3dE8UniTupleI5ArrayIdLi1E1C7mutable7alignedELi1EE"  # noqa: E501
FGRAPH = "pytensor.link.numba.dispatch.basic.numba_funcified_fgraph"


@pytest.mark.parametrize(
    ("symbol", "name"),
    [
        (f"_ZN{OUTER}", Name(FGRAPH, 1, False)),
        (f"_ZN7cpython{OUTER}", Name(FGRAPH, 1, True)),
        (f"cfunc._ZN{OUTER}", Name(FGRAPH, 1, True)),
        (f"__gufunc__._ZN{OUTER}", Name(FGRAPH, 1, True)),
        (f"_ZN13_3cdynamic_3e5splitB3v75{FLAGS}E5ArrayIdLi1E", Name("<dynamic>.split", 75, False)),
        (
            f"_ZN5numba2np8arrayobj14np_array_split12_3clocals_3e4implB4v104{FLAGS}E5Array",
            Name("numba.np.arrayobj.np_array_split.<locals>.impl", 104, False),
        ),
        (
            f"_ZN5numba7cpython7unicode14unicode_concat12_3clocals_3e11concat_implB3v98{FLAGS}E",
            Name("numba.cpython.unicode.unicode_concat.<locals>.concat_impl", 98, False),
        ),
        (
            f"_ZN8pytensor4link5numba8dispatch5basic3addB40v293792422522192729068035685150204097967{FLAGS}E15Star",
            Name(
                "pytensor.link.numba.dispatch.basic.add",
                293792422522192729068035685150204097967,
                False,
            ),
        ),
        (f"_Z3addB3v17{FLAGS}dd", Name("add", 17, False)),
        ("_ZN3ns_6a_3cb_B1cE", Name("ns_.a_3cb_", None, False)),
    ],
)  # fmt: skip
def test_a_symbol_is_read_as_name_uid_and_whether_it_is_a_wrapper(symbol: str, name: Name) -> None:
    assert parse(symbol) == name


@pytest.mark.parametrize(
    "symbol",
    [
        "", "NRT_incref", "NRT_decref", ".dtor.list.array(float64, 1d, C)", "main", "_Z", "_ZN",
        "_ZNE", "_ZN0E", "_ZN3addB3v17", "_ZN99999addE", "_ZN" + "9" * 5000 + "addE", "cfunc.",
        "__excinfo_unwrap_args2a69829f126f4a7013ea1e2468c3325e564f5cc6", "cfunc.NRT_incref",
        "_ZN3add3subB", "_Z5add",
    ],
)  # fmt: skip
def test_what_numba_did_not_mangle_is_no_name(symbol: str) -> None:
    assert parse(symbol) is None


@given(st.text(max_size=50) | st.text("_ZNBEv0123456789a.", max_size=50).map("_ZN".__add__))
def test_any_text_is_a_name_or_none(text: str) -> None:
    assert isinstance(parse(text), Name | None)


def test_the_mangler_of_the_tests_writes_what_numba_would() -> None:
    assert parse(mangled(FGRAPH, 1)) == Name(FGRAPH, 1, False)
    assert parse(mangled(FGRAPH, 1, wrapper="cpython")) == Name(FGRAPH, 1, True)


def test_uids_that_are_drawn_are_told_from_counted_ones() -> None:
    assert Name("f", 1, False).counted
    assert Name("f", SMALLEST_RANDOM - 1, False).counted
    assert not Name("f", RANDOM_UID, False).counted
    assert not Name("f", None, False).counted
    assert uuid.UUID(int=0, version=4).int > SMALLEST_RANDOM


def test_functions_of_numbas_modules_are_told_from_those_that_functions_make() -> None:
    assert Name("numba.np.random.distributions.random_loggam", 17, False).fixed
    assert not Name("numba.np.arrayobj.np_array_split.<locals>.impl", 17, False).fixed
    assert not Name("numbagg.moving.move_mean", 17, False).fixed
    assert not Name("pytensor.link.numba.dispatch.basic.add", 17, False).fixed


@pytest.mark.parametrize(
    ("uid", "bodies", "compiled", "expected"),
    [
        (17, 1, 1, "vulnerable"),
        (17, 2, 2, "collided"),
        (17, 2, 1, "vulnerable"),
        (RANDOM_UID, 1, 1, None),
        (RANDOM_UID, 2, 1, "harmless"),
        (RANDOM_UID, 2, 2, "harmless"),
        (None, 1, 1, None),
        (None, 2, 2, "harmless"),
    ],
)
def test_a_symbol_has_the_class_of_its_uid_and_its_bodies(
    uid: int | None, bodies: int, compiled: int, expected: str | None
) -> None:
    assert class_of(Name("f", uid, False), bodies, compiled) == expected
    if uid is None:
        assert class_of(None, bodies, compiled) == expected


@pytest.mark.parametrize(("bodies", "expected"), [(1, None), (2, "harmless")])
def test_what_is_one_in_a_version_of_numba_cannot_collide(
    bodies: int, expected: str | None
) -> None:
    assert class_of(Name("numba.np.random.distributions.f", 17, False), bodies, bodies) == expected
