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
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ghp_agents.core import process
from ghp_agents.core.errors import GhpError
from ghp_agents.demo import night_jobs as jobs
from ghp_agents.demo.night_agent import STUCK
from ghp_agents.demo.sandbox import PERSON, PROGRAM, Sandbox, ghp, run, run_git
from ghp_agents.demo.scenes import marked
from ghp_agents.escalations import service as escalation
from ghp_agents.presence import service as presence
from ghp_agents.presence.service import AgentView
from ghp_agents.runs import folder, processes, record
from ghp_agents.runs.record import RunRecord
from ghp_agents.wiring import App

AGENTS = 4
TIMEOUT_S = 900.0  # seconds on a very busy machine; it takes about a minute and a half
ENDS_S = 60.0  # seconds that the supervisor has to end
PLAY = "night"  # the name of the scripted client for `agent-demo --play`
AGAIN = "Run `ghp agent-demo --night --keep` and look into the folder."
CHECK = "sh check.sh"  # tests the program of the night
IDLE = "No issue is ready"  # what an agent says that waits for others
LOG = "supervisor.log"
# Clone a has the supervisor; in clone b a person answers, and the queue merges.
NIGHT, DAY = "a", "b"
_RUN_ID = re.compile(r" R-[0-9a-f]+[,:]?")
_AGAIN = "It was started again for this: "
_BACK = "Warning: Sent #"
_SAID = re.compile(r"\W*(night-\d+):? (.*)")

Tell = Callable[[str], None]
Show = Callable[[Sequence[AgentView]], None]


@dataclass
class Shift:
    """The state of the night: what was seen and done so far."""

    place: Sandbox
    tell: Tell
    show: Show
    began: float
    supervisor: process.Child
    read: int = 0  # bytes of the supervisor's log
    merged_at: frozenset[tuple[int, str]] = field(default_factory=frozenset)

    def say(self, who: str, what: str) -> None:
        """Tell who did what, with the time since the beginning."""
        past = int(self.place.clock.now() - self.began)
        self.tell(f"{past // 60}:{past % 60:02} {who} {what}")


def make(place: Sandbox) -> None:
    """Make the repositories, and import the jobs."""
    (place.root / "home").mkdir(parents=True)
    run_git(place.root, "init", "-q", "--bare", "-b", "main", str(place.remote))
    for name in (NIGHT, DAY):
        run_git(place.root, "clone", "-q", str(place.remote), str(place.clone(name)))
        run_git(place.clone(name), "config", "user.name", PERSON)
        run_git(place.clone(name), "config", "user.email", "dana@example.invalid")
        if name == NIGHT:
            _first_commit(place.clone(name))
        ghp(place.clone(name), place.environ(), "agent-trust", "--yes")
    (place.root / "jobs.yaml").write_text(jobs.job_files(), encoding="utf-8")
    for words in (["agent-jobs", "import", str(place.root / "jobs.yaml")], ["agent-sync"]):
        ghp(place.clone(NIGHT), place.environ(), *words)
    ghp(place.clone(DAY), place.environ(), "agent-sync")


def _first_commit(folder: Path) -> None:
    config = {"agents": {"checks": [CHECK], "syncEvery": 1, "throttle": 0}}
    (folder / ".ghp").mkdir()
    (folder / ".ghp/config.json").write_text(json.dumps(config, indent=2), encoding="utf-8")
    (folder / jobs.PAGE).write_text("# Tally\n\n", encoding="utf-8")
    (folder / ".gitignore").write_text("__pycache__/\n", encoding="utf-8")
    (folder / "check.sh").write_text(_CHECK, encoding="utf-8")
    (folder / "test_page.py").write_text(_PAGE_TEST, encoding="utf-8")
    run_git(folder, "checkout", "-q", "-B", "main")
    run_git(folder, "add", "-A")
    run_git(folder, "commit", "-q", "-m", "Start")
    run_git(folder, "push", "-q", "origin", "main")


_CHECK = f"exec {shlex.quote(sys.executable)} -B -m unittest -q\n"
_PAGE_TEST = f"""\
import unittest


class Test(unittest.TestCase):
    def test_the_page_has_a_title(self):
        with open("{jobs.PAGE}") as page:
            self.assertTrue(page.read().startswith("# Tally"))
"""


