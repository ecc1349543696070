"""JSON as people read it, two spaces deep, without giving up the encoder that is written in C.

`json.dumps(indent=2)` does without that encoder, which was the largest part of printing a large
state. Here each level goes to it whole, with its newline and blanks as the separator, and what is
nested takes the place of a `null`. Inside of a JSON string there is no newline, so what follows
one is never a person's text.
"""

import json
from collections.abc import Callable
from functools import cache
from typing import Any

try:
    import _json
except ImportError:  # another Python than CPython
    _json = None  # type: ignore[assignment]

_PLAIN = frozenset((str, int, float, bool, type(None)))


def indented(value: Any) -> str:
    """What `json.dumps(value, indent=2, ensure_ascii=False)` answers, for keys that are text."""
    if _json is None:
        return json.dumps(value, indent=2, ensure_ascii=False)
    return _text(value, "\n")


def _text(value: Any, outside: str) -> str:
    """The text of `value`, whose last line begins with `outside`: a newline and blanks."""
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
    """The encoder for what has nothing nested in it; `inside` comes before all items but one."""
    quote = _json.encode_basestring
    encoder = _json.make_encoder(None, _refuse, quote, None, ": ", "," + inside, False, False, True)
    return lambda value: "".join(encoder(value, 0))


def _refuse(value: Any) -> Any:
    raise TypeError(f"{type(value).__name__} is not JSON")
