"""The messages between the processes of a sample, and between the primitive and the tool."""

from __future__ import annotations

import json
import types
import typing
from dataclasses import dataclass, fields, is_dataclass, replace
from pathlib import Path
from typing import Any, Literal

import pytest
from pydantic import BaseModel, ValidationError

from observatory.benchmarks import messages
from observatory.benchmarks.catalogue import MEASURES, OUTCOMES, SAMPLE_SCHEMA, STATUSES, Cell
from observatory.benchmarks.contracts import making as contract_messages
from observatory.benchmarks.messages import (
    Check,
    Failure,
    Job,
    LedgerEntry,
    Overhead,
    Report,
    SampleRecord,
    Spent,
    Step,
    read_report,
    write_report,
)
from observatory.benchmarks.typed_json import MessageError, from_json, to_json
from observatory.store.records import contracts
from observatory.store.records.sample import Sample

CELL = Cell("radon", "cold", "NUMBA", "fork")
ENTRY = LedgerEntry("Add", "numba", "k1", "hit", "disk", 100, 0.25, "build")


def job(directory: Path) -> Job:
    report = directory / "measure-0.json"
    return Job("measure", CELL, "counting", ("one", "two"), None, report)


REPORT = Report(
    "ok",
    metrics={"cache_misses": 3, "compile_time": 0.5},
    steps=(Step("build", {"cache_misses": 3}),),
    checks=(Check("build", 1e-12, None, False),),
    values={"one": (1.0, None)},
    ledger=(ENTRY,),
    environment={"numba": None, "python": "3.13.1"},
    spent=Spent(first_line=10.0, reported=12.0),
)
RECORD = SampleRecord(
    schema=SAMPLE_SCHEMA,
    cell=CELL,
    measure="counting",
    hash_seed=1,
    started_at="2026-11-20T12:00:00+00:00",
    status="raised",
    failure=Failure("it broke", "SIGSEGV", None, ("the end",)),
    metrics={"cache_misses": 3},
    absent={"uncacheable": "not given"},
    steps=REPORT.steps,
    checks=REPORT.checks,
    stale=("one",),
    ledger=(ENTRY,),
    environment=REPORT.environment,
    overhead=Overhead(*range(10)),
)


def test_a_job_and_a_report_arrive_as_they_were_sent(tmp_path: Path) -> None:
    sent = replace(job(tmp_path), data=tmp_path / "radon.csv", from_empty=True)
    assert from_json(Job, to_json(sent)) == sent
    write_report(sent, REPORT)
    assert read_report(sent.report) == REPORT
    assert from_json(SampleRecord, to_json(RECORD)) == RECORD


def test_a_whole_number_stays_one() -> None:
    assert '"cache_misses": 3,' in to_json(REPORT)
    assert type(from_json(Report, to_json(REPORT)).metrics["cache_misses"]) is int


def test_a_process_that_did_not_report_has_no_report(tmp_path: Path) -> None:
    assert read_report(tmp_path / "absent.json") is None


def changed(path: str, value: Any) -> str:
    """The report as JSON, with one value replaced; None takes the field away."""
    found = json.loads(to_json(REPORT))
    *parents, last = path.split(".")
    at = found
    for name in parents:
        at = at[int(name) if name.isdigit() else name]
    if value is None:
        del at[last]
    else:
        at[last] = value
    return json.dumps(found)


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        ("metrics", None, "Report: missing or unknown fields: metrics"),
        ("surprise", 1, "Report: missing or unknown fields: surprise"),
        ("spent.imports", None, "Report.spent: missing or unknown fields: imports"),
        ("checks.0.extra", 1, r"Report\.checks\[0\]: missing or unknown fields: extra"),
        ("status", "fine", "Report.status is 'fine'"),
        ("metrics.cache_misses", "3", "Report.metrics.cache_misses is '3'"),
        ("metrics.cache_misses", True, "Report.metrics.cache_misses is True"),
        ("exit_code", 1.5, "Report.exit_code is 1.5"),
        ("checks", {}, "Report.checks is {}"),
        ("ledger.0.outcome", "miss?", r"Report\.ledger\[0\]\.outcome is 'miss\?'"),
        ("spent", [], "Report.spent is not an object"),
    ],
)
def test_what_does_not_fit_is_refused_and_named(path: str, value: Any, said: str) -> None:
    with pytest.raises(MessageError, match=said):
        from_json(Report, changed(path, value))


@pytest.mark.parametrize("text", ["", "{", "[]", "null"])
def test_what_is_no_message_is_refused(text: str) -> None:
    with pytest.raises(MessageError):
        from_json(Report, text)


def test_the_children_of_a_job_build_one_member_each_and_report_apart(tmp_path: Path) -> None:
    whole = job(tmp_path)
    parts = whole.for_members()
    assert [part.members for part in parts] == [("one",), ("two",)]
    assert len({whole.report, *(part.report for part in parts)}) == 3
    # Siblings run at the same time: what stands beside a report is not shared either.
    assert len({part.report.with_suffix(".job.json") for part in parts}) == 2
    assert replace(parts[0], members=whole.members, report=whole.report) == whole


