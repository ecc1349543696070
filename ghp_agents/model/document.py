"""A markdown record: front matter that machines read, and a body that people read."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

_FENCE = "---\n"


@dataclass(frozen=True, slots=True)
class Document:
    """Front matter and body. Values are what JSON can hold."""

    meta: Mapping[str, Any] = field(default_factory=dict)
    body: str = ""


def render(document: Document) -> bytes:
    """The document as a file. Every value is written as JSON, which is valid YAML, so that a
    text like `2025-01-25` or `no` is read back as the text that it was."""
    lines = "".join(
        f"{key}: {json.dumps(value, ensure_ascii=False)}\n" for key, value in document.meta.items()
    )
    body = document.body if document.body.endswith("\n") or not document.body else document.body + "\n"
    return f"{_FENCE}{lines}{_FENCE}\n{body}".encode("utf-8", "replace")


def parse(data: bytes) -> Document:
    """The reverse of `render`; also reads YAML written by hand. Raises ValueError."""
    import yaml

    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(f"not UTF-8 text (byte {error.start})") from None
    text = text.replace("\r\n", "\n")
    if not text.startswith(_FENCE):
        raise ValueError("no front matter: the first line is not `---`")
    head, fence, body = text[len(_FENCE) :].partition("\n" + _FENCE)
    if not fence:
        raise ValueError("the front matter has no end: no second `---`")
    try:
        meta = yaml.load(head, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except yaml.YAMLError as error:
        raise ValueError(f"the front matter is not YAML: {str(error).splitlines()[0]}") from None
    if not isinstance(meta, dict):
        raise ValueError("the front matter is not a list of fields")
    return Document({str(key): value for key, value in meta.items()}, body.removeprefix("\n"))
