"""GitHub's own description of its API, as a judge of requests and of answers."""

import json
import re
from collections.abc import Iterator, Mapping
from functools import cache, cached_property
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

from openapi_schema_validator import OAS30Validator
from referencing import Registry
from referencing.jsonschema import DRAFT4

HOME = "urn:github"
GRAPHQL = "/graphql"
PAGE = 100  # what GitHub gives at most; its description says so in words only


class Deviation(NamedTuple):
    """Something that emulate answers and GitHub never would; each has been looked at."""

    operation: str  # a regular expression for `GET /repos/{owner}/{repo}`
    where: str  # a regular expression for what the judge says
    reason: str


class Operation(NamedTuple):
    """One thing that can be asked."""

    verb: str
    template: str  # /repos/{owner}/{repo}/issues
    about: Mapping[str, Any]
    pointer: str  # where it lies in the description

    def __str__(self) -> str:
        return f"{self.verb} {self.template}"


class OpenAPI:
    """The description, made ready."""

    def __init__(self, path: Path) -> None:
        self._document = json.loads(path.read_bytes())
        _let_null_be(self._document)
        self._judges: dict[str, OAS30Validator] = {}

    @cached_property
    def _registry(self) -> Any:
        contents = [(HOME, self._document)]
        return Registry().with_contents(contents, default_specification=DRAFT4)

    @cached_property
    def _shapes(self) -> dict[int, list[tuple[re.Pattern[str], str]]]:
        """Templates by how many parts they have, those with the fewest blanks first."""
        shapes: dict[int, list[tuple[re.Pattern[str], str]]] = {}
        for template in sorted(self._document["paths"], key=lambda x: x.count("{")):
            pattern = re.sub(r"\\\{(\w+)\\\}", _blank, re.escape(template))
            shapes.setdefault(template.count("/"), []).append((re.compile(pattern), template))
        return shapes

    @cache  # noqa: B019 - there is one for all tests
    def operation(self, verb: str, path: str) -> Operation | None:
        """What a request asks for; None if GitHub has no such thing."""
        for parts in range(
            path.count("/"), 0, -1
        ):  # a path of a file has more parts than its blank
            for pattern, template in self._shapes.get(parts, ()):
                about = self._document["paths"][template].get(verb.lower())
                if about and pattern.fullmatch(path):
                    pointer = f"/paths/{_escaped(template)}/{verb.lower()}"
                    return Operation(verb, template, about, pointer)
        return None

    def of_request(
        self, verb: str, path: str, query: Mapping[str, str], body: Any = None
    ) -> list[str]:
        """What is wrong with a request."""
        operation = self.operation(verb, path)
        if path == GRAPHQL:
            return []  # described elsewhere, in a language of its own
        if operation is None:
            return [f"{verb} {path}: GitHub has no such operation"]
        problems = [*self._of_query(operation, query)]
        content = operation.about.get("requestBody", {}).get("content", {})
        if body is not None and "application/json" not in content:
            problems.append("GitHub expects no JSON here")
        elif content:
            pointer = f"{operation.pointer}/requestBody/content/application~1json/schema"
            needed = operation.about["requestBody"].get("required") or body is not None
            problems += self._judged(pointer, body) if needed else ()
        return [f"{operation}: {problem}" for problem in problems]

    def of_answer(self, verb: str, path: str, status: int, body: Any) -> list[str]:
        """What is wrong with an answer."""
        operation = self.operation(verb, path)
        if operation is None:
            return []
        schema = operation.about["responses"].get(str(status))
        if schema is None:
            return [f"{operation}: {status} is no answer of GitHub's"] if status < 400 else []
        pointer = f"{operation.pointer}/responses/{status}"
        if "$ref" in schema:
            pointer = schema["$ref"].removeprefix("#")
            schema = self._at(pointer)
        if "application/json" not in schema.get("content", {}):
            return []
        problems = self._judged(f"{pointer}/content/application~1json/schema", body)
        return [f"{operation}: {status}: {problem}" for problem in problems]

    def _of_query(self, operation: Operation, query: Mapping[str, str]) -> Iterator[str]:
        listed = [self._resolved(x) for x in operation.about.get("parameters", ())]
        schemas = {x["name"]: x["schema"] for x in listed if x["in"] == "query"}
        for name, value in query.items():
            if name not in schemas:
                yield f"GitHub knows no parameter {name}"
            elif not _fits(value, schemas[name]) or (name == "per_page" and int(value) > PAGE):
                yield f"the parameter {name} cannot be {value!r}"

    def _resolved(self, node: Any) -> Any:
        return self._at(node["$ref"].removeprefix("#")) if "$ref" in node else node

    def _at(self, pointer: str) -> Any:
        node = self._document
        for part in pointer.strip("/").split("/"):
            node = node[part.replace("~1", "/").replace("~0", "~")]
        return node

    def _judged(self, pointer: str, body: Any) -> list[str]:
        judge = self._judges.get(pointer)
        if judge is None:
            schema = {"$ref": f"{HOME}#{quote(pointer)}"}
            judge = self._judges[pointer] = OAS30Validator(schema, registry=self._registry)
        return [_told(error) for error in judge.iter_errors(body)]


def _told(error: Any) -> str:
    """One error on one line; of alternatives, why the nearest does not fit."""
    where = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in error.path)
    if error.context:
        nearest = min(error.context, key=lambda x: len(x.message))
        return f"{where or '.'}: fits none of the alternatives; {_told(nearest)}"
    return f"{where or '.'}: {error.message[:200]}"


def _fits(value: str, schema: Mapping[str, Any]) -> bool:
    if "enum" in schema:
        return value in schema["enum"]
    if schema.get("type") == "integer":
        return value.isdecimal() and int(value) <= schema.get("maximum", 2**63)
    return True


def _blank(match: re.Match[str]) -> str:
    """A blank takes one part of a path; names of branches and files have slashes themselves."""
    return ".+" if match[1] in ("ref", "path", "branch", "basehead") else "[^/]+"


def _escaped(part: str) -> str:
    return part.replace("~", "~0").replace("/", "~1")


def _let_null_be(node: Any) -> None:
    """What may be null and is one of a list may be null: GitHub forgets to list it."""
    if isinstance(node, dict):
        if node.get("nullable") is True and isinstance(node.get("enum"), list):
            node["enum"] = [*node["enum"], None]
        for x in node.values():
            _let_null_be(x)
    elif isinstance(node, list):
        for x in node:
            _let_null_be(x)
