from __future__ import annotations

import json

from observatory.app.schemas import DIRECTORY, schemas


def test_the_committed_schemas_are_those_that_the_models_make() -> None:
    committed = {path.name: path.read_text() for path in DIRECTORY.glob("*.json")}
    assert {name: committed.get(name) for name in schemas()} == schemas(), (
        "run `python -m observatory.app.schemas` and commit docs/schemas/"
    )


def test_the_schema_speaks_of_fields_by_their_names_in_the_file() -> None:
    made = json.loads(schemas()["sample-1.json"])
    assert "schema" in made["properties"]
    assert "schema_" not in made["properties"]
