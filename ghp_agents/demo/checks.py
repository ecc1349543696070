"""The demo's summary: figures read back from the repositories, each with a check."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ghp_agents.core.ids import one_line
from ghp_agents.demo.agents import BINARY
from ghp_agents.demo.run import ANSWER, HEIR, VICTIM, Course
from ghp_agents.demo.sandbox import Sandbox, dirty
from ghp_agents.demo.scenes import Scene
from ghp_agents.escalations import service as escalation
from ghp_agents.git import process as git
from ghp_agents.presence import service as presence
from ghp_agents.presence.liveness import Liveness
from ghp_agents.reports import pages
from ghp_agents.state.ledger import LedgerEntry
from ghp_agents.state.presence import encode
from ghp_agents.state.private_repo import open_repository
from ghp_agents.wiring import App

ATTEMPTS = 3  # of publishing: another process may publish at the same time


@dataclass(frozen=True, slots=True)
class SummaryLine:
    """One line of the summary."""

    what: str
    figure: str
    holds: bool


def equal(what: str, figure: object, wanted: object) -> SummaryLine:
    """A line that holds if the figure is the one that is wanted."""
    return SummaryLine(what, str(figure), str(figure) == str(wanted))


def run(place: Sandbox, course: Course) -> list[SummaryLine]:
    """Run all checks, on the repositories and on what the live table showed."""
    a, b = place.app("a"), place.app("b")
    for app in (a, b, a, b):
        app.store.sync()
    trouble = _publish(a)
    a, b = place.app("a"), place.app("b")
    return [
        *_agents(b, course),
        *_issues(a),
        *_people(place, a),
        *_handoff(place, a),
        *_agreement(place, a, b, trouble),
        *_untouched(place, a, b),
    ]


def _agents(app: App, course: Course) -> Iterator[SummaryLine]:
    views = {v.name: v for v in presence.list_agents(app, app.store.snapshot())}
    entries = app.store.ledger()
    yield equal("agents that worked", len(views), 4)
    stopped = [name for name, view in views.items() if view.liveness is Liveness.STOPPED]
    cleanly = VICTIM not in stopped and len(stopped) == 3
    yield SummaryLine("agents that stopped cleanly", str(len(stopped)), cleanly)
    victim = views.get(VICTIM)
    state = victim.liveness.value if victim else "unknown"
    yield equal("the killed agent is shown as", state, "dead")
    wrong = ", ".join(sorted(course.wrongly_stale)) or "none"
    yield equal("agents at work that were shown as stale", wrong, "none")
    beats = sum(int(view.presence.get("seq", 0)) for view in views.values())
    yield SummaryLine("heartbeats received", str(beats), beats >= 20)
    yield SummaryLine("entries in the ledger", str(len(entries)), len(entries) >= 25)


def _issues(app: App) -> Iterator[SummaryLine]:
    issues = {int(issue.number): issue for issue in app.tracker.list(closed=True)}
    closed = sorted(number for number, issue in issues.items() if issue.state == "closed")
    yield equal("issues numbered", _numbers(sorted(issues)), "#1 #2 #3 #4")
    yield equal("issues closed", _numbers(closed), "#1 #2 #3 #4")
    entries = app.store.ledger()
    taken = _clock(entries, "issue-assign", 3, "worker-3")
    blockers = [_clock(entries, "issue-close", number) for number in (1, 2)]
    in_order = "yes" if taken and all(blockers) and max(blockers) < taken else "no"
    yield equal("#3 was claimed after its blockers were closed", in_order, "yes")
    chain = [lock for lock in app.locks.history("issue/4") if lock.holder]
    ways = ", then ".join(f"{lock.holder} (generation {lock.generation})" for lock in chain)
    wanted = f"{VICTIM} (generation 1), then {HEIR} (generation 2)"
    yield equal("#4 was held by", ways, wanted)


def _people(place: Sandbox, app: App) -> Iterator[SummaryLine]:
    edit = place.stage.read(Scene.REFUSED)
    end = "refused" if "✗ parser.py is leased by worker-1" in edit else edit
    yield equal("an edit of the file that worker-1 leased", end, "refused")
    questions = escalation.questions(app.world)
    answers = sum(len(question.answers) for question in questions)
    yield equal("questions asked, answered", f"{len(questions)}, {answers}", "1, 1")
    formatter = place.clone("a") / "formatter.py"
    written = formatter.read_text(encoding="utf-8").strip() if formatter.exists() else "nothing"
    yield equal("the answer, on main", written, f'FORMAT = "{ANSWER}"')


def _handoff(place: Sandbox, app: App) -> Iterator[SummaryLine]:
    snapshot = app.store.snapshot()
    documents = list(snapshot.files(".ghp/handoffs/3/"))
    patches = [path for path in snapshot.files(".ghp/patches/") if path.endswith(".patch")]
    shown = f"{len(documents)} with {len(patches)} patch"
    yield SummaryLine("handoffs of #3", shown, len(documents) >= 1 and len(patches) >= 1)
    restored = place.clone("a") / "logo.bin"
    size = restored.stat().st_size if restored.exists() else 0
    same = size > 0 and restored.read_bytes() == BINARY
    yield SummaryLine(
        "a binary file that was handed over, on main, to the byte", f"{size} bytes", same
    )


def _publish(app: App) -> str:
    """Publish the branch, and again after trouble that may pass; return what trouble remains."""
    for _ in range(ATTEMPTS):
        report = app.store.publish(pages.renderer(app))
        if not report.trouble or report.permanent:
            break
    return report.trouble or ""


def _agreement(place: Sandbox, a: App, b: App, trouble: str) -> Iterator[SummaryLine]:
    documents = {encode(app.store.snapshot().agents()) for app in (a, b)}
    yield equal("distinct status documents in the two clones", len(documents), 1)
    ledgers = {tuple(entry.id for entry in app.store.ledger()) for app in (a, b)}
    yield equal("distinct ledgers in the two clones", len(ledgers), 1)
    published = git.run(["show", "ghp-state:.ghp/agent-status.json"], cwd=place.remote).out
    same = {published} == documents
    figure = "yes" if same else ", ".join(filter(None, ("no", one_line(trouble, 72))))
    yield SummaryLine("the published branch shows the same", figure, same)
    unsent = a.store.sync_status().unsent + b.store.sync_status().unsent
    yield equal("changes not sent", unsent, 0)


def _untouched(place: Sandbox, a: App, b: App) -> Iterator[SummaryLine]:
    trunk = git.run(["rev-list", "--count", "--first-parent", "main"], cwd=place.remote).text
    yield equal("commits on main, the first one and 4 merges", trunk, 5)
    yield equal("main worktrees with changes", len(dirty(place)), 0)
    paths = [open_repository(app.ws).path for app in (a, b)]
    broken = [path for path in paths if git.run(["fsck", "--strict"], cwd=path, git_dir=path).code]
    yield equal("private repositories that fail fsck", len(broken), 0)


def _clock(entries: list[LedgerEntry], event: str, issue: int, actor: str | None = None) -> int:
    clocks = [
        entry.clock
        for entry in entries
        if entry.event == event and entry.issue == issue and actor in (None, entry.actor)
    ]
    return clocks[0] if clocks else 0


def _numbers(numbers: Sequence[int]) -> str:
    return " ".join(f"#{number}" for number in numbers)
