"""Whether JSON is as docs/schemas says, without any field that they do not list."""

import json
from collections.abc import Sequence
from functools import cache
from typing import Any

from ghp_agents.cli.outputs.table import OUTPUTS
from tools import schemas


@cache
def _validator(name: str) -> Any:
    from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

    types = {**schemas.outputs(), **schemas.records(), **schemas.hooks()}
    return Draft202012Validator(schemas.closed(types[name]))


def breaches(name: str, value: object) -> list[str]:
    """Where the value differs from the schema in docs/schemas/NAME.json."""
    return [
        f"{error.json_path}: {error.message[:500]}"
        for error in _validator(f"{name}.json").iter_errors(value)
    ]


def output_of(words: Sequence[str]) -> str:
    """The name of the schema of a command's output; empty if it prints no JSON, or a part of it."""
    if "--json" not in words and words[:1] != ["agent-dashboard"]:
        return ""
    if "--jq" in words or _has_fields(words):
        return ""
    plain = [word for word in words if not word.startswith("-")][:2]
    name = " ".join(plain) if " ".join(plain) in OUTPUTS else plain[0]
    return f"output/{name.replace(' ', '-')}" if name in OUTPUTS else ""


def _has_fields(words: Sequence[str]) -> bool:
    after = [*words, ""][words.index("--json") + 1] if "--json" in words else ""
    return "," in after


def check_output(words: Sequence[str], out: str) -> None:
    """Fail if the JSON that a command printed is not as its schema says."""
    name = output_of(words)
    if not name or not out.strip():
        return
    values = map(json.loads, out.splitlines()) if "--follow" in words else [json.loads(out)]
    for value in values:
        problems = breaches(name, value)
        assert not problems, f"{' '.join(words)}: {problems}"
