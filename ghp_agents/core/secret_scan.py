"""Finds likely secrets: tokens and keys of known shapes, and files that usually hold some.

Records are pushed, and what was pushed cannot be taken back.
"""

import re
from functools import partial

from ghp_agents.core.errors import UsageError
from ghp_agents.core.named_secrets import values
from ghp_agents.core.secret_shapes import SHAPES, Shape

_NAMED_KIND = "a password or key"

# In prose a value after a name like "password" is a secret unless it looks like a word. Patches are
# not checked this way, because in code the value is often a name.
_NAMED = (
    r"(?i)\b(?:password|passwd|passphrase|secret|token|api[_ -]?key|access[_ -]?key|credentials?)"
    r"(?:\s{1,3}is)?\s{0,3}[:=]?\s{0,3}['\"`]?"
    r"((?=[^\s'\"`]{0,40}\d)(?=[^\s'\"`]{0,40}[A-Za-z])[^\s'\"`<${}()]{12,})"
)
_PLACE = r"(?i)[a-z0-9_.-]*[/.][a-z0-9_./-]*"  # a path, a file, a host
_FILES = (
    r"(?i)(?:\.env(?:\.(?!example$|sample$|template$|dist$)[\w.-]+)?|\.netrc|\.pgpass|\.git-credentials"
    r"|id_(?:rsa|dsa|ecdsa|ed25519)|.+\.(?:p12|pfx|jks|keystore|kdbx))"
)


def find(text: str) -> str | None:
    """The kind of secret that the text seems to hold, in words, or None."""
    finding = _first(text)
    return finding[0] if finding else None


def redacted(text: str) -> str:
    """The text with likely secrets removed."""
    for shape in _likely(text):
        text = re.sub(shape.pattern, partial(_without, shape), text)
    parts, end = [], 0
    for start, stop in values(text, _small(text)):
        parts += [text[end:start], f"[{_NAMED_KIND} removed]"]
        end = stop
    return "".join(parts) + text[end:]


def _likely(text: str) -> list[Shape]:
    small = text.lower()
    return [shape for shape in SHAPES if any(map(small.__contains__, shape.signs))]


def _small(text: str) -> str:
    """The text in small letters, each at its place."""
    small = text.lower()
    return small if len(small) == len(text) else "".join(c.lower()[0] for c in text)


def _first(text: str) -> tuple[str, str] | None:
    """The kind of a secret in the text, and the secret."""
    for shape in _likely(text):
        for finding in re.finditer(shape.pattern, text):
            if shape.is_secret(finding):
                return shape.name, finding[finding.re.groups]
    for start, end in values(text, _small(text)):
        return _NAMED_KIND, text[start:end]
    return None


def _without(shape: Shape, finding: re.Match[str]) -> str:
    """The replacement of a finding: the text before the secret stays."""
    if not shape.is_secret(finding):
        return finding[0]
    start, end = (at - finding.start() for at in finding.span(finding.re.groups))
    return f"{finding[0][:start]}[{shape.name} removed]{finding[0][end:]}"


def refuse(what: str, text: str) -> None:
    """Raise UsageError if the text, called `what`, seems to hold a secret."""
    kind = find(text)
    if kind:
        raise UsageError(
            f"The {what} seems to contain {kind}. Records are shared and cannot be withdrawn.",
            hint="Remove it, and say where it is stored instead. Nothing was saved.",
        )


def refuse_in_note(text: str) -> None:
    """Like `refuse`, for a note. It also looks for values named as secrets, and shows the finding
    masked. Raises UsageError."""
    secret = _in_note(text)
    if secret:
        kind, value = secret
        raise UsageError(
            f"The note seems to contain {kind}: {mask(value)}. Notes are shared and cannot be "
            "withdrawn.",
            hint="Say where it is stored instead. Nothing was saved.",
        )


def _in_note(text: str) -> tuple[str, str] | None:
    finding = _first(text)
    if finding:
        return finding
    for named in re.finditer(_NAMED, text):
        if not re.fullmatch(_PLACE, named[1].rstrip(".,;:!?)")):
            return "a password or key", named[1]
    return None


def mask(value: str) -> str:
    """Just enough of a secret to find it in one's own text."""
    return f"{value[:4]}…({len(value)} characters)"


def is_made_for_secrets(path: str) -> bool:
    """Whether files of this name usually hold secrets."""
    return bool(re.fullmatch(_FILES, path.rpartition("/")[2]))
