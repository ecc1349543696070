"""The demo's summary: figures read back from the repositories, each with a check."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ghp_agents.core.ids import one_line
from ghp_agents.demo.agents import BINARY
from ghp_agents.demo.run import ANSWER, HEIR, VICTIM, Course
from ghp_agents.demo.sandbox import Sandbox
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


def run(place: Sandbox, course: Course) -> list[SummaryLine]:
    """Run all checks, on the repositories and on what the live table showed."""
    a, b = place.app("a"), place.app("b")
    for app in (a, b, a, b):
        app.exchange.sync()
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
    yield SummaryLine("agents that worked", str(len(views)), len(views) == 4)
    stopped = [name for name, view in views.items() if view.liveness is Liveness.STOPPED]
    yield SummaryLine(
        "agents that stopped cleanly",
        str(len(stopped)),
        VICTIM not in stopped and len(stopped) == 3,
    )
    victim = views.get(VICTIM)
    state = victim.liveness.value if victim else "unknown"
    yield SummaryLine("the killed agent is shown as", state, state == "dead")
    wrong = ", ".join(sorted(course.wrongly_stale)) or "none"
    yield SummaryLine("agents at work that were shown as stale", wrong, wrong == "none")
    beats = sum(int(view.presence.get("seq", 0)) for view in views.values())
    yield SummaryLine("heartbeats received", str(beats), beats >= 20)
    yield SummaryLine("entries in the ledger", str(len(entries)), len(entries) >= 25)


def _issues(app: App) -> Iterator[SummaryLine]:
    issues = {int(issue.number): issue for issue in app.tracker.list(closed=True)}
    closed = sorted(number for number, issue in issues.items() if issue.state == "closed")
    yield SummaryLine("issues numbered", _numbers(sorted(issues)), sorted(issues) == [1, 2, 3, 4])
    yield SummaryLine("issues closed", _numbers(closed), closed == [1, 2, 3, 4])
    entries = app.store.ledger()
    taken = _clock(entries, "issue-assign", 3, "worker-3")
    blockers = [_clock(entries, "issue-close", number) for number in (1, 2)]
    in_order = bool(taken and all(blockers) and max(blockers) < taken)
    yield SummaryLine(
        "#3 was claimed after its blockers were closed", "yes" if in_order else "no", in_order
    )
    chain = [lease for lease in app.locks.history("issue/4") if lease.holder]
    ways = ", then ".join(f"{lease.holder} (generation {lease.generation})" for lease in chain)
    holders = [(lease.holder, lease.generation) for lease in chain]
    yield SummaryLine("#4 was held by", ways, holders == [(VICTIM, 1), (HEIR, 2)])


def _people(place: Sandbox, app: App) -> Iterator[SummaryLine]:
    edit = place.stage.read(Scene.REFUSED)
    kept_off = "✗ parser.py is leased by worker-1" in edit
    yield SummaryLine(
        "an edit of the file that worker-1 leased", "refused" if kept_off else edit, kept_off
    )
    questions, _ = escalation.read_all(app.store.snapshot())
    answers = [answer for question in questions for answer in question.answers]
    yield SummaryLine(
        "questions asked, answered",
        f"{len(questions)}, {len(answers)}",
        len(questions) == len(answers) == 1,
    )
    formatter = place.clone("a") / "formatter.py"
    written = formatter.read_text(encoding="utf-8").strip() if formatter.exists() else "nothing"
    yield SummaryLine("the answer, on main", written, written == f'FORMAT = "{ANSWER}"')


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
        report = app.exchange.publish(pages.renderer(app))
        if not report.trouble or report.permanent:
            break
    return report.trouble or ""


def _agreement(place: Sandbox, a: App, b: App, trouble: str) -> Iterator[SummaryLine]:
    documents = {encode(app.store.snapshot().agents()) for app in (a, b)}
    yield SummaryLine(
        "distinct status documents in the two clones", str(len(documents)), len(documents) == 1
    )
    ledgers = {tuple(entry.id for entry in app.store.ledger()) for app in (a, b)}
    yield SummaryLine("distinct ledgers in the two clones", str(len(ledgers)), len(ledgers) == 1)
    published = git.run(["show", "ghp-state:.ghp/agent-status.json"], cwd=place.remote).out
    same = {published} == documents
    figure = "yes" if same else ", ".join(filter(None, ("no", one_line(trouble, 72))))
    yield SummaryLine("the published branch shows the same", figure, same)
    unsent = a.exchange.sync_status().unsent + b.exchange.sync_status().unsent
    yield SummaryLine("changes not sent", str(unsent), unsent == 0)


def _untouched(place: Sandbox, a: App, b: App) -> Iterator[SummaryLine]:
    trunk = git.run(["rev-list", "--count", "--first-parent", "main"], cwd=place.remote).text
    yield SummaryLine("commits on main, the first one and 4 merges", trunk, trunk == "5")
    dirty = [
        name
        for name in ("a", "b")
        if git.run(["status", "--porcelain"], cwd=place.clone(name)).text
    ]
    yield SummaryLine("main worktrees with changes", str(len(dirty)), not dirty)
    broken = 0
    for app in (a, b):
        repository = open_repository(app.ws)
        broken += (
            git.run(["fsck", "--strict"], cwd=repository.path, git_dir=repository.path).code != 0
        )
    yield SummaryLine("private repositories that fail fsck", str(broken), broken == 0)


def _clock(entries: list[LedgerEntry], event: str, issue: int, actor: str | None = None) -> int:
    clocks = [
        entry.clock
        for entry in entries
        if entry.event == event and entry.issue == issue and actor in (None, entry.actor)
    ]
    return clocks[0] if clocks else 0


def _numbers(numbers: Sequence[int]) -> str:
    return " ".join(f"#{number}" for number in numbers)
