"""What looks like a secret: tokens and keys of known shapes, and files that are made to hold some.

A record of the state is pushed, and what was pushed cannot be taken back.
"""

import re

from ghp_agents.errors import UsageError

_SHAPES: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (name, re.compile(shape))
    for name, shape in (
        ("a private key", r"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----"),
        ("a GitHub token", r"\b(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{50,})"),
        ("a GitLab token", r"\bglpat-[A-Za-z0-9_-]{20,}"),
        ("an Anthropic key", r"\bsk-ant-[A-Za-z0-9_-]{24,}"),
        ("an OpenAI key", r"\bsk-(?:proj-|svcacct-)?[A-Za-z0-9_-]{40,}"),
        ("an AWS key", r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b"),
        ("a Google key", r"\bAIza[A-Za-z0-9_-]{35}\b"),
        ("a Slack token", r"\bxox[abeoprs]-[A-Za-z0-9-]{20,}"),
        ("a Stripe key", r"\b[rs]k_live_[A-Za-z0-9]{20,}"),
        ("an npm token", r"\bnpm_[A-Za-z0-9]{36}\b"),
        ("a PyPI token", r"\bpypi-[A-Za-z0-9_-]{50,}"),
        ("a signed token", r"\beyJ[A-Za-z0-9_-]{15,}\.eyJ[A-Za-z0-9_-]{15,}\.[A-Za-z0-9_-]{20,}"),
        ("a password in an address", r"\b[a-z][a-z0-9+.-]{1,20}://[^\s/:@'\"]+:[^\s/@'\"<{$]{6,}@"),
    )
)
# In prose a value that is named as a secret is one, if it looks like no word. In code it is not:
# there the value is often a name, so patches are not looked at in this way.
_NAMED = re.compile(
    r"(?i)\b(?:password|passwd|passphrase|secret|token|api[_ -]?key|access[_ -]?key|credentials?)"
    r"(?:\s+is)?\s*[:=]?\s*['\"`]?((?=[^\s'\"`]*\d)(?=[^\s'\"`]*[A-Za-z])[^\s'\"`<${}()]{12,})"
)
_PLACE = re.compile(r"[a-z0-9_.-]*[/.][a-z0-9_./-]*", re.IGNORECASE)  # a path, a file, a host
_FILES = re.compile(
    r"(?:\.env(?:\.(?!example$|sample$|template$|dist$)[\w.-]+)?|\.netrc|\.pgpass|\.git-credentials"
    r"|id_(?:rsa|dsa|ecdsa|ed25519)|.+\.(?:p12|pfx|jks|keystore|kdbx))",
    re.IGNORECASE,
)


def find(text: str) -> str | None:
    """What kind of secret the text seems to hold, in words, or None."""
    return next((name for name, shape in _SHAPES if shape.search(text)), None)


def redacted(text: str) -> str:
    """The text with what looks like a secret taken out."""
    for name, shape in _SHAPES:
        text = shape.sub(f"[{name} was taken out]", text)
    return text


def refuse(what: str, text: str) -> None:
    """Raises UsageError when the text, called `what`, seems to hold a secret."""
    kind = find(text)
    if kind:
        raise UsageError(
            f"The {what} seems to hold {kind}; what is recorded is shared and cannot be taken "
            "back.",
            hint="Take it out, and say where it is kept instead. Nothing was recorded.",
        )


def refuse_in_note(text: str) -> None:
    """Like `refuse`, for a note: it also looks for values that are named as secrets, and shows
    where, with the finding masked. Raises UsageError."""
    found = _in_note(text)
    if found:
        kind, value = found
        raise UsageError(
            f"The note seems to hold {kind}: {mask(value)}. Notes are shared, and cannot be taken "
            "back.",
            hint="Say where it is kept instead of what it is. Nothing was recorded.",
        )


def _in_note(text: str) -> tuple[str, str] | None:
    for name, shape in _SHAPES:
        found = shape.search(text)
        if found:
            return name, found[0]
    for named in _NAMED.finditer(text):
        if not _PLACE.fullmatch(named[1].rstrip(".,;:!?)")):
            return "a password or key", named[1]
    return None


def mask(value: str) -> str:
    """Enough of a secret to find it in one's own text, and no more."""
    return f"{value[:4]}…({len(value)} characters)"


def is_made_for_secrets(path: str) -> bool:
    """Whether a file of this name usually holds secrets."""
    return bool(_FILES.fullmatch(path.rpartition("/")[2]))
