"""`agent-status --epic`: an epic with the state of its parts."""

from typing import Any

from ghp_agents.cli import output, past
from ghp_agents.cli.context import start_background
from ghp_agents.cli.views import issue as issue_view
from ghp_agents.cli.views import waiting
from ghp_agents.core.errors import UsageError
from ghp_agents.core.ids import count, one_line
from ghp_agents.hotpath.quoting import file, named, thing
from ghp_agents.issues.issue import short
from ghp_agents.presence import service as presence
from ghp_agents.pulls import epic_work
from ghp_agents.pulls.epic_work import EpicWork, PartWork
from ghp_agents.reports.read_overview import Team
from ghp_agents.wiring import App

COLUMNS = ("PART", "STATE", "HOLDER", "WAITS FOR", "ASKS", "TITLE")
TITLE = 50  # characters
CLAIMS_LEFT_OUT = (
    "Claims keep no history, so holders are the agents that worked on the parts; see "
    "`ghp agent-log --event claim`."
)
STYLES = {"closed": "dim", "blocked": "yellow"}


def show(app: App, epic: str, as_json: bool, at: str | None, *, is_alone: bool) -> None:
    """Print an epic, with `at` as it was then. `is_alone`: without options that choose agents.
    Raises UsageError, NotFoundError."""
    if not is_alone:
        raise UsageError(
            "--epic shows the parts of one epic, and no list of agents.",
            hint="Use it only with --json and --at: `ghp agent-status --epic N --json`.",
        )
    then = past.time_of_issues(app, at, CLAIMS_LEFT_OUT)
    work = _now(app, epic) if then is None else _then(app, epic, then)
    if as_json:
        output.as_json(fields(work))
    else:
        page(work)
    if then is None:
        start_background(app)


def _now(app: App, epic: str) -> EpicWork:
    snapshot = app.store.snapshot()
    agents = presence.list_agents(app, snapshot)
    team = Team(app.offline, snapshot, agents)
    waits = team.waits
    waiting.warn(team)
    return epic_work.read_epic(app, epic, snapshot, agents, waits)


def _then(app: App, epic: str, then: float) -> EpicWork:
    snapshot = app.store.snapshot(then)
    agents = presence.look_back(app.ws, snapshot, then)
    return epic_work.read_past_epic(app.past(then), epic, snapshot, agents)


def page(work: EpicWork) -> None:
    """Print an epic, its parts as a table, and the totals."""
    epic = work.epic
    managers = ", ".join(map(named, epic.assignees)) or "nobody"
    output.page(f"{issue_view.name(epic)}: {epic.state}, managed by {managers}")
    if not work.parts:
        number = short(epic).removeprefix("#")
        output.say(
            f"{short(epic)} has no parts. Add one: `ghp agent-issue new TITLE --parent {number}`, "
            f"or `ghp agent-issue edit N --parent {number}`."
        )
        return
    styles = [STYLES.get(part.state, "") for part in work.parts]
    output.table(COLUMNS, [_row(part) for part in work.parts], styles)
    totals = work.totals
    states = [f"{totals[state]} {state}" for state in list(totals)[1:-1] if totals[state]]
    questions = f"; {count(totals['questions'], 'open question')}" if totals["questions"] else ""
    output.page(f"{count(totals['parts'], 'part')}: {', '.join(states)}{questions}.")
    if work.is_done:
        output.page(work.proposal)


def _row(part: PartWork) -> tuple[str, ...]:
    return (
        "  " * (part.depth - 1) + short(part.issue),
        part.state,
        _holder(part),
        ", ".join(map(thing, part.waits_for)),
        ", ".join(map(file, part.questions)),
        one_line(part.issue.title, TITLE) or issue_view.NO_TITLE,
    )


def _holder(part: PartWork) -> str:
    if part.holding is None:
        return f"{named(part.agent)}, {file(part.status)}" if part.agent else ""
    more = part.holding.shown if part.holding.shown in issue_view.ENDED else part.status
    name = named(part.holding.lock.holder or "", not part.holding.state)
    return f"{name}, {file(more)}" if more else name


def fields(work: EpicWork) -> dict[str, Any]:
    """An epic as JSON."""
    return {
        "number": work.epic.number,
        "title": work.epic.title,
        "state": work.epic.state,
        "assignees": work.epic.assignees,
        "isDone": work.is_done,
        "totals": work.totals,
        "parts": [
            {
                "number": part.issue.number,
                "title": part.issue.title,
                "parent": part.issue.parent,
                "state": part.state,
                "depth": part.depth,
                "claim": issue_view.claim_fields(part.holding) if part.holding else None,
                "status": part.status or None,
                "waitsFor": part.waits_for,
                "questions": part.questions,
            }
            for part in work.parts
        ],
    }
