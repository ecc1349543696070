"""The demo's script: start the agents, act as the person, kill one agent, report what happens."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from ghp_agents.core import process
from ghp_agents.core.errors import GhpError
from ghp_agents.demo import agents
from ghp_agents.demo.sandbox import AGAIN, Sandbox, run
from ghp_agents.demo.scenes import Scene, marked
from ghp_agents.escalations import service as escalation
from ghp_agents.presence import service as presence
from ghp_agents.presence.liveness import Liveness
from ghp_agents.presence.service import AgentView
from ghp_agents.state.presence import issue_of
from ghp_agents.wiring import App

TIMEOUT_S = 200.0  # seconds for the demo on a slow machine; it takes about 15
LOOK_S = 0.3  # seconds between two looks at the scenes
SYNC_S = 0.9  # and between two syncs of the person's clone, which start a dozen git processes
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
    shown: int = 0  # scenes
    synced_at: float = 0.0
    wrongly_stale: set[str] = field(default_factory=set)  # agents that were at work


def play(
    place: Sandbox, tell: Callable[[str], None], show: Callable[[Sequence[AgentView]], None]
) -> Course:
    """Run the demo. Raises GhpError if an agent fails or on a timeout."""
    course = Course(place, tell, show)
    try:
        for agent in agents.PARTS:
            course.children[agent] = agents.start(place, agent)
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
        place.clock.wait(LOOK_S)
    raise GhpError(
        f"The demo did not finish within {TIMEOUT_S:.0f} s.",
        hint="This machine is very busy: run it again, or look into it with `ghp agent-demo "
        "--keep`.",
    )


def _refresh(course: Course) -> None:
    """Show the news of clone a, where the person works; then act as the person."""
    for scene in course.place.stage.after(course.shown):
        course.shown += 1
        course.tell(scene)
    now = course.place.clock.now()
    if now < course.synced_at + SYNC_S:
        return
    course.synced_at = now
    app = course.place.app("a")
    app.store.sync()
    views = presence.list_agents(app, app.store.snapshot())
    course.show(views)
    course.wrongly_stale |= {
        view.name
        for view in views
        if view.liveness is Liveness.STALE and course.children[view.name].poll() is None
    }
    _act(course, app)
    _kill(course, views)


def _act(course: Course, app: App) -> None:
    """Answer the question, and merge what is finished."""
    stage = course.place.stage
    if stage.has(Scene.FINISH_1) and not stage.has(Scene.ANSWER):
        unanswered = [q for q in escalation.questions(app.world) if not q.answers]
        if unanswered:
            _do(course, app, Scene.ANSWER, "agent-answer", f"E-{unanswered[0].id[:4]}", ANSWER)
    # A merge removes the worktree of an agent that stopped, so its process must have ended.
    for scene, authors in ((Scene.MERGE, ["worker-2"]), (Scene.LAST_MERGE, ["worker-1", HEIR])):
        ended = all(course.children[author].poll() == 0 for author in authors)
        if ended and not stage.has(scene):
            _do(course, app, scene, "agent-merge", "--queue")


def _do(course: Course, app: App, scene: Scene, *args: str) -> None:
    ended = run(app.cwd, app.environ, *args, expected=0)
    course.place.stage.write(scene, f"you $ ghp {' '.join(args)}", *marked(ended.err))


def _kill(course: Course, views: Sequence[AgentView]) -> None:
    victim = next((view.presence for view in views if view.name == VICTIM), {})
    at_work = issue_of(victim) == 4 and "step" in str(victim.get("lastAction"))
    if at_work and not course.place.stage.has(Scene.KILLED):
        course.children[VICTIM].kill()
        course.place.stage.write(Scene.KILLED, f"{VICTIM} is killed while it works on #4")


def failure(agent: str, log: str) -> GhpError:
    """The error for an agent that failed, with the end of its log, whose last hint is ours."""
    return GhpError(
        f"{agent} failed: {log.replace(f'Hint: {AGAIN}', '').strip()[-1500:]}", hint=AGAIN
    )


def _is_over(course: Course) -> bool:
    for agent, child in course.children.items():
        code = child.poll()
        if code not in (None, 0) and agent != VICTIM:
            log = (course.place.root / f"{agent}.log").read_text(encoding="utf-8", errors="replace")
            raise failure(agent, log)
    return course.shown == len(Scene)
