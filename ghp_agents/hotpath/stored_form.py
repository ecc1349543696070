"""The content of a file as git would store it: line endings, and attributes that rule out a merge.

No filter runs here: a file with a filter, or with a merge driver, is merged by nobody but git.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

ATTRIBUTES = (
    "text", "crlf", "eol", "filter", "merge", "ident", "working-tree-encoding",
)  # fmt: skip
_ON = ("true", "yes", "on", "1", "input")  # of core.autocrlf
_UNSPECIFIED, _SET, _UNSET, _AUTO = "unspecified", "set", "unset", "auto"


def read_attributes(output: bytes) -> "dict[str, str]":
    """The attributes from the output of `git check-attr -z` about one file."""
    words = output.decode("utf-8", "surrogateescape").split("\0")
    values = dict(zip(words[1::3], words[2::3], strict=False))
    return {name: values.get(name, _UNSPECIFIED) for name in ATTRIBUTES}


def whole_reason(attributes: "Mapping[str, str]") -> str:
    """Why the file cannot be merged line by line here; empty if it can."""
    if attributes["merge"] not in (_UNSPECIFIED, _SET, "text", "union"):
        if attributes["merge"] in (_UNSET, "binary"):
            return "its attributes say that it is not merged"
        return "it has a merge driver of its own"
    if attributes["filter"] not in (_UNSPECIFIED, _UNSET):
        return "it has a filter"
    if attributes["ident"] == _SET:
        return "it has the attribute ident"
    if attributes["working-tree-encoding"] not in (_UNSPECIFIED, _UNSET):
        return "it is stored in another encoding"
    return ""


def is_union(attributes: "Mapping[str, str]") -> bool:
    """Whether both sides of a conflict are kept, so there is none."""
    return attributes["merge"] == "union"


def line_endings(attributes: "Mapping[str, str]", autocrlf: str) -> str:
    """`lf`: CRLF is stored as LF; `auto`: that too, unless the file is binary or has CRLF already;
    empty: everything is stored as it is. `autocrlf` is the setting `core.autocrlf`."""
    text = attributes["text"]
    if text == _UNSPECIFIED:
        text = {"input": _SET}.get(attributes["crlf"], attributes["crlf"])
    if text == _UNSET:
        return ""
    if text == _AUTO:
        return "auto"
    if text == _SET or attributes["eol"] in ("lf", "crlf"):
        return "lf"
    return "auto" if autocrlf.lower() in _ON else ""


def stored(content: bytes, endings: str, base: bytes | None) -> bytes:
    """The content as git would store it; `base` is what is stored now."""
    if not endings or b"\r\n" not in content:
        return content
    if endings == "auto" and (_is_binary(content) or (base and b"\r\n" in base)):
        return content
    return content.replace(b"\r\n", b"\n")


def _is_binary(content: bytes) -> bool:
    """As git decides it before it converts line endings."""
    if b"\0" in content or content.count(b"\r") != content.count(b"\r\n"):
        return True
    odd = sum(content.count(byte) for byte in _ODD)
    return (len(content) - odd) >> 7 < odd


_ODD = [bytes([number]) for number in range(32) if number not in b"\b\t\n\r\033\014"] + [b"\x7f"]
