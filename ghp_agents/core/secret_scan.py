"""Finds likely secrets: tokens and keys of known shapes, and files that usually hold some.

Records are pushed, and what was pushed cannot be taken back.
"""

import re
from functools import partial
from typing import NamedTuple

from ghp_agents.core.errors import UsageError

# What is no value in a line of `.env` or YAML: a name in code, a reference, a path or a
# placeholder. After a colon or spaces only values with a digit count, because code has types there
# and prose has words.
_NO_VALUE = (
    r"(?![A-Z_]+\b|[A-Za-z_]{1,40}(?:\.[A-Za-z_]{1,40}){1,9}(?![^\s,;])|(?i:x{3,}|change|example|placeholder"
    r"|redacted|your|none\b|null\b|true\b|false\b|dummy|todo))"
)
_LETTERS_TOO = r"(?=[^\s\"'`]{0,50}[0-9])(?=[^\s\"'`]{0,50}[A-Za-z])"
_VALUE = r"([^\s\"'`$<>{}()\[\]%*/.,;\\…][^\s\"'`$<>{}()\[\]\\,;”»]{5,500})"
_ENDS = r"(?=[\"'`]?[ \t]{0,4}(?:\\?(?m:$)|#|[\"'`,”»]))"
_ENDS_OR_GOES_ON = r"(?=[\s\"'`#,;\\”»]|$)"
_NAME = (
    r"(?<![\w$.{-])(?:[A-Z][A-Z0-9]{0,40}_){0,9}[A-Z0-9]{0,20}"
    r"(?:PASSWORD|PASSWD|PASSPHRASE|SECRET|TOKEN|API_?KEY|ACCESS_?KEY|SECRET_?KEY|PRIVATE_?KEY"
    r"|KEY_BASE|CREDENTIALS?)[0-9]{0,2}[\"']?"
)


class Shape(NamedTuple):
    """The pattern of a kind of secret. It is only compiled and tried if one of the lower-case
    `signs` occurs, which saves nearly all of the time."""

    name: str
    signs: list[str]
    pattern: str


# The group of a pattern is the secret; without a group the whole match is. Each pattern takes
# linear time.
_NAMES = "passw passphrase secret token key credential"
_SHAPES = tuple(
    Shape(name, signs.split(), shape)
    for name, signs, shape in (
        (
            "a private key",
            "private",
            r"-----BEGIN (?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY(?: BLOCK)?-----(?:"
            r"[^-]*+(?:-(?!----)[^-]*+)*-----END [A-Z0-9 ]{1,60}-----"
            r"|(?:(?:\\n|[\s>+|#*\"'])*+[A-Za-z0-9+/=]{16,}+)*)",
        ),
        (
            "a GitHub token",
            "ghp_ gho_ ghu_ ghs_ ghr_ github_pat_",
            r"\b(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{50,})",
        ),
        ("a GitLab token", "glpat-", r"\bglpat-[A-Za-z0-9_-]{20,}"),
        ("an Anthropic key", "sk-ant-", r"\bsk-ant-[A-Za-z0-9_-]{24,}"),
        ("an OpenAI key", "sk-", r"\bsk-(?:proj-|svcacct-)?[A-Za-z0-9_-]{40,}"),
        ("an AWS key", "akia asia", r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b"),
        ("a Google key", "aiza", r"\bAIza[A-Za-z0-9_-]{35}\b"),
        ("a Slack token", "xox", r"\bxox[abeoprs]-[A-Za-z0-9-]{20,}"),
        ("a Stripe key", "k_live_", r"\b[rs]k_live_[A-Za-z0-9]{20,}"),
        ("an npm token", "npm_", r"\bnpm_[A-Za-z0-9]{36}\b"),
        ("a PyPI token", "pypi-", r"\bpypi-[A-Za-z0-9_-]{50,}"),
        (
            "a signed token",
            "eyj",
            r"(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{15,}\.eyJ[A-Za-z0-9_-]{15,}\.[A-Za-z0-9_-]{20,}",
        ),
        (
            "credentials in a header",
            "authorization",
            r"(?i:\bauthorization)[\"'`]?\s{0,3}[:=]\s{0,3}[\"'`]?(?i:basic|bearer|token)\s{1,3}"
            r"((?=[A-Za-z+/_.~-]{0,200}[0-9=])[A-Za-z0-9+/=_.~-]{8,}+)",
        ),
        (
            "a password for a machine",
            "login",
            r"\b(?:machine[\s>]{1,9}[^\s\"'`<>$]{1,255}|default)[\s>]{1,20}login[\s>]{1,9}"
            r"[^\s\"'`<>$]{1,255}[\s>]{1,20}password[\s>]{1,9}([^\s\"'`<>$\[…][^\s\"'`]{0,255})",
        ),
        ("a password or key", _NAMES, _NAME + r"=[\"'`]?" + _NO_VALUE + _VALUE + _ENDS_OR_GOES_ON),
        (
            "a password or key",
            _NAMES,
            _NAME + r"[ \t]{0,4}[:=][ \t]{1,4}[\"'`]?" + _NO_VALUE + _LETTERS_TOO + _VALUE + _ENDS,
        ),
        (
            "a key in an address",
            "? &",
            r"(?i)[?&](?:access_token|auth_token|api_?key|client_secret|password|sig|signature"
            r"|x-amz-signature)=((?=[^\s&#'\"<>]{0,40}[0-9])[^\s&#'\"<>${\[]{12,2000})",
        ),
        (
            "a password in an address",
            "://",
            r"\b[a-z][a-z0-9+.-]{1,20}://[^\s/:@'\"]+:[^\s/@'\"<{$]{6,}@",
        ),
    )
)
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
    return next((shape.name for shape in _likely(text) if re.search(shape.pattern, text)), None)


def redacted(text: str) -> str:
    """The text with likely secrets removed."""
    for shape in _likely(text):
        text = re.sub(shape.pattern, partial(_without, shape.name), text)
    return text


def _likely(text: str) -> list[Shape]:
    small = text.lower()
    return [shape for shape in _SHAPES if any(sign in small for sign in shape.signs)]


def _without(name: str, finding: re.Match[str]) -> str:
    """The replacement of a finding: the text before the secret stays."""
    start, end = (at - finding.start() for at in finding.span(finding.re.groups))
    return f"{finding[0][:start]}[{name} removed]{finding[0][end:]}"


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
    for shape in _likely(text):
        secret = re.search(shape.pattern, text)
        if secret:
            return shape.name, secret[secret.re.groups]
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
