"""Records without secrets: the last door before they are stored and sent.

Commands refuse a secret that somebody typed (`cli/secret_gate.py`). Here it is taken out of what
nobody typed: the names of branches and files, files that a command read, texts of programs.
"""

import json
from typing import Any

from ghp_agents.state.record import Record

# What is judged file by file before it is stored, and whose digest is in another record.
_WHOLE = (".patch", ".pack")
SHORTEST = 12  # characters; no shorter word is a secret without a name before it


def cleaned(record: Record) -> Record:
    """The record without likely secrets."""
    files = tuple((path, clean_file(path, content)) for path, content in record.files)
    return record._replace(
        files=files, text=clean_text(record.text), object=clean_text(record.object)
    )


def clean_file(path: str, content: bytes) -> bytes:
    """The content of a record's file without likely secrets. In JSON only texts are changed, so it
    stays JSON."""
    if path.endswith(_WHOLE):
        return content
    try:
        text = content.decode()
    except UnicodeDecodeError:
        return content
    if clean_text(text) == text:
        return content
    try:
        fields = json.loads(text)
    except (ValueError, RecursionError):
        return clean_text(text).encode()
    tidy = clean_value(fields)
    if tidy == fields:
        return content
    return (
        json.dumps(tidy, indent=2, ensure_ascii=False).encode("utf-8", "backslashreplace") + b"\n"
    )


def clean_value(value: Any) -> Any:
    """A value of JSON types without likely secrets in its texts."""
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, list | tuple):
        return [clean_value(part) for part in value]
    if isinstance(value, dict):
        return {clean_text(key): clean_value(part) for key, part in value.items()}
    return value


def clean_text(text: str) -> str:
    """The text without likely secrets."""
    if len(text) < SHORTEST:
        return text
    from ghp_agents.core import secret_scan  # slow to load, and only writers need it

    return secret_scan.redacted(text)
