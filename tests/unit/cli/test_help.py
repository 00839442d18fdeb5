"""What `--help` shows of the arguments and options of every command."""

from __future__ import annotations

import re

import pytest
from typer.main import get_command

from observatory.cli.main import app
from scripts.reference import command_paths, help_of

HELPS = {" ".join(path): help_of(path) for path in command_paths(get_command(app))}


@pytest.mark.parametrize("command", HELPS)
def test_help_names_values_and_shows_no_types_of_python(command: str) -> None:
    # A type would be <str>, <list[str]>, <float range> or <%Y-%m-%d>; a range [x>=1].
    assert not re.findall(r"<[^>]*>|x[<>]=|[{}]|=x", HELPS[command])


def test_help_says_what_a_value_is_and_which_are_possible() -> None:
    said = " ".join(HELPS["run"].split())
    assert (
        "--timeout SECONDS Longest time for one measured process. [default: 600; at least 1]"
        in said
    )
    assert "--subject SUBJECT What to measure" in said
    assert "--results DIR Directory of asv results" in said
    assert "--width INCHES Width in inches. [default: 7; 2 to 40]" in " ".join(
        HELPS["plot history"].split()
    )


def test_the_usage_line_tells_what_may_be_left_out_and_what_may_be_repeated() -> None:
    usage = {
        command: said.partition("\n")[0].partition("[OPTIONS] ")[2]
        for command, said in HELPS.items()
    }
    assert usage["explain"] == "NAME BASE [HEAD]"
    assert usage["upgrade"] == "SUBJECT..."
    assert usage["canary"] == "[SUBJECT...]"
    assert usage["bisect"] == "[ALERT | GOOD BAD]"
    assert usage["run"] == ""
