"""A detector that is a program of its own."""

import sys
import time

import numpy as np
import pytest

from observatory.run.external import ExternalDetectorError, external

ANSWER = """import sys, json
for line in sys.stdin:
    print(json.dumps([len(json.loads(line))]), flush=True)"""


def program(code: str) -> str:
    return f'{sys.executable} -c "{code}"'


def test_each_series_is_answered() -> None:
    with external(program(ANSWER)) as detect:
        assert detect(np.ones(3)) == [3]
        assert detect(np.ones(7)) == [7]


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("/no/such/program", "cannot be started"),
        (program("print('hello')"), "not a JSON list"),
        (program("pass"), "not a JSON list"),
        (program("print([0.5])"), "not a JSON list of indices"),
        ("unbalanced 'quote", "cannot be started"),
        (program("print('[true]')"), "not a JSON list of indices"),
        (program("print([4])"), "not a JSON list of indices"),
    ],
)
def test_a_program_that_does_not_answer_as_asked_is_named(command: str, said: str) -> None:
    with pytest.raises(ExternalDetectorError, match=said), external(command) as detect:
        detect(np.ones(3))


def test_a_program_that_is_gone_before_it_is_asked_is_named() -> None:
    with pytest.raises(ExternalDetectorError), external("true") as detect:  # noqa: PT012
        time.sleep(0.3)
        detect(np.ones(3))
