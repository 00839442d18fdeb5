"""Comparisons as a stranger could write them: every text hostile, every number of any size."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from observatory.benchmarks.catalogue import Cell
from observatory.store.records.comparison import (
    Cause,
    Comparison,
    Difference,
    FunctionChange,
    Missing,
    Ratio,
    Values,
    Verdict,
    Workload,
)
from tests import factories_comparison as factory

FRAGMENTS = (
    "<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "</details>", "</summary>", "<!--",
    "-->", "@pytensor", "@org/team", "#123", "owner/repo#1", "GH-12", "deadbeef", "effaced",
    "0123456789abcdef", "https://e.vil/x", "www.e.vil", "www.", "a@e.vil", "[x](http://e.vil)",
    "![i](u)", "[^1]", "|", "\\|", "\\", "`", "``", "```", "~~~", "\n\n# h\n\n", "\n- x", "1. ",
    "2)", "> ", "***", "__a__", "~~x~~", "&lt;", "&#64;user", ":tada:", "$x$", "\u202e", "\u200b",
    "\x1b[31m", "\r", "\t", "\u05d0\u05d1", "e\u0301\u0301\u0301", "\u2028", "---|---", "===", " ",
    "word", "plain words", "12", "[bold]", "'", '"', "!", ":", "(",
)  # fmt: skip
HOSTILE = st.one_of(
    st.lists(st.sampled_from(FRAGMENTS), min_size=1, max_size=8).map("".join),
    st.lists(st.sampled_from(FRAGMENTS), min_size=1, max_size=8).map(" ".join),
    st.text(max_size=60),
).map(lambda text: text[:200])
NUMBERS = st.floats(allow_nan=False, allow_infinity=False)


@st.composite
def hostile_cells(draw: st.DrawFn) -> Cell:
    words = st.one_of(HOSTILE, st.sampled_from(("radon", "cold", "NUMBA", "fork")))
    return Cell(model=draw(words), scenario=draw(words), backend=draw(words),
                      launch=draw(words))  # fmt: skip


@st.composite
def hostile_verdicts(draw: st.DrawFn) -> Verdict:
    positive = st.floats(min_value=5e-324, max_value=1.7e308)
    bound = st.floats(min_value=0, max_value=1.7e308)
    sure = st.sampled_from((None, 0.95))
    known = ("cache_misses", "compile_time", "wrong_results", "crashed", "call_time")
    conclusions = ("worse", "better", "unaffected", "workload changed", "undecided")
    return Verdict(
        cell=draw(hostile_cells()),
        metric=draw(st.one_of(HOSTILE, st.sampled_from(known))),
        unit=draw(st.sampled_from(("seconds", "bytes", "functions", "<b>@x"))),
        kind=draw(st.sampled_from(("exact", "near_exact", "noisy"))),
        conclusion=draw(st.sampled_from(conclusions)),
        base=Values(values=draw(st.lists(NUMBERS, max_size=2))),
        head=Values(values=draw(st.lists(NUMBERS, max_size=2))),
        ratio=draw(
            st.none() | st.builds(Ratio, estimate=positive, low=bound, high=bound, confidence=sure)
        ),
        minimum_effect=draw(st.none() | bound),
        reason=draw(st.none() | HOSTILE),
        cause=draw(st.sampled_from((None, "cause-1", "@cause"))),
    )


@st.composite
def hostile_comparisons(draw: st.DrawFn) -> Comparison:
    """Every text of a comparison from a stranger, every number of any size."""
    text, cells = draw(HOSTILE), st.lists(hostile_cells(), max_size=3)
    counts = st.integers(min_value=0, max_value=10**18)
    pairs = st.lists(st.tuples(HOSTILE, counts), max_size=2)
    functions = st.builds(
        FunctionChange, name=HOSTILE, count=counts, base=HOSTILE, head=HOSTILE, seconds=NUMBERS
    )
    kinds = ("wrong results", "crashed", "refused", "unexplained")
    causes = st.builds(
        Cause, id=st.sampled_from(("cause-1", "@cause")), kind=st.sampled_from(kinds),
        sentence=HOSTILE, cells=cells, functions=st.lists(functions, max_size=2),
        seconds_lost=NUMBERS,
    )  # fmt: skip
    missing = st.builds(
        Missing, cell=hostile_cells(), side=st.sampled_from(("base", "head", "both")),
        reason=HOSTILE,
    )  # fmt: skip
    base, head = factory.side("3.3.6"), factory.side("3.3.7")
    versions = {"pytensor": text, "numba": text, "python": text, "packages": {text: text}}
    strange: dict[str, Any] = {
        "subject": head.subject.model_copy(update={"label": text}),
        "versions": head.versions.model_copy(update=versions),
        "machine": head.machine.model_copy(update={"machine": text, "cpu": text, "os": text}),
    }
    return factory.comparison(
        observatory=text,
        base=base,
        head=head.model_copy(update=strange),
        verdicts=draw(st.lists(hostile_verdicts(), max_size=6)),
        causes=draw(st.lists(causes, max_size=5)),
        workload=draw(
            st.lists(
                st.builds(Workload, model=HOSTILE, backend=HOSTILE, appeared=pairs, vanished=pairs),
                max_size=2,
            )
        ),
        missing=draw(st.lists(missing, max_size=3)),
        differences=draw(
            st.lists(st.builds(Difference, what=HOSTILE, base=HOSTILE, head=st.none()), max_size=5)
        ),
        warnings=draw(st.lists(HOSTILE, max_size=3)),
        reproduce=draw(HOSTILE),
        seconds=draw(NUMBERS),
        seed=draw(counts),
    )


def flood(piece: str) -> Comparison:
    """As much of everything as the schema lets through, all of it made of ``piece``."""
    long, longest = (piece * 200)[:190], (piece * 4000)[:3900]

    def word(number: int) -> str:
        return f"{number}{long}"

    def where(number: int) -> Cell:
        return Cell(model=word(number % 7), scenario=word(number), backend=word(number % 11),
                          launch=word(number % 3))  # fmt: skip

    conclusions = ("worse", "better", "undecided", "workload changed", "unaffected")
    kinds = ("exact", "noisy", "near_exact")
    verdicts = [
        {"cell": where(n % 2000), "metric": word(n % 97), "unit": "seconds", "kind": kinds[n % 3],
         "conclusion": conclusions[n % 5], "base": Values(values=[1.0]),
         "head": Values(values=[1.7e308]), "reason": longest,
         "ratio": Ratio(estimate=3, low=2, high=4, confidence=0.95),
         "cause": f"cause-{n}" if n % 2 else None}
        for n in range(20_000)
    ]  # fmt: skip
    change = FunctionChange(name=word(1), count=10**18, base=word(2), head=word(3), seconds=1e308)
    causes = [
        Cause(id=f"cause-{n}", kind="unexplained", sentence=longest,
              cells=[where(m) for m in range(5)], functions=[change] * 120)
        for n in range(1000)
    ]  # fmt: skip
    appeared = [(word(n), n) for n in range(99)]
    return factory.comparison(
        verdicts=[Verdict.model_validate(each) for each in verdicts],
        causes=causes,
        workload=[Workload(model=word(n), backend=word(n), appeared=appeared, vanished=appeared)
                  for n in range(100)],
        missing=[Missing(cell=where(n), side="head", reason=word(n) * 20) for n in range(5000)],
        differences=[Difference(what=word(n), base=word(n), head=word(n)) for n in range(1000)],
        warnings=[f"{n} {longest}" for n in range(1000)],
        reproduce=longest,
    )  # fmt: skip
