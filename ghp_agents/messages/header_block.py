"""A message as text: a block of header lines, an empty line, and the body.

    Timestamp: 2026-01-02T03:04:05Z
    Sender: worker-1
    Subject: Review the parser

    The body, up to the end of the file.

A value has one line, so that no text can add a header, and each header occurs once.
"""

from collections.abc import Mapping
from typing import NamedTuple

LIMIT = 64_000  # characters of all headers
_NAME = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-"


class Block(NamedTuple):
    """Headers and body."""

    headers: Mapping[str, str]
    body: str


def render(block: Block) -> bytes:
    """The block as a file. A value with a line end or a control character is an error of the
    caller: ValueError."""
    for name, value in block.headers.items():
        if not _is_name(name) or not _is_value(value):
            raise ValueError(f"{name!r} cannot be a header with this value")
    lines = "".join(f"{name}: {value}".rstrip() + "\n" for name, value in block.headers.items())
    return f"{lines}\n{block.body}".encode("utf-8", "replace")


def parse(data: bytes) -> Block:
    """The reverse of `render`. Raises ValueError."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(f"not UTF-8 text (byte {error.start})") from None
    head, end, body = text.partition("\n\n")
    if not end:
        raise ValueError("its headers have no end: no empty line")
    if len(head) > LIMIT:
        raise ValueError(f"its headers have more than {LIMIT} characters")
    headers: dict[str, str] = {}
    for line in head.split("\n"):
        name, colon, value = line.partition(":")
        if not colon or not _is_name(name):
            raise ValueError("a line is not a header")
        if name in headers:
            raise ValueError(f"it has the header {name[:40]} twice")
        headers[name] = value.strip()
    return Block(headers, body)


def _is_name(text: str) -> bool:
    return 0 < len(text) <= 60 and not text.strip(_NAME)


def _is_value(text: str) -> bool:
    return text.isprintable() and text == text.strip()
