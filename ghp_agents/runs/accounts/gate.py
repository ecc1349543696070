"""Whether runs of a supervisor's account may begin, and whose fault a failed run is.

A limit or a login of the account is not the issue's fault: no try of the issue is used up, nobody
is asked how to continue, and all runs of the account wait. After the wait one run tries; the others
begin when that one has worked.
"""

import json
from collections.abc import Iterable
from contextlib import suppress
from typing import TYPE_CHECKING

from ghp_agents.core.clock import to_seconds
from ghp_agents.core.errors import GhpError
from ghp_agents.hotpath import heartbeat
from ghp_agents.messages import service as messages
from ghp_agents.messages.service import Draft
from ghp_agents.runs.accounts import account as accounts
from ghp_agents.runs.accounts.account import AccountPause
from ghp_agents.runs.logs.system_log import SystemLog
from ghp_agents.runs.outages import forms
from ghp_agents.runs.outages.forms import AT_ONCE, Outage
from ghp_agents.runs.record import FAILED, LIMITED, RunRecord
from ghp_agents.runs.stream import ClientProgress
from ghp_agents.sync import desktop
from ghp_agents.workspace import Workspace

if TYPE_CHECKING:
    from ghp_agents.runs.launch import Make, RunCommand

AT_ONCE_S = 60.0  # seconds; a run that ends earlier without a step tells nothing of its issue
TOGETHER_S = 3_600.0  # seconds between two such runs that count together
MOST_WORKED = 3  # runs in a row that did work, and then blamed an outage without a time


class AccountGate:
    """The account of a supervisor, and its pause."""

    def __init__(self, ws: Workspace, command: "RunCommand", make: "Make", tell: SystemLog) -> None:
        self._ws, self._make, self._tell = ws, make, tell
        self.account = accounts.of(command, ws.environ)
        self._path, self._file = accounts.file(self.account, ws.environ)
        self._worked_at = -1e9  # `Clock.interval` when a run was last seen to work
        self._told_at = -1e9  # `Clock.interval` of the last notice
        self._done: dict[str, tuple[float, ...]] = {}  # by run: how much it was seen to do
        self._shown: dict[str, str] = {}  # by agent: what its presence says of the pause

    @property
    def pause(self) -> AccountPause | None:
        """Why the account waits, or has to be tried; None if it works."""
        pause, now = self._file.read(), self._ws.clock.now()
        return pause if pause and accounts.is_sane(pause, now) else None

    def open(self) -> None:
        """Forget the pause: a person says so, or a run has worked."""
        with suppress(OSError):
            self._path.unlink(missing_ok=True)

    def begins(self, live: Iterable[RunRecord]) -> int | None:
        """How many runs may begin now; None if any number. `live` are the runs that work now."""
        pause = self.pause
        if pause is None:
            return None
        return int(self._ws.clock.now() >= pause.until and not any(map(self._tries, live)))

    def _tries(self, run: RunRecord, pause: AccountPause | None = None) -> bool:
        """Whether a run has begun after the end of the pause."""
        pause = pause or self.pause
        try:
            return pause is not None and to_seconds(run.at) >= int(pause.until)
        except ValueError:
            return False

    def saw(self, run: RunRecord, progress: ClientProgress, seconds: float) -> None:
        """Note what a run has done so far: one that begins after a pause and works ends it. Of a
        client that reports no steps, a minute counts."""
        done = (progress.turns, progress.tokens, progress.cost, 0)
        done = done if progress.session else (0, 0, 0.0, int(seconds >= AT_ONCE_S))
        if not any(done) or self._done.get(run.id) == done:
            return
        self._done[run.id] = done
        self._worked_at = self._ws.clock.interval()[1]
        if self._tries(run):
            self.open()
            self._tell(f"The account of {self.account.client} works again.", run)

    def judged(
        self, run: RunRecord, progress: ClientProgress, seconds: float, last: Iterable[RunRecord]
    ) -> list[RunRecord]:
        """A run that has ended, and earlier ones that were blamed wrongly, as they are to be kept:
        LIMITED if the account is at fault. `last` are the last runs of the supervisor's agents."""
        self.saw(run, progress, seconds)
        if run.outcome != FAILED:
            return [run]
        is_quick = not progress.has_worked and seconds < AT_ONCE_S
        is_quick &= not forms.TOO_LONG.search(run.why)
        run = run._replace(at_once=int(is_quick))
        pause, outage, others = self.pause, progress.outage, list[RunRecord]()
        if outage is None and is_quick:
            others = [other for other in last if self._is_like(other, run)]
            again = pause is not None and pause.kind == AT_ONCE and self._tries(run)
            outage = Outage(AT_ONCE, run.why) if others or again else None
        if outage is None:
            return [run]
        after = accounts.paused(
            self.account, outage, self._ws.clock.now(), pause, tried=self._tries(run)
        )
        if not is_quick and not after.is_named:
            run = run._replace(waits=run.waits + 1)
            if run.waits > MOST_WORKED:  # its account works well enough for others
                return [run]
        self._file.write(after._asdict())
        if pause is None:
            self._notify(run, after)
        why = f"the account of {self.account.client} has to wait: {outage.kind}"
        return [other._replace(outcome=LIMITED, why=why) for other in (run, *others)]

    def _notify(self, run: RunRecord, pause: AccountPause) -> None:
        """Tell people once that an account waits: in all clones, and at their desktops. One that
        works and waits by turns is told of once an hour."""
        self._tell(pause.sentences, run)
        now = self._ws.clock.interval()[1]
        if now < self._told_at + TOGETHER_S:
            return
        self._told_at = now
        with suppress(GhpError):
            ctx = self._make(self._ws.root, run.agent)
            fields = {"question": pause.sentences}
            messages.send(
                ctx, Draft([desktop.TOPIC], f"{pause.words}.", payload=json.dumps(fields))
            )

    def _is_like(self, other: RunRecord, run: RunRecord) -> bool:
        """Whether another issue's run ended in the same way, and nothing has worked since."""
        return (
            other.outcome == FAILED and other.at_once == 1 and other.account == run.account
            and other.issue != run.issue and other.boot == run.boot
            and other.ended > max(self._worked_at, run.ended - TOGETHER_S)
        )  # fmt: skip

    def is_doubtful(self, run: RunRecord) -> bool:
        """Whether it is open if a failed run's issue or its account is at fault."""
        return run.at_once == 1 and run.ended > self._worked_at

    def show(self, agents: Iterable[str]) -> None:
        """Let these agents, which have no run, show that they wait, and until when."""
        pause = self.pause
        text = pause.words if pause else ""
        for agent in agents:
            if self._shown.get(agent, "") != text:
                self._shown[agent] = text
                fields = {"status": "waiting" if text else "idle", "lastAction": text}
                with suppress(OSError):
                    heartbeat.beat(
                        self._ws.folders, agent, fields, self._ws.clock.now(),
                        moment=self._ws.clock.interval(),
                    )  # fmt: skip
