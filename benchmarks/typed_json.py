"""Dataclasses as JSON and back, for every message between two processes.

Reading is strict: a missing or unknown field and a value of another type raise `MessageError`. The
annotations give the types: dataclasses, `str`, `int`, `float`, `bool`, `Path`, `Literal`,
`X | None`, `tuple[X, ...]` and `dict[str, X]`.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar, get_args, get_origin, get_type_hints

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Message = TypeVar("Message", bound="DataclassInstance")
_LARGEST = 10**18
_MOST_VALUES = 400_000
"""Values and keys of one message, which take up to 250 bytes each."""
_NAMED = 5
# A whole number stays an int.
_PLAIN: dict[Any, tuple[type, ...]] = {
    str: (str,), int: (int,), float: (int, float), bool: (bool,),
}  # fmt: skip


class MessageError(ValueError):
    """Raised for JSON that is not the expected message; the text names the field."""


def to_json(message: DataclassInstance, indent: int | None = None) -> str:
    """Return a dataclass as a JSON object with all of its fields.

    ``indent``: spaces for each level; None: one line. Raises TypeError for a value that JSON does
    not know.
    """
    return json.dumps(asdict(message), default=os.fspath, indent=indent)


def from_json(kind: type[Message], text: str) -> Message:
    """Return the message of this type that `to_json` wrote. Raises MessageError.

    What would take much memory is refused before it is parsed, by what separates or opens values.
    """
    values = 0 if len(text) <= _MOST_VALUES else sum(map(text.count, ",[{"))
    if values > _MOST_VALUES:
        raise MessageError(f"{kind.__name__} holds about {values:,} values, which are too many")
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise MessageError(f"{kind.__name__} is not JSON: {error}") from error
    try:
        message: Message = _read(kind, value, kind.__name__)
    except RecursionError as error:
        raise MessageError(f"{kind.__name__} holds objects too deep in one another") from error
    return message


def _read(kind: Any, value: Any, where: str) -> Any:
    """Check a value against its type and return it as that type. Raises MessageError."""
    if is_dataclass(kind):
        types = get_type_hints(kind)
        if not isinstance(value, dict):
            raise MessageError(f"{where} is not an object")
        if value.keys() != types.keys():
            names = sorted(value.keys() ^ types.keys())
            more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
            named = ", ".join(name[:100] for name in names[:_NAMED])
            raise MessageError(f"{where}: missing or unknown fields: {named}{more}")
        read = {name: _read(types[name], value[name], f"{where}.{name}") for name in types}
        make: Any = kind  # is_dataclass narrows it to an instance
        return make(**read)
    arguments = get_args(kind)
    if get_origin(kind) is Literal and value in arguments:
        return value
    if get_origin(kind) is tuple and isinstance(value, list):
        return tuple(_read(arguments[0], each, f"{where}[{i}]") for i, each in enumerate(value))
    if get_origin(kind) is dict and isinstance(value, dict):
        return {name: _read(arguments[1], each, f"{where}.{name}") for name, each in value.items()}
    if type(None) in arguments:
        (other,) = (each for each in arguments if each is not type(None))
        return None if value is None else _read(other, value, where)
    if kind is Path and isinstance(value, str):
        return Path(value)
    # By exact type: to Python, True is an int too. What is larger is no float.
    if type(value) in _PLAIN.get(kind, ()) and not (type(value) is int and abs(value) > _LARGEST):
        return value
    raise MessageError(f"{where} is {value!r:.100}, which is not {getattr(kind, '__name__', kind)}")
