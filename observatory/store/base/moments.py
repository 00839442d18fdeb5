"""Times in records: none is so early or so late that reckoning with it leaves the calendar.

Python's calendar ends with the years 1 and 9999. At its ends, to convert a time to UTC or to add a
day raises OverflowError. Such times are in no honest file.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

from pydantic import AfterValidator, AwareDatetime

EARLIEST = datetime(1970, 1, 1, tzinfo=UTC)
LATEST = datetime(9900, 1, 1, tzinfo=UTC)
"""Late enough for those who acknowledge for ever, early enough to add a human life."""


def within_calendar(moment: datetime) -> datetime:
    """The time; of one without a zone UTC is meant. Raises ValueError outside of 1970 to 9899."""
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    if not EARLIEST <= aware < LATEST:
        raise ValueError("its year is not between 1970 and 9899")
    return aware


Moment = Annotated[AwareDatetime, AfterValidator(within_calendar)]
"""A time with its zone."""
MomentInUtc = Annotated[datetime, AfterValidator(within_calendar)]
"""A time that is in UTC where it has no zone."""
