"""A remote that just did not answer is not waited for again: not by this command, and by the next
ones only for a moment."""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from ghp_agents.core import progress
from ghp_agents.core.ids import digest
from ghp_agents.core.json_file import object_file
from ghp_agents.core.remote_url import without_users
from ghp_agents.git import process as git
from ghp_agents.hotpath.quoting import clean
from ghp_agents.ports import Clock

REMEMBERED_S, AGAIN_S = 60.0, 2.0  # how long it is remembered; how long the next question may take
SAME_S = 5.0  # for so long one process does not ask again
NEEDLESS_S = 5.0  # for an exchange that a command can do without
LONG_S = 4.0  # a remote that did not answer within less may only be slow
ADDRESS_SHOWN = 200  # characters
_vain: dict[str, tuple[float, float]] = {}  # when this process asked in vain, and for how long


class AskedRemote(NamedTuple):
    """A remote that git talks to, and the file that remembers its silence for the next process."""

    name: str
    address: str
    file: Path  # nothing is remembered if its folder's folder does not exist
    clock: Clock

    @property
    def what(self) -> str:
        """The remote in words, for people who wait."""
        address = clean(without_users(self.address))[:ADDRESS_SHOWN]
        return f"the remote {self.name} ({address})" if address else f"the remote {self.name}"


class Silence(NamedTuple):
    """How long a remote was waited for in vain, and how long ago that was; in seconds."""

    waited: float
    ago: float


def ask(remote: AskedRemote, seconds: float, run: Callable[[float], git.Result]) -> git.Result:
    """What `run` returns, which runs git to talk to the remote for the given time: `seconds`, or
    less after a silence. Raises GitTimeoutError."""
    key, silence = f"{remote.file}\0{remote.address}", last(remote)
    at, waited = _vain.get(key, (-SAME_S, 0.0))
    if 0 <= remote.clock.interval()[1] - at < SAME_S:
        raise _timeout(f"it was silent for {waited:g} s")
    limit = min(seconds, AGAIN_S) if silence else seconds
    try:
        with progress.waiting(remote.what, limit):
            result = run(limit)
    except git.GitTimeoutError:
        if silence is None and limit < LONG_S:
            raise
        limit = round(limit, 1)
        _vain[key] = remote.clock.interval()[1], silence.waited if silence else limit
        if silence is None:
            _note(remote, limit)
            raise
        earlier = f"{silence.ago:.0f} s ago for {silence.waited:g} s"
        raise _timeout(f"it was silent for {limit:g} s, and {earlier}") from None
    if silence:
        remote.file.unlink(missing_ok=True)
    return result


def last(remote: AskedRemote) -> Silence | None:
    """The silence of the remote in the last REMEMBERED_S; None if it answered since."""
    fields = object_file(remote.file).read()
    boot, now = remote.clock.interval()
    if fields.get("boot") != boot or fields.get("address") != digest(remote.address):
        return None
    try:
        waited, ago = float(fields["waited"]), now - float(fields["at"])
    except (KeyError, TypeError, ValueError):
        return None
    return Silence(waited, ago) if 0 <= ago < REMEMBERED_S else None


def _note(remote: AskedRemote, waited: float) -> None:
    boot, now = remote.clock.interval()
    if remote.file.parent.parent.is_dir():  # where nobody uses this program, nothing is created
        fields = {"address": digest(remote.address), "boot": boot, "at": now, "waited": waited}
        object_file(remote.file).write(fields)


def _timeout(words: str) -> git.GitTimeoutError:
    return git.GitTimeoutError(
        words, hint="Check the network and the remote; `ghp agent-doctor` tests both."
    )
