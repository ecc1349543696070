"""JSON without `import json`, which would cost as much as the rest of a heartbeat."""

import os

try:
    import _json  # CPython's own, in C
except ImportError:
    _json = None  # type: ignore[assignment]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

LIMIT = 1_000_000  # bytes; our files are smaller


def read_object(path: str) -> "dict[str, Any] | None":
    """The JSON object in a file; None if the file is missing or something else."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)  # never blocks on a pipe
    except OSError:
        return None
    try:
        size = os.fstat(file).st_size
        data = os.read(file, size + 1) if size < LIMIT else b""
    except OSError:  # a folder
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
    """NaN and Infinity are not JSON. NaN never equals itself, so it would always look new."""


class _Context:
    """The settings that `json`'s C scanner reads from its decoder."""

    strict = True
    object_hook = None
    object_pairs_hook = None
    parse_float = float
    parse_int = int
    parse_constant = _no_constant