def play(place: Sandbox, tell: Tell, show: Show) -> list[RunRecord]:
    """Let the night pass; returns all runs. Raises GhpError on a timeout, or if the supervisor
    ends before."""
    runner = shlex.join([*PROGRAM, "agent-demo", "--play", PLAY, "{prompt_file}"])
    work = ("agent-work", "--agent", "night", "--max", str(AGENTS), "--pause", "1s")
    child = process.start(
        [*PROGRAM, *work, "--runner", runner],
        cwd=place.clone(NIGHT), env=place.environ(), log=place.root / LOG,
    )  # fmt: skip
    shift = Shift(place, tell, show, place.clock.now(), child)
    try:
        for _ in _ticks(shift):
            if _look(shift):
                break
        _end(shift)
    finally:
        if child.poll() is None:
            child.kill()
        runs = folder.read_all(place.app(NIGHT).ws)
        for night_run in runs:
            processes.end(night_run, place.clock.wait)
    return runs


def _ticks(shift: Shift) -> Iterator[None]:
    clock, end = shift.place.clock, shift.began + TIMEOUT_S
    while clock.now() < end:
        yield
        if shift.supervisor.poll() is not None:
            raise GhpError(f"The supervisor ended: {_log(shift)[-1000:].strip()}", hint=AGAIN)
        clock.wait(0.5)
    raise GhpError(f"The night did not end within {TIMEOUT_S:.0f} s.", hint=AGAIN)


def _look(shift: Shift) -> bool:
    """Tell what is new, and act as the person; returns whether all jobs are done."""
    _retell(shift)
    app = shift.place.app(DAY)
    app.exchange.sync()
    shift.show(presence.list_agents(app, app.store.snapshot()))
    _kill(shift)
    _answer(shift, app)
    _merge(shift, app)
    return all(issue.state == "closed" for issue in app.tracker.list(closed=True))


def _log(shift: Shift) -> str:
    return (shift.place.root / LOG).read_text(encoding="utf-8", errors="replace")


def _retell(shift: Shift) -> None:
    """Tell the whole lines that the supervisor has written since."""
    text = _log(shift)[shift.read :]
    whole = text[: text.rfind("\n") + 1]
    shift.read += len(whole)
    for line in whole.splitlines():
        if _AGAIN in line:
            shift.tell(f"  because of this: {line.partition(_AGAIN)[2]}")
        match = _SAID.fullmatch(line)
        if match and not match[2].startswith(IDLE):
            what, _, more = _RUN_ID.sub("", match[2]).partition(": Hint: ")
            shift.say(match[1], f"{what}." if more else what)


def _kill(shift: Shift) -> None:
    """Kill the agent that says that it does not come back."""
    ws = shift.place.app(NIGHT).ws
    for night_run in folder.read_all(ws):
        log = folder.of(ws, night_run.id) / "log"
        is_stuck = night_run.state == record.RUNNING and log.exists() and STUCK in log.read_text()
        if is_stuck and processes.lives(night_run):
            shift.say(
                "you",
                f"kill {night_run.agent}, which hangs at #{night_run.issue}, as a crash would.",
            )
            os.killpg(night_run.pid, signal.SIGKILL)


def _answer(shift: Shift, app: App) -> None:
    known, _ = escalation.read_all(app.store.snapshot())
    for question in (asked for asked in known if asked.is_open and asked.question.options):
        _do(shift, "agent-answer", f"E-{question.id[:6]}", jobs.ANSWER)


def _merge(shift: Shift, app: App) -> None:
    """Let the queue merge what is finished and was not tried yet. It begins when both jobs that
    change one place are finished, so that the second one conflicts."""
    pulls = app.forge.list(closed=True)
    waiting = frozenset((pull.number, pull.head) for pull in pulls if pull.state == "open")
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
    for line in [
        *marked(done.err),
        *(x for x in done.err.splitlines() if "sent back" in x.lower()),
    ]:
        shift.tell(f"  {line}")


def _end(shift: Shift) -> None:
    """Interrupt the supervisor, as Ctrl-C does, and wait until it has ended."""
    _retell(shift)
    os.kill(shift.supervisor.pid, signal.SIGINT)
    end = shift.place.clock.now() + ENDS_S
    while shift.supervisor.poll() is None and shift.place.clock.now() < end:
        shift.place.clock.wait(0.2)
    _retell(shift)


def report(place: Sandbox) -> str:
    """What `agent-report` prints in the morning."""
    return ghp(place.clone(DAY), place.environ(), "agent-report")
