"""The environment that a child command gets, and its output with secrets removed."""

import base64
import binascii
import re
from collections.abc import Collection, Iterator, Mapping

from ghp_agents.core import stored_logins
from ghp_agents.core.remote_url import masked, without_users
from ghp_agents.core.secret_scan import find, redacted
from ghp_agents.hotpath.ignored_files import LOCAL_VARIABLES
from ghp_agents.hotpath.quoting import clean

# Names of variables that hold a secret. KEY, PASS and the like match only as whole words: KEYBOARD,
# PATH and TOKENIZERS_PARALLELISM are not secrets.
_SECRET_NAME = re.compile(
    r"TOKEN(?!IZ)|SECRET|PASSW|PASSPHRASE|CREDENTIAL|(?:API|ACCESS|PRIVATE)_?KEY|_PWD$"
    r"|WEBHOOK|COOKIE|(?<![A-Z])(?:KEYS?|PASS|PAT|AUTH|JWT|CREDS?|DSN)(?![A-Z])",
    re.I,
)
# Names of variables that give access to credentials: git's settings, askpass programs, agent
# sockets, and the services of GitHub Actions.
_ACCESS_NAME = re.compile(r"GIT_CONFIG_|ACTIONS_|VSCODE_GIT_|.*ASKPASS|SSH_AUTH_SOCK$", re.I)
_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])")
_AUTHORIZATION = re.compile(r"(?i)\bauthorization:\s*([a-z]+)\s+(\S+)")
_PASSWORD = re.compile(r"://[^\s/:@]*:([^\s/@]+)@")
LONGEST_VALUE = 16_384  # characters that are looked through
SHORTEST_SECRET = 8  # a shorter value may be an ordinary word


def for_commands(environ: Mapping[str, str], keep: Collection[str] = ()) -> dict[str, str]:
    """The environment for a command that the repository configures: without secrets and without
    access to credentials, except for the names in `keep`. Anyone with write access chooses the
    command."""
    logins = stored_logins.for_children(environ)
    without = {*LOCAL_VARIABLES, *left_out(environ, keep)}
    return logins | {
        name: value for name, value in environ.items() if name in keep or name not in without
    }


def left_out(environ: Mapping[str, str], keep: Collection[str] = ()) -> list[str]:
    """The names of the variables that `for_commands` leaves out because they hold or give access to
    credentials: their name says so, or their value looks like one."""
    return sorted(
        name
        for name, value in environ.items()
        if name not in keep
        and name not in LOCAL_VARIABLES
        and (_is_secret(name) or _ACCESS_NAME.match(name) or _holds_secret(value))
    )


def credentials_left_out(environ: Mapping[str, str], keep: Collection[str] = ()) -> list[str]:
    """Of `left_out` the names that hold a credential, and do not only lead to one."""
    return [name for name in left_out(environ, keep) if not _ACCESS_NAME.match(name)]


def _holds_secret(value: str) -> bool:
    return len(value) >= SHORTEST_SECRET and find(value[:LONGEST_VALUE]) is not None


def _is_secret(name: str) -> bool:
    return bool(_SECRET_NAME.search(name))


def shown(output: str, environ: Mapping[str, str]) -> str:
    """A command's output without control sequences and recognizable secrets."""
    text = clean(_ESCAPES.sub("", output).replace("\r\n", "\n").replace("\r", "\n"))
    return redacted(masked(without_secrets(text, environ))).strip("\n")


def publishable(text: str, environ: Mapping[str, str]) -> str:
    """A page that may be stored and sent: without recognizable secrets."""
    return redacted(without_users(without_secrets(text, environ)))


def without_secrets(text: str, environ: Mapping[str, str]) -> str:
    """The text without the environment's secrets, plain or in base64."""
    for value in sorted({*_secrets(environ)}, key=len, reverse=True):
        text = text.replace(value, "***")
        for encoded in _in_base64(value):
            text = encoded.sub("***", text)
    return text


def _secrets(environ: Mapping[str, str]) -> Iterator[str]:
    secrets = (value for pair in environ.items() for value in _in_variable(*pair))
    return (value for value in secrets if len(value) >= SHORTEST_SECRET)


def _in_variable(name: str, value: str) -> Iterator[str]:
    """The secrets in one variable: its value if the name says so, else credentials in a header or
    URL."""
    if (_is_secret(name) or _holds_secret(value)) and not _ACCESS_NAME.match(name):
        yield value.strip()
    for scheme, credential in _AUTHORIZATION.findall(value):
        yield credential
        if scheme.lower() == "basic":
            yield from _of_basic(credential)
    yield from _PASSWORD.findall(value)


def _of_basic(credential: str) -> Iterator[str]:
    """The password in `base64(user:password)`, or the user if that is the secret."""
    try:
        user, _, password = base64.b64decode(credential).decode().partition(":")
    except (binascii.Error, ValueError):
        return
    yield password if len(password) >= SHORTEST_SECRET else user


def _in_base64(value: str) -> list[re.Pattern[str]]:
    """Patterns that find the value inside base64 text, at any offset. Each uses only the characters
    that do not depend on the neighbours. Line breaks may be anywhere."""
    codes: dict[str, None] = {}
    data = value.encode("utf-8", "surrogateescape")
    for before in range(3):
        after = (-before - len(data)) % 3
        whole = b"\0" * before + data + b"\0" * after
        # Two characters share a byte, so those at an edge depend on the neighbour.
        first, last = (0, 2, 3)[before], (0, 2, 3)[after]
        for code in (base64.b64encode(whole), base64.urlsafe_b64encode(whole)):
            codes[code.decode()[first : len(code) - last]] = None
    return [re.compile(r"\s?".join(map(re.escape, code))) for code in codes]
