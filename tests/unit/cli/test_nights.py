"""The exit status of a row of steps."""

from __future__ import annotations

import signal

import pytest

from observatory.cli.nights import status_of
from observatory.errors import Exit
from observatory.store.journal.night import Night, NightStep
from tests.factories import NOON


@pytest.mark.parametrize(
    ("statuses", "status"),
    [
        ([0, 0], Exit.OK),
        ([0, Exit.ALERTS, Exit.WORSE], Exit.WORSE),
        ([0, -signal.SIGKILL], Exit.UNEXPECTED),
        ([0, None], Exit.INTERRUPTED),
    ],
)
def test_the_status_of_the_worst_step_is_one_that_a_command_can_end_with(
    statuses: list[int | None], status: Exit
) -> None:
    night = Night(
        schema="observatory/night/1", id="20261121T020000Z", asked=[], results="results",
        started_at=NOON,
        steps=[NightStep(name="measure", command=["run"], status=one) for one in statuses],
    )  # fmt: skip
    assert status_of(night) == status
