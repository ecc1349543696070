"""JSON indented by two spaces, using the fast encoder written in C.

`json.dumps(indent=2)` does not use the C encoder, which made printing a large state slow. Here each
level is encoded whole, with newline and blanks as the separator. Nested values are encoded as
`null` first and then replaced. JSON strings contain no newline, so a replacement never hits user
text.
"""

import json
from collections.abc import Callable
from functools import cache
from typing import Any

try:
    import _json
except ImportError:  # not CPython
    _json = None  # type: ignore[assignment]

_PLAIN = frozenset((str, int, float, bool, type(None)))


def indented(value: Any) -> str:
    """The same as `json.dumps(value, indent=2, ensure_ascii=False)`, for text keys."""
    if _json is None:
        return json.dumps(value, indent=2, ensure_ascii=False)
    return _text(value, "\n")


def _text(value: Any, outside: str) -> str:
    """The text of `value`; its last line begins with `outside`, a newline and blanks."""
    inside = outside + "  "
    if not value or not isinstance(value, dict | list | tuple):
        return _flat(inside)(value)
    if isinstance(value, dict):
        return "{" + _members(value, inside) + outside + "}"
    if _PLAIN.issuperset(map(type, value)):
        return "[" + inside + _flat(inside)(value)[1:-1] + outside + "]"
    return "[" + ",".join([inside + _text(item, inside) for item in value]) + outside + "]"


def _members(value: dict[str, Any], inside: str) -> str:
    quote = _json.encode_basestring
    nested = [key for key, member in value.items() if type(member) not in _PLAIN]
    if len(nested) == len(value):
        return ",".join([f"{inside}{quote(key)}: {_text(value[key], inside)}" for key in nested])
    text = inside + _flat(inside)(value | dict.fromkeys(nested))[1:-1]
    for key in nested:
        start = f"{inside}{quote(key)}: "
        text = text.replace(start + "null", start + _text(value[key], inside), 1)
    return text


@cache
def _flat(inside: str) -> Callable[[Any], str]:
    """The encoder for values without nesting; `inside` separates the items."""
    quote = _json.encode_basestring
    encoder = _json.make_encoder(None, _refuse, quote, None, ": ", "," + inside, False, False, True)
    return lambda value: "".join(encoder(value, 0))


def _refuse(value: Any) -> Any:
    raise TypeError(f"{type(value).__name__} is not JSON")
