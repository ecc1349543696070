"""The night shift: a supervisor with four agents does twelve jobs while the person sleeps.

What goes wrong is bound to jobs, not to moments: one agent is killed, one fails its check, two
change one place, and one asks. So every night ends the same, in whatever order it goes.
"""

import json
import os
import re
import shlex
import signal
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from ghp_agents.core import process
from ghp_agents.core.errors import GhpError
from ghp_agents.demo import night_jobs as jobs
from ghp_agents.demo.night_agent import HANGS
from ghp_agents.demo.sandbox import CLONES, PROGRAM, Sandbox, ghp, make_clones, run
from ghp_agents.demo.scenes import marked
from ghp_agents.escalations import service as escalation
from ghp_agents.presence import service as presence
from ghp_agents.presence.service import AgentView
from ghp_agents.pulls.pull import Sent
from ghp_agents.runs import folder, processes, record
from ghp_agents.runs.record import RunRecord
from ghp_agents.wiring import App

AGENTS = 4
TIMEOUT_S = 900.0  # seconds on a very busy machine; it takes about a minute and a half
ENDS_S = 60.0  # seconds that the supervisor has to end
SYNC_S = 2.0  # seconds between two syncs of the person's clone, which start a dozen git processes
PLAY = "night"  # the name of the scripted client for `agent-demo --play`
AGAIN = "Run `ghp agent-demo --night --keep` and look into the folder."
CHECK = "sh check.sh"  # tests the program of the night
IDLE = "No issue is ready"  # what an agent says that waits for others
# Clone a has the supervisor; in clone b a person answers, and the queue merges.
NIGHT, DAY = CLONES
_RUN_ID = re.compile(r" R-[0-9a-f]+[,:]?")
_AGAIN = "It was started again for this: "
_BY_AGENT = re.compile(r"\W*([a-z]+(?:-\d+)?):? (.*)")

Tell = Callable[[str], None]
Show = Callable[[Sequence[AgentView]], None]


class Crew(NamedTuple):
    """The agents of one supervisor, and the client that plays them."""

    name: str
    size: int
    options: tuple[str, ...]  # of `agent-work`
    environ: Mapping[str, str] = {}

    @property
    def agents(self) -> tuple[str, ...]:
        """Their names."""
        numbered = tuple(f"{self.name}-{number}" for number in range(1, self.size + 1))
        return numbered if self.size > 1 else (self.name,)


PLAY_COMMAND = (*PROGRAM, "agent-demo", "--play", PLAY)
SCRIPTED = ("--runner", shlex.join([*PLAY_COMMAND, "{prompt_file}"]))
CREWS = (Crew(PLAY, AGENTS, SCRIPTED),)


@dataclass
class Supervised:
    """A supervisor, and how many characters of its log were told."""

    child: process.Child
    log: Path
    agents: tuple[str, ...]
    read: int = 0

    @property
    def text(self) -> str:
        """What it has printed."""
        return self.log.read_text(encoding="utf-8", errors="replace")


@dataclass
class Shift:
    """The state of the night: what was seen and done so far."""

    place: Sandbox
    tell: Tell
    show: Show
    began: float
    supervisors: Sequence[Supervised]
    merged_at: frozenset[tuple[int, Sent | None]] = field(default_factory=frozenset)
    synced_at: float = 0.0

    def say(self, who: str, what: str) -> None:
        """Tell who did what, with the time since the beginning."""
        past = int(self.place.clock.now() - self.began)
        self.tell(f"{past // 60}:{past % 60:02} {who} {what}")


def make(place: Sandbox) -> None:
    """Make the repositories, and import the jobs."""
    config = {"agents": {"checks": [CHECK], "syncEvery": 1, "throttle": 0}}
    make_clones(place, {
        ".ghp/config.json": json.dumps(config, indent=2), jobs.PAGE: "# Tally\n\n",
        ".gitignore": "__pycache__/\n", "check.sh": _CHECK, "test_page.py": _PAGE_TEST,
    })  # fmt: skip
    (place.root / "jobs.yaml").write_text(jobs.job_files(), encoding="utf-8")
    for words in (["agent-jobs", "import", str(place.root / "jobs.yaml")], ["agent-sync"]):
        ghp(place.clone(NIGHT), place.environ(), *words)
    ghp(place.clone(DAY), place.environ(), "agent-sync")


_CHECK = f"exec {shlex.quote(sys.executable)} -B -m unittest -q\n"
_PAGE_TEST = f"""\
import unittest


class Test(unittest.TestCase):
    def test_the_page_has_a_title(self):
        with open("{jobs.PAGE}") as page:
            self.assertTrue(page.read().startswith("# Tally"))
"""


def play(place: Sandbox, tell: Tell, show: Show, crews: Sequence[Crew]) -> list[RunRecord]:
    """Let the night pass; returns all runs. Raises GhpError on a timeout, or if a supervisor
    ends before."""
    supervisors = [_supervisor(place, crew) for crew in crews]
    shift = Shift(place, tell, show, place.clock.now(), supervisors)
    try:
        for _ in _ticks(shift):
            if _look(shift):
                break
        _end(shift)
    finally:
        for supervisor in supervisors:
            if supervisor.child.poll() is None:
                supervisor.child.kill()
        runs = folder.read_all(place.app(NIGHT).ws)
        for night_run in runs:
            processes.end(night_run, place.clock.wait)
    return runs


