"""The finished verdicts on pairs of subjects, packed as the compare page reads them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from observatory.analyze.comparison.comparing import Finding, Outcome, Pair
from observatory.text.plain import clean

CONCLUSIONS = ("unaffected", "worse", "better", "workload changed", "undecided")
_SHOWN: Mapping[Outcome, Outcome] = {"wrong results": "worse"}
_DIGITS = 6
_Base = TypeVar("_Base")


@dataclass(frozen=True)
class HeadVerdicts(Generic[_Base]):
    """The verdicts on one head against each of its bases.

    Each of ``bases`` has ``verdicts``, a digit for each of ``series`` (the index of its conclusion
    in CONCLUSIONS, or a dash where there is none), and ``values`` for each digit that is not 0: the
    value of the base, that of the head, their ratio, and the reason. Texts are indexes into
    ``texts``; -1 stands for no text.
    """

    series: list[list[str]]
    """The cell, metric, unit and kind of each series on which any pair has a verdict."""
    texts: list[str]
    bases: dict[_Base, dict[str, Any]]


def packed(pairs: Mapping[_Base, Pair]) -> HeadVerdicts[_Base]:
    """Pack the pairs of one head, by base; what is no count keeps six significant digits."""
    series: dict[tuple[str, ...], int] = {}
    texts: dict[str, int] = {}
    for pair in pairs.values():
        for one in pair.findings:
            series.setdefault(one[:4], len(series))
    bases = {base: _packed(pair, series, texts) for base, pair in pairs.items()}
    return HeadVerdicts([[clean(word) for word in one] for one in series], list(texts), bases)


def _packed(
    pair: Pair, series: Mapping[tuple[str, ...], int], texts: dict[str, int]
) -> dict[str, Any]:
    def text(words: str | None) -> int:
        return -1 if words is None else texts.setdefault(clean(words), len(texts))

    digits = ["-"] * len(series)
    values = {}
    for one in pair.findings:
        number, conclusion = series[one[:4]], CONCLUSIONS.index(one.conclusion)
        digits[number] = str(conclusion)
        if conclusion:
            numbers = (one.before, one.after, one.ratio)
            rounded = (v if v is None else _rounded(v) for v in numbers)
            values[number] = [*rounded, text(one.reason)]
    return {
        "outcome": _SHOWN.get(pair.outcome, pair.outcome),
        "verdicts": "".join(digits),
        "values": [values[number] for number in sorted(values)],
        "missing": [[clean(cell), side, text(reason)] for cell, side, reason in pair.missing],
        "causes": [text(one) for one in pair.causes],
        "warnings": [text(one) for one in pair.warnings],
    }


def _rounded(value: float) -> float:
    """With six significant digits; a count as it is, because pages print whole numbers."""
    return value if float(value).is_integer() else float(f"{value:.{_DIGITS}g}")


def unpacked(head: HeadVerdicts[_Base], base: _Base) -> Pair:
    """The verdicts against one base; those that say "unaffected" come without numbers.

    Raises:
        KeyError: the head was not compared with that base.

    """
    one, texts = head.bases[base], [*head.texts, None]
    values = iter(one["values"])
    findings = []
    for words, digit in zip(head.series, one["verdicts"], strict=True):
        if digit != "-":
            numbers = (None, None, None, -1) if digit == "0" else next(values)
            conclusion, (*amounts, reason) = CONCLUSIONS[int(digit)], numbers
            findings.append(Finding._make((*words, conclusion, *amounts, texts[reason])))
    return Pair(
        one["outcome"], findings,
        [(cell, side, head.texts[reason]) for cell, side, reason in one["missing"]],
        *([head.texts[text] for text in one[name]] for name in ("causes", "warnings")),
    )  # fmt: skip
