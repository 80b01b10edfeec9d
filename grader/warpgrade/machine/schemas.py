"""JSON Schemas of what people write and programs read, laid out for both."""

import json
from typing import Any

import msgspec

_WIDTH = 120


def schema(title: str, struct: type[msgspec.Struct]) -> dict[str, Any]:
    """Return the schema of a document; descriptions are those of the structs, in one line."""
    made = msgspec.json.schema(struct)
    for definition in made["$defs"].values():
        del definition["title"]
        definition["description"] = " ".join(definition["description"].split())
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": title, **made}


def text(value: object, indent: str = "") -> str:
    """Return JSON in which each list is one line, and each object that fits into one."""
    short = json.dumps(value, ensure_ascii=False)
    if not isinstance(value, dict) or len(indent) + len(short) < _WIDTH:
        return short
    inner = indent + "  "
    rows = [f"{inner}{json.dumps(key, ensure_ascii=False)}: {text(each, inner)}" for key, each in value.items()]
    return "{\n" + ",\n".join(rows) + f"\n{indent}}}"
