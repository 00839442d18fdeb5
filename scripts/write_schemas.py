"""Write docs/schemas/ from the models that validate; --check only compares."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from pydantic import BaseModel

from observatory.record.sample import Sample

SCHEMAS = Path(__file__).resolve().parents[1] / "docs" / "schemas"
MODELS: dict[str, type[BaseModel]] = {"sample-1.json": Sample}


def main(arguments: list[str]) -> int:
    """Exit code 1: --check found a file that is not what the models say."""
    stale = []
    for name, model in MODELS.items():
        schema = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
        schema |= model.model_json_schema(by_alias=True)
        text = json.dumps(schema, indent=2, sort_keys=True) + "\n"
        path = SCHEMAS / name
        if path.exists() and path.read_text(encoding="utf-8") == text:
            continue
        stale.append(name)
        if "--check" not in arguments:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    if "--check" in arguments and stale:
        print(
            f"docs/schemas/ is stale ({', '.join(stale)}): run make docs-schemas", file=sys.stderr
        )
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
