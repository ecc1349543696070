"""The account that a client works with, and how long it waits.

An account is a client's family with what it logs in with: its home, the folders that it reads
logins from, its keys, and the server that it asks. All supervisors of this user that have the same
are one account, in whatever clone. Keys are kept as a digest only.
"""

import hashlib
import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ghp_agents.core.clock import for_people, to_text
from ghp_agents.core.json_file import JsonFile
from ghp_agents.hotpath.heartbeat import PAUSES
from ghp_agents.hotpath.quoting import phrase
from ghp_agents.runs.outages import reset_times
from ghp_agents.runs.outages.forms import NEEDS_PERSON, Outage
from ghp_agents.runs.runners import RUNNERS

if TYPE_CHECKING:
    from ghp_agents.runs.launch import RunCommand

FOLDER = "ghp/accounts"
FIRST_WAIT = 60.0  # seconds, where no time is named; doubled after each try that fails
LONGEST_WAIT = 1_800.0
MARGIN = 5.0  # seconds after a named time
ALL = "All agents with this account wait, and no try is used up."
QUOTED = 200  # characters of a client's words
# Where clients keep logins, and the servers that they ask: variables that change the account.
PLACES = (
    "HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME",
    "GEMINI_CLI_HOME", "CURSOR_CONFIG_DIR", "OPENCODE_CONFIG", "ANTHROPIC_BASE_URL",
    "CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX", "OPENAI_BASE_URL", "OPENAI_API_BASE",
    "GOOGLE_GEMINI_BASE_URL", "OLLAMA_HOST", "OLLAMA_API_BASE",
)  # fmt: skip
FAMILIES = {"claude-bg": "claude"}
SEVERAL = ("aider", "opencode", "openai")  # their model's name says whose account it is


class Account(NamedTuple):
    """A client's family, and a digest of what it logs in with."""

    client: str
    key: str


class AccountPause(NamedTuple):
    """Why an account waits. Times are seconds since the epoch: servers name them so."""

    client: str
    kind: str
    text: str  # the client's words, printable
    since: float
    until: float
    tries: int = 1  # runs that found it so
    is_named: bool = False  # the client named the time

    @property
    def end(self) -> str:
        """Its end, for people."""
        return for_people(to_text(self.until))

    @property
    def words(self) -> str:
        """What its agents do meanwhile, in one line."""
        then = "" if self.is_named else "; then it tries again"
        return f"{PAUSES}{self.client} until {self.end}: {self.kind}{then}"

    @property
    def sentences(self) -> str:
        """What a person is told of it."""
        printed = f" It printed: {phrase(self.text, QUOTED)}" if self.text else ""
        act = (
            f"Log in with {self.client}, or add credit. It is tried again until that works."
            if self.kind in NEEDS_PERSON
            else "They continue by themselves."
        )
        return f"{self.words}.{printed} {ALL} {act}"


def of(command: "RunCommand", environ: Mapping[str, str]) -> Account:
    """The account of a supervisor's runs."""
    name = command.runner.name
    keys = {*command.runner.keeps, *command.keep, *PLACES}
    login = {key: environ[key] for key in sorted(keys) if environ.get(key)}
    words = [word for word in command.args if "://" in word]
    words += [] if name in RUNNERS else command.runner.words  # of the person's own client
    options = [f"--model={command.model}", *command.args]
    vendors = [word.rpartition("=")[2].partition("/")[0] for word in options if "/" in word]
    parts = [name, login, words, vendors if name in SEVERAL else []]
    client = FAMILIES.get(name, name)
    digest = hashlib.sha256(json.dumps([client, *parts[1:]]).encode("utf-8", "replace"))
    return Account(client, digest.hexdigest()[:16])


def file(
    account: Account, environ: Mapping[str, str]
) -> tuple[Path, JsonFile[AccountPause | None]]:
    """Where it is kept that an account waits: outside of all clones, for this user."""
    base = environ.get("GHP_STATE_DIR") or environ.get("XDG_STATE_HOME")
    folder = Path(base or f"{environ.get('HOME') or '/'}/.local/state", FOLDER)
    path = folder / f"{account.key}.json"
    return path, JsonFile(path, _decode, _nothing)


def paused(
    account: Account, outage: Outage, now: float, before: AccountPause | None, *, tried: bool
) -> AccountPause:
    """The pause after one more run that ended for this reason. `tried` tells that the run was a
    try after the end of the pause `before`."""
    tries = before.tries + tried if before else 1
    named = outage.resets or reset_times.read(outage.text, now) or 0.0
    is_named = named > now
    until = min(named, now + reset_times.LONGEST) + MARGIN if is_named else 0.0
    if tries > 1 or not is_named:
        until = max(until, now + wait_after(tries))
    if before and not tried:  # it had begun before
        until, is_named = max((before.until, before.is_named), (until, is_named))
    since = before.since if before else now
    return AccountPause(account.client, outage.kind, outage.text, since, until, tries, is_named)


def is_sane(pause: AccountPause, now: float) -> bool:
    """Whether a pause can be true now: clocks are set back, and files are changed."""
    return pause.since <= now + MARGIN and pause.until <= now + reset_times.LONGEST + 2 * MARGIN


def wait_after(tries: int) -> float:
    """Seconds to wait after so many tries."""
    return min(LONGEST_WAIT, FIRST_WAIT * 2.0 ** min(max(0, tries - 1), 10))


def _nothing() -> None:
    return None


def _decode(value: Any) -> AccountPause:
    """Raises TypeError, ValueError."""
    pause = AccountPause(**value)
    if not all(math.isfinite(number) for number in (pause.since, pause.until, pause.tries)):
        raise ValueError("not a pause")
    return pause._replace(client=str(pause.client), kind=str(pause.kind), text=str(pause.text))