# The tool validates what it reads by pydantic models. The tests below compare both sides.


@dataclass(frozen=True)
class Type:
    """What a field may hold, in a form in which both sides can be compared."""

    words: frozenset[Any] = frozenset()
    """Of a Literal."""
    none: bool = False
    inside: str = ""
    """What it is otherwise: a plain type, or that of the entries."""


def type_of(annotation: Any) -> Type:
    if typing.get_origin(annotation) is typing.Annotated:
        return type_of(typing.get_args(annotation)[0])
    arguments = typing.get_args(annotation)
    origin = typing.get_origin(annotation)
    if origin is Literal:
        return Type(frozenset(arguments))
    if origin in (typing.Union, types.UnionType):
        options = [type_of(each) for each in arguments if each is not type(None)]
        return replace(options[-1], none=type(None) in arguments)
    if origin in (tuple, list):
        return Type(inside=f"list of {type_of(arguments[0])}")
    if origin is dict:
        return Type(inside=f"dict of {type_of(arguments[1])}")
    return Type(inside="record" if is_record(annotation) else annotation.__name__)


def is_record(annotation: Any) -> bool:
    return isinstance(annotation, type) and (
        is_dataclass(annotation) or issubclass(annotation, BaseModel)
    )


def records_in(annotation: Any) -> list[Any]:
    if is_record(annotation):
        return [annotation]
    return [found for each in typing.get_args(annotation) for found in records_in(each)]


def written(kind: Any) -> dict[str, Any]:
    """The fields of a dataclass, or those of a model by the names in its JSON."""
    hints = typing.get_type_hints(kind, include_extras=True)
    if is_dataclass(kind):
        return {field.name: hints[field.name] for field in fields(kind)}
    return {field.alias or name: hints[name] for name, field in kind.model_fields.items()}


def differences(ours: Any, theirs: Any, only_theirs: tuple[str, ...] = ()) -> list[str]:
    """Where a message of the primitive and the model that validates it are not alike."""
    mine, other = written(ours), written(theirs)
    for name in only_theirs:
        other.pop(name)
    found = [f"{ours.__name__}.{name}" for name in sorted(mine.keys() ^ other.keys())]
    for name in mine.keys() & other.keys():
        one, two = type_of(mine[name]), type_of(other[name])
        dates = {one.inside, two.inside} == {"str", "AwareDatetime"} or name == "schema"
        if one != two and not dates:
            found.append(f"{ours.__name__}.{name}: {one}, {two}")
        for inner, validated in zip(records_in(mine[name]), records_in(other[name]), strict=True):
            found += differences(inner, validated)
    return found


def test_the_record_of_a_sample_is_what_the_tool_validates() -> None:
    assert differences(SampleRecord, Sample) == []


def test_the_record_of_the_contracts_is_what_the_tool_validates() -> None:
    """`checked` says which subject it was: only the tool knows that."""
    record, model = contract_messages.ContractsRecord, contracts.Contracts
    assert differences(record, model, only_theirs=("checked",)) == []


def test_a_record_with_every_field_passes_the_tool_and_comes_back_the_same() -> None:
    assert None not in (RECORD.failure, RECORD.ledger, RECORD.overhead)
    validated = Sample.model_validate_json(to_json(RECORD))
    again = json.loads(validated.model_dump_json(by_alias=True))
    assert again.pop("started_at") == "2026-11-20T12:00:00Z"
    expected = json.loads(to_json(RECORD))
    assert expected.pop("started_at")
    assert again == expected


def test_the_tool_refuses_a_record_with_a_field_that_it_does_not_know() -> None:
    with pytest.raises(ValidationError, match="surprise"):
        Sample.model_validate_json(json.dumps({**json.loads(to_json(RECORD)), "surprise": 1}))


def test_the_words_of_the_messages_are_those_of_the_vocabulary() -> None:
    assert set(typing.get_args(messages.Status)) == set(STATUSES)
    assert set(typing.get_args(messages.LedgerOutcome)) == set(OUTCOMES)
    assert set(typing.get_args(typing.get_type_hints(Job)["measure"])) == set(MEASURES)


@pytest.mark.parametrize("number", ["9" * 400, "9" * 5000, "-1" + "0" * 18 + "1", "[" * 100_000])
def test_a_report_with_a_number_that_is_no_float_is_refused(tmp_path: Path, number: str) -> None:
    path = tmp_path / "report.json"
    path.write_text(to_json(Report("ok")).replace('"exit_code": null', f'"exit_code": {number}'))
    assert number[:100] in path.read_text()
    with pytest.raises(MessageError):
        read_report(path)


def test_a_message_of_very_many_values_is_refused_before_it_is_parsed() -> None:
    with pytest.raises(MessageError, match="Report holds about 500,001 values, which are too many"):
        from_json(Report, "[" + "0," * 500_000 + "0]")


def test_of_many_unknown_fields_some_are_named() -> None:
    with pytest.raises(MessageError, match=r"unknown fields: a0, a1, a10, .* and 2\d more$"):
        from_json(Report, json.dumps({f"a{number}": 0 for number in range(20)}))
