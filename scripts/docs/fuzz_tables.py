"""What came of hostile contents, as rows, and the table of docs/explanation/hostile-input.md."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pydantic import Field

from observatory.text.words import listed, several
from scripts.docs.markdown import table, wrapped
from scripts.docs.rows import Row, blocks, measured, read

FUZZ = "fuzz"


class Fuzzed(Row):
    """What came of the contents of one surface in one run of `scripts/fuzz.py`."""

    surface: str
    guided: bool = Field(description="whether atheris chose the contents")
    seed: int
    seconds: float = Field(description="how long contents were tried")
    cases: int
    refused: int
    tracebacks: int
    megabytes: float = Field(description="by how much reading one content made the process grow")
    slowest: float = Field(description="seconds of CPU")
    executed: int


def outcomes(rows: Sequence[Fuzzed]) -> str:
    """The table: a row for each surface, and one for all of them."""
    lines = [_line(one.surface, [one]) for one in rows]
    return table(
        ("what", "cases", "refused", "tracebacks", "MB for one content", "slowest, s of CPU",
         "executed"),
        [*lines, _line("**in all**", rows)],
    )  # fmt: skip


def _line(name: str, rows: Sequence[Fuzzed]) -> tuple[str, ...]:
    counts = (sum(getattr(one, key) for one in rows) for key in ("cases", "refused", "tracebacks"))
    return (
        name, *(f"{count:,}" for count in counts), f"{max(one.megabytes for one in rows):.0f}",
        f"{max(one.slowest for one in rows):.1f}", f"{sum(one.executed for one in rows):,}",
    )  # fmt: skip


def fuzzed(rows: Sequence[Fuzzed]) -> Iterator[str]:
    """Yield the blocks of what was tried; of each surface its newest row counts.

    The contents that atheris chose are a sentence.
    """
    newest = {(one.surface, one.guided): one for one in rows}.values()
    if plain := [one for one in newest if not one.guided]:
        yield outcomes(plain)
        yield wrapped(f"{_how(plain)} {measured(plain)}")
    if guided := [one for one in newest if one.guided]:
        tried, *counts = (
            sum(getattr(one, key) for one in guided) for key in ("cases", "tracebacks", "executed")
        )
        most = max(one.megabytes for one in guided)
        yield wrapped(
            f"With `--guided`, {tried:,} contents of {several(len(guided), 'place')} were tried: "
            f"{counts[0] or 'no'} tracebacks, at most {most:.0f} MB, {counts[1] or 'nothing'} "
            f"executed. {_how(guided)} {measured(guided)}"
        )


def _how(rows: Sequence[Fuzzed]) -> str:
    seeds = listed([str(seed) for seed in dict.fromkeys(one.seed for one in rows)])
    low, high = (round(choose(one.seconds for one in rows)) for choose in (min, max))
    took = f"{low} s" if low == high else f"{low} to {high} s"
    return f"Each place had {took}; `--seed` {seeds}."


def fuzz_tables() -> dict[str, str]:
    """The part of the page, by name; empty without rows."""
    return {FUZZ: blocks(fuzzed, read(Fuzzed, FUZZ))}
