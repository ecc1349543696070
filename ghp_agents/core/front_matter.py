"""A markdown record: front matter for programs, and a body for people."""

import json
import re
from collections.abc import Mapping
from datetime import date
from typing import Any, NamedTuple

from ghp_agents.core.schema_version import unversioned, versioned

DEEPEST = 100  # levels of nested lists and objects; interpreters differ in what they can read
MOST_BRACKETS = 1_000  # of YAML; the loader's time is the square of open ones
HAND_WRITTEN_LIMIT = 8_000  # characters of front matter; crafted YAML can take seconds to parse

_FENCE = "---\n"
_FIELD = re.compile(r"([A-Za-z_][A-Za-z0-9_]*): (.*)")
_NOT_YAML = "[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]"  # compiled late: readers do not need it


class Document(NamedTuple):
    """Front matter and body. Values are limited to JSON types."""

    meta: Mapping[str, Any] = {}
    body: str = ""


def render(document: Document) -> bytes:
    """The document as a file, with its version. Values are written as JSON, which is valid YAML. So
    texts like `2025-01-25` or `no` are read back as text."""
    lines = "".join(f"{key}: {_value(value)}\n" for key, value in versioned(document.meta).items())
    body = (
        document.body if document.body.endswith("\n") or not document.body else document.body + "\n"
    )
    return f"{_FENCE}{lines}{_FENCE}\n{body}".encode("utf-8", "replace")


def _value(value: Any) -> str:
    # Escape what JSON allows but YAML forbids or folds into a space.
    text = json.dumps(value, ensure_ascii=False)
    return re.sub(_NOT_YAML, lambda character: f"\\u{ord(character[0]):04x}", text)


def parse(data: bytes) -> Document:
    """The reverse of `render`; also reads YAML written by hand. Raises ValueError."""
    try:
        text = data.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        raise ValueError(f"not UTF-8 text (byte {error.start})") from None
    if text.startswith("---\r\n"):  # saved by an editor on Windows
        text = text.replace("\r\n", "\n")
    if not text.startswith(_FENCE):
        raise ValueError("no front matter: the first line is not `---`")
    # Include the first line's end, because front matter may be empty.
    head, fence, body = text[len(_FENCE) - 1 :].partition("\n" + _FENCE)
    if not fence:
        raise ValueError("the front matter has no end: no second `---`")
    head = head.removeprefix("\n")
    meta = _rendered(head)
    meta = unversioned(_hand_written(head) if meta is None else meta)
    return Document(meta, body.removeprefix("\n"))


def yaml_fields(text: str) -> dict[str, Any]:
    """The fields of YAML that a person wrote, of JSON types. Raises ValueError."""
    return _hand_written(text)


def _rendered(head: str) -> dict[str, Any] | None:
    """The fields of front matter that `render` wrote, or None if something else wrote it.

    Most records are read this way. It needs no YAML and has no size limit.
    """
    meta: dict[str, Any] = {}
    for line in head.split("\n") if head else ():
        field = _FIELD.fullmatch(line)
        if not field:
            return None
        try:
            meta[field[1]] = json.loads(field[2])
        except (ValueError, RecursionError):
            return None
        if _is_too_deep(meta[field[1]]):
            return None
    return meta


def _is_too_deep(value: Any) -> bool:
    level = [value] if isinstance(value, dict | list) else []
    depth = 0
    while level and depth <= DEEPEST:
        depth += 1
        inner = [part for outer in level
                 for part in (outer.values() if isinstance(outer, dict) else outer)]  # fmt: skip
        level = [part for part in inner if isinstance(part, dict | list)]
    return depth > DEEPEST


def _hand_written(head: str) -> dict[str, Any]:
    meta = load(head, HAND_WRITTEN_LIMIT, "the front matter")
    if not isinstance(meta, dict):
        raise ValueError("the front matter is not a list of fields")
    return meta


def load(text: str, limit: int, what: str) -> Any:
    """YAML of at most `limit` characters as values of JSON. Raises ValueError, which names `what`
    the text is."""
    import yaml

    # Not the C loader: deeply nested brackets crash the whole process.
    class PlainLoader(yaml.SafeLoader):
        def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
            # A few nested aliases expand to gigabytes when they are printed.
            if self.check_event(yaml.AliasEvent):
                raise ValueError(f"{what} has an alias (`*name`)")
            return super().compose_node(parent, index)

    if len(text) > limit:
        raise ValueError(f"{what} has more than {limit} characters")
    if text.count("{") + text.count("[") > MOST_BRACKETS:
        raise ValueError(f"{what} is nested too deep: it has more than {MOST_BRACKETS} brackets")
    try:
        # A date becomes text. Other values that JSON cannot hold are refused.
        return json.loads(
            json.dumps(yaml.load(text, Loader=PlainLoader), default=_text, allow_nan=False)
        )
    except RecursionError:
        raise ValueError(f"{what} is nested too deep") from None
    except yaml.YAMLError as error:
        raise ValueError(f"{what} is not YAML: {str(error).splitlines()[0]}") from None
    except TypeError as error:
        raise ValueError(f"{what} is not what JSON can hold: {error}") from None


def dump(fields: Mapping[str, Any]) -> str:
    """Fields as YAML for people, in their order; texts of several lines as blocks."""
    import yaml

    class BlockDumper(yaml.SafeDumper):
        pass

    def text(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
        style = "|" if "\n" in value else None
        return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)

    BlockDumper.add_representer(str, text)
    return yaml.dump(
        dict(fields), Dumper=BlockDumper, sort_keys=False, allow_unicode=True, width=100
    )


def _text(value: object) -> str:
    if isinstance(value, date):
        return value.isoformat()
    raise TypeError(type(value).__name__)
