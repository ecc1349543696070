"""The demo's script: start the agents, act as the person, kill one agent, report what happens."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from ghp_agents.core import process
from ghp_agents.core.clock import to_seconds
from ghp_agents.core.errors import GhpError
from ghp_agents.core.ids import one_line
from ghp_agents.demo import agents
from ghp_agents.demo.sandbox import Sandbox, ghp
from ghp_agents.escalations import service as escalation
from ghp_agents.presence import service as presence
from ghp_agents.presence.liveness import Liveness
from ghp_agents.presence.service import AgentView
from ghp_agents.state.ledger import PRESENCE, LedgerEntry
from ghp_agents.state.presence import issue_of
from ghp_agents.wiring import App

TIMEOUT_S = 200.0  # seconds for the demo on a slow machine; it takes about 20
ANSWER = "json"
VICTIM = "worker-4"
HEIR = "worker-3"


@dataclass
class Course:
    """The state of the demo: what was seen and done so far."""

    place: Sandbox
    tell: Callable[[str], None]
    show: Callable[[Sequence[AgentView]], None]
    children: dict[str, process.Child] = field(default_factory=dict)
    known_ids: set[str] = field(default_factory=set)
    answered: bool = False
    killed: bool = False
    stale_seen: bool = False
    wrongly_stale: set[str] = field(default_factory=set)  # agents that were at work


def play(
    place: Sandbox, tell: Callable[[str], None], show: Callable[[Sequence[AgentView]], None]
) -> Course:
    """Run the demo. Raises GhpError if an agent fails or on a timeout."""
    course = Course(place, tell, show)
    try:
        for agent in agents.PARTS:
            course.children[agent] = agents.start(place, agent)
            tell(f"{agent} starts (process {course.children[agent].pid})")
        end = place.clock.now() + TIMEOUT_S
        for _ in _ticks(place, end):
            _refresh(course)
            if _is_over(course):
                break
    finally:
        for child in course.children.values():
            if child.poll() is None:
                child.kill()
    return course


def _ticks(place: Sandbox, end: float) -> Iterator[None]:
    while place.clock.now() < end:
        yield
        place.clock.wait(0.3)
    raise GhpError(
        f"The demo did not finish within {TIMEOUT_S:.0f} s.",
        hint="This machine is very busy: run it again, or look into it with `ghp agent-demo "
        "--keep`.",
    )


def _refresh(course: Course) -> None:
    """Report news from clone a, where the person works; then act as the person."""
    app = course.place.app("a")
    app.exchange.sync()
    for entry in app.store.ledger():
        if entry.id not in course.known_ids:
            course.known_ids.add(entry.id)
            course.tell(sentence(entry))
    views = presence.list_agents(app, app.store.snapshot())
    course.show(views)
    course.wrongly_stale |= {
        view.name
        for view in views
        if view.liveness is Liveness.STALE and course.children[view.name].poll() is None
    }
    _answer(course, app)
    _watch_victim(course, app, views)


def _answer(course: Course, app: App) -> None:
    if course.answered:
        return
    unanswered = [q for q in escalation.read_all(app.store.snapshot())[0] if not q.answers]
    if unanswered:
        ghp(app.cwd, app.environ, "agent-answer", unanswered[0].id, ANSWER)
        ghp(app.cwd, app.environ, "agent-sync")
        course.answered = True


def _watch_victim(course: Course, app: App, views: Sequence[AgentView]) -> None:
    victim = next((view for view in views if view.name == VICTIM), None)
    if victim is None:
        return
    if not course.killed:
        if issue_of(victim.presence) == 5 and "step" in str(victim.presence.get("lastAction")):
            course.children[VICTIM].kill()
            course.killed = True
            course.tell(f"{VICTIM} is killed with SIGKILL while it works on #5")
    elif not course.stale_seen and victim.liveness in (Liveness.STALE, Liveness.DEAD):
        course.stale_seen = True
        silent = f"{victim.silent:.0f} s without a heartbeat"
        course.tell(f"The other clone shows {VICTIM} as {victim.liveness.value} ({silent})")


def _is_over(course: Course) -> bool:
    for agent, child in course.children.items():
        code = child.poll()
        if code not in (None, 0) and agent != VICTIM:
            log = (course.place.root / f"{agent}.log").read_text(encoding="utf-8", errors="replace")
            raise GhpError(
                f"{agent} failed: {log.strip()[-1500:]}",
                hint="Run `ghp agent-demo --keep` and look into the folder.",
            )
    return course.stale_seen and all(child.poll() is not None for child in course.children.values())


def sentence(entry: LedgerEntry) -> str:
    """A ledger entry as a line for people."""
    about = f" #{entry.issue}" if entry.issue and f"#{entry.issue}" not in entry.object else ""
    who = f"{entry.actor} (person)" if entry.is_person else entry.actor
    event = "is" if entry.event == PRESENCE else entry.event
    text = f": {one_line(entry.text, 72)}" if entry.text else ""
    return f"{who} {event} {entry.object}{about}{text}"


def duration(entries: Sequence[LedgerEntry]) -> float:
    """Seconds between the first and the last entry of a ledger."""
    times = [to_seconds(entry.at) for entry in entries]
    return max(times) - min(times) if times else 0.0
