"""JSON without the price of `import json`, which is as much as all the rest of a beat."""

import os

try:
    import _json  # CPython's own, in C
except ImportError:
    _json = None  # type: ignore[assignment]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

LIMIT = 1_000_000  # bytes; what is larger is none of ours


def read_object(path: str) -> "dict[str, Any] | None":
    """The JSON object in a file; None when the file is not there or is something else."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)  # nor wait for a pipe
    except OSError:
        return None
    try:
        size = os.fstat(file).st_size
        data = os.read(file, size + 1) if size < LIMIT else b""
    except OSError:  # it is a folder
        return None
    finally:
        os.close(file)
    try:
        value = decode(data.decode("utf-8"))
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def decode(text: str) -> "Any":
    """Read JSON. Raises ValueError."""
    if _json is None:
        import json

        return json.loads(text, parse_constant=_no_constant)
    text = text.strip()
    try:
        value, end = _json.make_scanner(_Context)(text, 0)  # type: ignore[arg-type]
    except (StopIteration, RecursionError):
        raise ValueError("not JSON") from None
    if end != len(text):
        raise ValueError("not JSON: something follows")
    return value


def encode(value: "Any") -> bytes:
    """Write compact JSON with a final newline."""
    if _json is None:
        import json

        return json.dumps(value).encode() + b"\n"
    quote = _json.encode_basestring_ascii
    parts = _json.make_encoder(None, str, quote, None, ": ", ", ", False, False, True)(value, 0)
    return "".join(parts).encode() + b"\n"


def _no_constant(name: str) -> None:
    """NaN and Infinity are no JSON, and NaN is never equal to itself: it would always be news."""


class _Context:
    """What the C scanner of `json` asks its decoder for."""

    strict = True
    object_hook = None
    object_pairs_hook = None
    parse_float = float
    parse_int = int
    parse_constant = _no_constant
