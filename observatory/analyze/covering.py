"""Settings crossed by pairs: every two of them are once together, in few rows. Pure.

Most faults that need settings need one or two of them. The product of n settings has 2 to the power
of n rows; seven rows are enough for all pairs of fifteen.
"""

from __future__ import annotations

from itertools import combinations, count, islice
from math import comb

Row = tuple[bool, ...]
"""Which settings are other than usual."""


def by_pairs(number: int) -> list[Row]:
    """Return the fewest rows in which any two of a number of settings have all four values.

    The first row is usual throughout. In the others, each setting is other than usual in a choice
    of rows of its own, each time in more than half of them: two choices differ, and overlap.
    (D. Kleitman and J. Spencer, "Families of k-independent sets", 1973.)
    """
    others = next(n for n in count(1) if comb(n, n // 2 + 1) >= number)
    chosen = islice(combinations(range(others), others // 2 + 1), number)
    columns = [set(own) for own in chosen]
    return [(False,) * number, *(tuple(row in own for own in columns) for row in range(others))]
