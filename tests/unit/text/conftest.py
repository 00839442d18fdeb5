from __future__ import annotations

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--renew-golden",
        action="store_true",
        help="write what the tests of comments expect: pytest tests/unit/text --renew-golden",
    )
