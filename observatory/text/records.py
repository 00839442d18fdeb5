"""Results of the analysis as the records that are stored and published, with their sentences."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from observatory.analyze.comparison.comparing import Compared
from observatory.analyze.history.alerts import FoundAlert
from observatory.analyze.history.detection import Detected
from observatory.analyze.statements import JudgedVerdict, Sides
from observatory.store.records.alerts import Alert, Alerts, SmallerChange, Unjudged, WrongCount
from observatory.store.records.comparison import Cause, Comparison, Missing, Verdict
from observatory.text.causes import cause_sentence
from observatory.text.statements import sentence_of

_LONGEST = 4000
_LONGEST_EXAMPLE = 300
_EXAMPLES = 10
_MOST = 1000


def comparison_of(
    compared: Compared, seconds: float = 0.0, warnings: Sequence[str] = ()
) -> Comparison:
    """The record of a comparison.

    ``seconds``: what it took, 0 for saved samples. ``warnings``: sentences that come before those
    of the analysis.
    """
    setting = compared.setting
    return Comparison(
        observatory=setting.observatory, base=setting.base, head=setting.head,
        started_at=setting.started_at, seconds=round(seconds, 1),
        interleaved=setting.interleaved, seed=setting.seed,
        verdicts=[_verdict(one) for one in compared.verdicts],
        causes=[
            Cause(
                id=one.id, kind=one.kind, sentence=cause_sentence(one, Sides()), cells=one.cells,
                functions=one.functions, graphs=one.graphs, seconds_lost=one.seconds_lost,
            )
            for one in compared.causes
        ],
        workload=list(compared.workload),
        missing=[
            Missing(
                cell=one.cell, side=one.side,
                reason="; ".join(map(sentence_of, one.reasons))[:_LONGEST],
            )
            for one in compared.missing
        ],
        differences=list(compared.differences),
        warnings=[*warnings, *map(sentence_of, compared.warnings)],
        reproduce=setting.reproduce,
    )  # fmt: skip


def alerts_of(
    detected: Detected, observatory: str, made_of: str = "",
    wrong: list[WrongCount] | None = None, retired: Iterable[str] = (),
) -> Alerts:  # fmt: skip
    """The record of everything that was found in one results directory.

    ``observatory``: the version of the tool. ``made_of``: a hash of the results. ``wrong``: see
    `wrong_counts`. ``retired``: see `retired_alerts`.
    """
    return Alerts(
        observatory=observatory, newest=detected.newest, until=detected.until,
        last_good=detected.last_good,
        made_of=made_of, judged=detected.judged, compared=detected.compared, wrong=wrong,
        retired=sorted(retired),
        alerts=[_alert(one) for one in detected.alerts],
        improvements=[
            one.change.model_copy(update={"sentence": sentence_of(one.statement)[:_LONGEST]})
            for one in detected.improvements
        ],
        smaller=[
            SmallerChange(
                **one.change.model_dump(exclude={"sentence"}), worse=one.worse,
                sentence=sentence_of(one.statement)[:_LONGEST], impact=assessed.impact,
                reason=assessed.reason or "small", recovered=one.recovered,
            )
            for one, assessed in detected.smaller
        ],
        unjudged=[
            Unjudged(
                reason=sentence_of(reason)[:_LONGEST], count=len(names),
                examples=[name[:_LONGEST_EXAMPLE] for name in names[:_EXAMPLES]],
            )
            for reason, names in detected.unjudged.items()
        ],
        environments=[sentence_of(one)[:_LONGEST] for one in detected.environments[:_MOST]],
        orphans=list(detected.orphans[:_MOST]),
    )  # fmt: skip


def _verdict(judged: JudgedVerdict) -> Verdict:
    fields = {name: getattr(judged, name) for name in Verdict.model_fields}
    if judged.because is not None:
        fields["reason"] = sentence_of(judged.because)[:_LONGEST]
    return Verdict.model_construct(**fields)  # its fields were validated when it was judged


def _alert(found: FoundAlert) -> Alert:
    texts: dict[str, str | list[str]] = {}
    if found.statement is not None:
        texts["sentence"] = sentence_of(found.statement)[:_LONGEST]
    if found.resolution is not None:
        texts["resolution"] = sentence_of(found.resolution)
    if found.notes is not None:
        texts["notes"] = [sentence_of(note) for note in found.notes]
    return found.alert.model_copy(update=texts)
