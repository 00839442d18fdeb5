"""The list of alerts on a terminal: its numbers were observed."""

from __future__ import annotations

import pytest
from rich.console import Console

from observatory.store.records.alerts import Alert, Modes
from observatory.text.alerts import drawn
from tests.factories_alerts import detected, line, moment, night, series, stepped, watched

NIGHTS = 60


def row(one: Alert) -> str:
    """The line about an alert in the list."""
    found = detected(watched(NIGHTS), moment(NIGHTS)).model_copy(update={"alerts": [one]})
    console = Console(width=200)
    with console.capture() as said:
        console.print(drawn(found, night(NIGHTS)))
    return next(text for text in said.get().splitlines() if one.id in text).rstrip()


@pytest.fixture
def stepped_up() -> Alert:
    """An alert of a step whose medians have another ratio than the estimate of it."""
    values = stepped(NIGHTS, 40, factor=60.0)
    (one,) = detected(watched(NIGHTS, series(line(NIGHTS), values)), moment(NIGHTS)).alerts
    return one


def of(one: Alert, **changes: object) -> Alert:
    """The same with another first series."""
    first = one.series[0].model_copy(update=changes)
    return one.model_copy(update={"series": [first, *one.series[1:]]})


def test_a_step_has_the_change_of_its_medians(stepped_up: Alert) -> None:
    one = of(stepped_up, before=0.25, after=15.0, ratio=66.0)
    assert " ×60 " in row(one)


def test_two_modes_have_no_size(stepped_up: Alert) -> None:
    modes = Modes(lower=0.2, upper=0.4, before=0.1, after=0.9)
    assert " two modes " in row(of(stepped_up, modes=modes))


def test_the_size_of_a_drift_is_an_estimate(stepped_up: Alert) -> None:
    one = of(stepped_up, before=0.25, after=0.3, ratio=1.3)
    assert " about +30 % " in row(one.model_copy(update={"kind": "slow drift"}))


def test_a_long_name_is_told_by_its_end(stepped_up: Alert) -> None:
    one = of(stepped_up, benchmark="forms.form_validate.benchmark.FormValidate.time_form_invalid")
    assert row(one).endswith("slower to build: …time_form_invalid")