def _supervisor(place: Sandbox, crew: Crew) -> Supervised:
    work = ("agent-work", "--agent", crew.name, "--max", str(crew.size), "--pause", "1s")
    log = place.root / f"{crew.name}.log"
    child = process.start(
        [*PROGRAM, *work, *crew.options],
        cwd=place.clone(NIGHT), env={**place.environ(), **crew.environ}, log=log,
    )  # fmt: skip
    return Supervised(child, log, crew.agents)


def _ticks(shift: Shift) -> Iterator[None]:
    clock, end = shift.place.clock, shift.began + TIMEOUT_S
    while clock.now() < end:
        yield
        for supervisor in shift.supervisors:
            if supervisor.child.poll() is not None:
                end_of_log = supervisor.text[-1000:].strip()
                raise GhpError(f"A supervisor ended: {end_of_log}", hint=AGAIN)
        clock.wait(0.5)
    raise GhpError(f"The night did not end within {TIMEOUT_S:.0f} s.", hint=AGAIN)


def _look(shift: Shift) -> bool:
    """Tell what is new, and act as the person; returns whether all jobs are done."""
    _retell(shift)
    _kill(shift)
    now = shift.place.clock.now()
    if now < shift.synced_at + SYNC_S:
        return False
    shift.synced_at = now
    app = shift.place.app(DAY)
    app.store.sync()
    shift.show(presence.list_agents(app, app.store.snapshot()))
    _answer(shift, app)
    _merge(shift, app)
    return all(issue.state == "closed" for issue in app.tracker.list(closed=True))


def _retell(shift: Shift) -> None:
    """Tell the whole lines that the supervisors have written since."""
    for supervisor in shift.supervisors:
        text = supervisor.text[supervisor.read :]
        whole = text[: text.rfind("\n") + 1]
        supervisor.read += len(whole)
        _retell_lines(shift, whole.splitlines(), supervisor.agents)


def _retell_lines(shift: Shift, lines: Sequence[str], agents: Sequence[str]) -> None:
    for line in lines:
        if _AGAIN in line:
            shift.tell(f"  because of this: {line.partition(_AGAIN)[2]}")
        match = _BY_AGENT.fullmatch(line)
        if match and match[1] in agents and not match[2].startswith(IDLE):
            what, _, more = _RUN_ID.sub("", match[2]).partition(": Hint: ")
            shift.say(match[1], f"{what}." if more else what)


def _kill(shift: Shift) -> None:
    """Kill the agent that does not come back."""
    ws = shift.place.app(NIGHT).ws
    for night_run in folder.read_all(ws):
        if night_run.state != record.RUNNING or not processes.lives(night_run):
            continue
        if HANGS in folder.LogReader(folder.of(ws, night_run.id)).lines():
            stuck = f"{night_run.agent}, which hangs at #{night_run.issue}"
            shift.say("you", f"kill {stuck}, as a crash would.")
            os.killpg(night_run.pid, signal.SIGKILL)


def _answer(shift: Shift, app: App) -> None:
    questions = escalation.questions(app.world)
    for question in (x for x in questions if x.is_open and x.question.options):
        _do(shift, "agent-answer", f"E-{question.id[:6]}", jobs.ANSWER)


def _merge(shift: Shift, app: App) -> None:
    """Let the queue merge what is finished and was not tried yet. It begins when both jobs that
    change one place are finished, so that the second one conflicts."""
    pulls = app.forge.list(closed=True)
    waiting = frozenset((pull.number, pull.sent) for pull in pulls if pull.state == "open")
    both = {job.title for job in jobs.JOBS if job.trouble == jobs.CONFLICT}
    titles = {int(issue.number): issue.title for issue in app.tracker.list(closed=True)}
    is_time = both <= {titles.get(pull.issue or 0, "") for pull in pulls}
    if is_time and waiting - shift.merged_at:
        shift.merged_at |= waiting
        _do(shift, "agent-merge", "--queue")


def _do(shift: Shift, *words: str) -> None:
    """Run a command of the person, and tell it. Work that is sent back is not an error here."""
    done = run(shift.place.clone(DAY), shift.place.environ(), *words)
    _retell(shift)
    shift.say("you", f"$ ghp {shlex.join(words)}")
    returned = [line for line in done.err.splitlines() if "sent back" in line.lower()]
    for line in (*marked(done.err), *returned):
        shift.tell(f"  {line}")


def _end(shift: Shift) -> None:
    """Interrupt the supervisors, as Ctrl-C does, and wait until they have ended."""
    _retell(shift)
    for supervisor in shift.supervisors:
        os.kill(supervisor.child.pid, signal.SIGINT)
    end = shift.place.clock.now() + ENDS_S
    while any(x.child.poll() is None for x in shift.supervisors):
        if shift.place.clock.now() >= end:
            break
        shift.place.clock.wait(0.2)
    _retell(shift)


def report(place: Sandbox) -> str:
    """What `agent-report` prints in the morning."""
    return ghp(place.clone(DAY), place.environ(), "agent-report")
