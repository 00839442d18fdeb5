"""Credentials in the environment: what is measured or built may be anybody's code, and gets none.

A night that publishes to an object store, or a workflow that opens a pull request, holds keys and
tokens in its variables while it measures commits and releases that nobody has read.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

_CREDENTIAL = re.compile(
    r"(^|_)(TOKEN|SECRETS?|PASSWORD|PASSWD|CREDENTIALS?|KEY|CONNECTION_STRING)(_|$)", re.IGNORECASE
)


def without_credentials(variables: Mapping[str, str]) -> dict[str, str]:
    """The variables whose names do not say that they hold a credential.

    >>> without_credentials({"GH_TOKEN": "x", "AWS_ACCESS_KEY_ID": "x", "PATH": "/bin"})
    {'PATH': '/bin'}
    """
    return {name: value for name, value in variables.items() if not _CREDENTIAL.search(name)}
