"""Why a server refuses a push, by its own words.

The words are text by others. They choose what is tried first and which advice is shown; only the
server's answers decide.
"""

import re
from collections.abc import Collection, Iterable, Sequence
from enum import StrEnum

from ghp_agents.core.ids import one_line
from ghp_agents.core.remote_url import masked
from ghp_agents.git import process as git

MOST_LINES = 200  # of a server's output
LONGEST = 500  # characters of its words
_NOISE = re.compile(
    r"[\W_]*|\(\?\).*|https?://\S*|locations:|-? ?(commit|path|blob id): .*|found \d+ violations?:"
    r"|resolve the following violations .*|review all repository rules at .*|[0-9a-f]{40,64}"
)
_OBJECT = re.compile(r"(?:commit: |blob id: )?([0-9a-f]{7,64})")
_TO_ALLOW = re.compile(r"https://\S{1,300}/unblock-secret/\S{1,100}")


class Reason(StrEnum):
    """What a refusal is about."""

    SECRET = "secret"  # push protection
    SIZE = "size"
    SIGNATURE = "signature"  # a rule asks for signed commits
    CREATION = "creation"  # a rule restricts who creates or updates such a ref
    SSO = "sso"  # the token or key is not authorized for the organization
    ARCHIVED = "archived"
    ACCESS = "access"
    RULE = "rule"  # any other rule


_SIGNS = (
    (Reason.SSO, ("saml sso", "sso?authorization_request")),
    (Reason.ARCHIVED, ("archived so it is read-only",)),
    (Reason.SECRET, ("cannot contain secrets", "push protection")),
    (Reason.SIZE, ("large files detected", "file size limit", "exceeds github's")),
    (Reason.SIGNATURE, ("verified signatures", "must be signed")),
    (Reason.CREATION, ("creations being restricted", "updates being restricted")),
    (Reason.RULE, ("rule violations", "hook declined", "[remote rejected]")),
)

_LOOK = "`ghp agent-sync --refused` shows it"
OF_RECORD = {
    Reason.SECRET: "Revoke the secret if it is real, and take it out of the files. Then write it "
    f"again (a handoff: `ghp agent-handoff`). {_LOOK}; `--drop` and `--retry` decide.",
    Reason.SIZE: "Write it again with less: leave large files out of the work. "
    f"{_LOOK}; `--drop` and `--retry` decide.",
}
_OTHER_RECORD = (
    f"{_LOOK}. Write it again in a form that the rule accepts, or change the rule; then "
    "`--drop` or `--retry` it."
)
_ELSEWHERE = 'Or name another remote, such as a fork: "agents": {"remote": "fork"}.'
OF_CLONE = {
    Reason.SIGNATURE: "A rule asks for signed commits, and records are not signed. Ask "
    f"somebody who can edit the repository's rules to leave out the branches ghp/**. {_ELSEWHERE}",
    Reason.CREATION: "A rule restricts who may create or update such refs. Ask "
    f"somebody who can edit the repository's rules to leave out the branches ghp/**. {_ELSEWHERE}",
    Reason.SSO: "A person authorizes the token for the organization on GitHub: Settings, Developer "
    "settings, Personal access tokens, Configure SSO. For an SSH key: Settings, SSH and GPG keys, "
    "Configure SSO.",
    Reason.ARCHIVED: "Nobody can write to an archived repository. Ask its owner to unarchive it. "
    + _ELSEWHERE,
    Reason.RULE: "A rule of the remote refuses this clone's ref. Ask somebody who can edit its "
    f"rules or hooks to accept refs/ghp/*. {_ELSEWHERE}",
}
_OTHER_CLONE = (
    "Trying again will not help. Ask for permission to push, or name another remote, such as a "
    'fork: "agents": {"remote": "fork"}.'
)


def of_record(words: str) -> str:
    """What to do about a record that was refused."""
    return OF_RECORD.get(cause(words), _OTHER_RECORD)


def of_clone(words: str) -> str:
    """What to do if everything that a clone pushes is refused."""
    return OF_CLONE.get(cause(words), _OTHER_CLONE)


def cause(words: str) -> Reason:
    """What a refusal is about."""
    low = words.lower()
    return next((it for it, signs in _SIGNS if any(sign in low for sign in signs)), Reason.ACCESS)


def may_be_about_records(words: str) -> bool:
    """Whether the refusal may be about some records, so that the remote accepts the others."""
    return cause(words) in (Reason.SECRET, Reason.SIZE, Reason.RULE)


def readable(lines: Iterable[str]) -> str:
    """The server's lines as one, without rulers, places and links to help."""
    plain = (one_line(line, LONGEST).removeprefix("error: ").strip("- —") for line in lines)
    kept = (line for line in plain if not _NOISE.fullmatch(line.lower()))
    return " ".join(dict.fromkeys(kept))[:LONGEST]


def pages(lines: Iterable[str]) -> list[str]:
    """The pages where a person may allow a secret, at most three."""
    matches = (_TO_ALLOW.search(line) for line in lines)
    return list(dict.fromkeys(match.group() for match in matches if match))[:3]


def named(lines: Sequence[str], commits: Sequence[Collection[str]]) -> list[int]:
    """The indexes of the commits that the server names. Each commit has its own id and the ids of
    the objects that it adds."""
    matches = (_OBJECT.fullmatch(line.strip("- ")) for line in lines)
    names = tuple({match.group(1) for match in matches if match})
    return [
        index for index, oids in enumerate(commits) if any(oid.startswith(names) for oid in oids)
    ]


# How the line with the error begins; later lines are often only advice.
_ERRORS = (
    *("fatal:", "error:", "remote: error", "! "),
    *("ERROR:", "ssh:", "Permission denied", "Host key verification failed"),
)


def first_error(result: git.Result) -> str:
    """The error line of git's output, without credentials in addresses."""
    lines = [masked(line.strip()) for line in result.err.splitlines() if line.strip()]
    for line, following in zip(lines, [*lines[1:], ""], strict=False):
        if line.startswith(_ERRORS):
            line = f"{line} {following}".rstrip() if line.endswith(":") else line
            # Over HTTP, only the server's own lines say why.
            why = readable(server_lines(result)) if "returned error: 403" in line else ""
            return masked(f"{why} ({line})" if why else line)
    return lines[-1] if lines else f"exit code {result.code}"


def server_lines(result: git.Result) -> tuple[str, ...]:
    """What the server wrote, at most some lines."""
    from ghp_agents.state import refusal

    lines = (line[8:].strip() for line in result.err.splitlines() if line.startswith("remote: "))
    return tuple(line for line in lines if line)[: refusal.MOST_LINES]
