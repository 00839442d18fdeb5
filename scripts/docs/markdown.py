"""Markdown of the reference: tables, code, and JSON Schemas as tables of fields."""

from __future__ import annotations

import html
import json
import re
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

Schema = Mapping[str, Any]
Link = Callable[[str], str]
"""From the name of an object to a link to its description."""

_BOUNDS = {
    "minimum": "≥ {}", "exclusiveMinimum": "> {}", "maximum": "≤ {}", "exclusiveMaximum": "< {}",
    "minLength": "at least {} characters", "maxLength": "at most {:,} characters",
    "minItems": "at least {}", "maxItems": "at most {:,}",
}  # fmt: skip
_PARTS = {"items": "each", "additionalProperties": "each", "propertyNames": "names"}


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; its cells are Markdown."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def cell(text: str) -> str:
    """A sentence from the code on one line; of Markdown, it may contain only code spans."""
    safe = html.escape(" ".join(text.split()), quote=False)
    for character in "|*[":
        safe = safe.replace(character, f"&#{ord(character)};")
    return safe


def code(text: object) -> str:
    """A code span for a table, where a vertical bar would end the cell."""
    plain = str(text)
    if "|" in plain or "`" in plain:
        return f"<code>{cell(plain).replace('`', '&#96;')}</code>"
    return f"`{plain}`"


def codes(names: Iterable[object]) -> str:
    """Several code spans."""
    return ", ".join(map(code, names))


def filled(text: str, parts: Mapping[str, str]) -> str:
    """The text with what stands between ``<!-- NAME -->`` and ``<!-- end of NAME -->`` made anew.

    ``parts``: from name to content; a place whose content is empty keeps what it has. Raises
    ValueError where the text has no such place, or several.
    """
    for name, content in parts.items():
        place = re.compile(f"(<!-- {name} -->\n).*?(<!-- end of {name} -->)", re.DOTALL)
        if len(place.findall(text)) != 1:
            raise ValueError(f"there is no place for {name!r}, or there are several")
        if content:
            text = place.sub(lambda m, made=content: f"{m[1]}\n{made}\n\n{m[2]}", text)
    return text


def wrapped(text: str) -> str:
    """A paragraph in the lines that pages of the documentation have."""
    return textwrap.fill(text, 120, break_long_words=False, break_on_hyphens=False)


def fenced(text: str) -> str:
    """A block of code, which may contain fences."""
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}text\n{text}\n{fence}"


def schema_tables(schemas: Mapping[str, Schema]) -> Iterator[str]:
    """Every schema, by the stem of its file; an object that several share is described once."""
    described: dict[str, list[Schema]] = {}
    for stem, schema in schemas.items():
        parts: Schema = schema.get("$defs", {})
        new = {}
        headings = {}
        for name, part in parts.items():
            variants = described.setdefault(name, [])
            if part not in variants:
                variants.append(part)
                new[name] = part
            number = variants.index(part)
            headings[name] = f"{name} ({number + 1})" if number else name

        def link(name: str, headings: Mapping[str, str] = headings) -> str:
            return f"[{name}](#{_anchor(headings[name])})"

        yield f"## {stem}"
        yield f"{schema['title']}: [{stem}.json](../schemas/{stem}.json)."
        yield from _object(schema, link)
        for name, part in new.items():
            yield f"### {headings[name]}"
            yield from _object(part, link)


def _anchor(heading: str) -> str:
    """The anchor that code hosts and the site give a heading."""
    return heading.lower().replace(" ", "-").replace("(", "").replace(")", "")


def _object(schema: Schema, link: Link) -> Iterator[str]:
    if description := schema.get("description"):
        yield cell(description)
    if properties := schema.get("properties"):
        required = schema.get("required", ())
        yield table(
            ("field", "type", "limits", "meaning"),
            (_field(name, field, name in required, link) for name, field in properties.items()),
        )
    else:
        yield f"Is {type_of(schema, link)}."


def _field(name: str, field: Schema, required: bool, link: Link) -> tuple[str, ...]:
    meaning = [cell(field.get("description", ""))]
    if not required:
        default = f"default {code(json.dumps(field['default']))}" if "default" in field else ""
        meaning.append(default or "may be missing")
    bounds = "; ".join(dict.fromkeys(limits(field)))
    return code(name), type_of(field, link), bounds, "; ".join(filter(None, meaning))


def type_of(schema: Schema, link: Link) -> str:
    """The type of a value in words; other objects of the schema are links."""
    if "$ref" in schema:
        return link(schema["$ref"].rpartition("/")[2])
    if "const" in schema:
        return code(json.dumps(schema["const"]))
    if "enum" in schema:
        return " or ".join(code(json.dumps(value)) for value in schema["enum"])
    for union in ("anyOf", "oneOf"):
        if union in schema:
            return " or ".join(dict.fromkeys(type_of(one, link) for one in schema[union]))
    match schema.get("type"):
        case "array" if "prefixItems" in schema:
            return f"list: {', '.join(type_of(one, link) for one in schema['prefixItems'])}"
        case "array":
            return f"list of {type_of(schema.get('items') or {}, link)}"
        case "object" if isinstance(schema.get("additionalProperties"), Mapping):
            return f"object: each value {type_of(schema['additionalProperties'], link)}"
        case "string" if "format" in schema:
            return str(schema["format"])
        case str(plain):
            return plain
    return "anything"


def limits(schema: Schema) -> Iterator[str]:
    """The limits of a value, and of its parts."""
    for word, phrase in _BOUNDS.items():
        if word in schema:
            yield phrase.format(schema[word])
    if "pattern" in schema:
        yield code(schema["pattern"])
    for part in (*schema.get("anyOf", ()), *schema.get("oneOf", ())):
        yield from limits(part)
    for word, of in _PARTS.items():
        if isinstance(schema.get(word), Mapping):
            yield from (f"{of} {one}" for one in limits(schema[word]))
