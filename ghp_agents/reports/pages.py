"""The pages of the published branch, for people who do not use this program.

The same state always gives the same bytes: no page has the present time or a path of this machine.
Every page is bounded, whatever the state contains.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC
from typing import NamedTuple

from ghp_agents.claims import shown_work
from ghp_agents.core.ids import count, first_line
from ghp_agents.escalations import escalation as questions
from ghp_agents.escalations.escalation import Escalation
from ghp_agents.handoffs import record as handoff_record
from ghp_agents.handoffs.handoff import Handoff
from ghp_agents.hotpath.quoting import NAME_LIMIT, when
from ghp_agents.issues import open_issues
from ghp_agents.issues.issue import PRIORITIES, PROVISIONAL, Issue
from ghp_agents.leases import settled_questions
from ghp_agents.notes import record as note_record
from ghp_agents.notes import service as note_service
from ghp_agents.notes.note import Note
from ghp_agents.ports import Context, Snapshot
from ghp_agents.presence import service as presence
from ghp_agents.pulls import local_pulls
from ghp_agents.pulls.pull import Pull
from ghp_agents.reports import timeline_page, timeline_svg
from ghp_agents.reports.markdown import block, link, plain, table
from ghp_agents.reports.read_timeline import last_day
from ghp_agents.reports.timeline import Timeline
from ghp_agents.state.presence import Agents, issue_of
from ghp_agents.world import World

Pages = Mapping[str, bytes]

ROWS = 200  # of a table; the rest is counted
OLD_ROWS = 50  # of a table of what is settled
PICTURE, TIMELINE = "timeline.svg", "timeline.html"
QUESTIONS_IN_FULL = 50
QUESTION_LIMIT = 2_000  # characters
NOTE_LIMIT = 300
NAMES = {
    "README.md": "Agents",
    "questions.md": "Questions",
    "issues.md": "Issues",
    "pulls.md": "Pull requests",
    "handoffs.md": "Handoffs",
    "notes.md": "Knowledge",
}


class PagePart(NamedTuple):
    """A page without its heading, and its line on the first page."""

    counted: str
    lines: Sequence[str]


class PageContents(NamedTuple):
    """The contents of all pages, read from the state."""

    agents: Agents
    questions: Sequence[Escalation]
    issues: Sequence[Issue]
    pulls: Sequence[Pull]
    handoffs: Sequence[Handoff]
    notes: Sequence[Note]
    on_github: bool  # issues and pull requests are there
    timeline: Timeline | None = None  # of the last day


def renderer(ctx: Context) -> Callable[[Snapshot, Agents], Pages]:
    """Return the function that renders the pages of a snapshot, with the agents to show."""
    on_github = ctx.hub is not None

    def render_snapshot(snapshot: Snapshot, agents: Agents) -> Pages:
        pulls = local_pulls.read_all(snapshot)
        handoffs, _ = handoff_record.read_handoffs(snapshot.files(handoff_record.HANDOFFS))
        return render(
            PageContents(
                shown_work.presences(ctx, snapshot, agents, presence.origins(snapshot)),
                settled_questions.read(World(ctx, snapshot)),
                () if on_github else open_issues.read_all(snapshot),
                () if on_github else [entry.pull for entry in pulls],
                handoffs,
                note_service.read_all(snapshot)[0],
                on_github,
                last_day(ctx, snapshot, titled=not on_github),
            )
        )

    return render_snapshot


def render(state: PageContents) -> Pages:
    """Return all pages by name; `README.md` is the first one."""
    parts = {
        "questions.md": _questions(state),
        "issues.md": _issues(state),
        "pulls.md": _pulls(state),
        "handoffs.md": _handoffs(state),
        "notes.md": _notes(state),
    }
    pages = {name: [f"# {NAMES[name]}", "", _menu(name), "", *parts[name].lines] for name in parts}
    rows = [(link(NAMES[name], name), part.counted) for name, part in parts.items()]
    first = ["# Agents at work", "", "Generated from the state of ghp-agents; do not edit.", ""]
    pages["README.md"] = [*first, *table(("page", "content"), rows, tuple, ROWS), *_timeline(state)]
    pages["README.md"] += _agents(state)
    encoded = {name: _encoded(lines) for name, lines in pages.items()}
    if state.timeline and state.timeline.lanes:
        encoded[PICTURE] = timeline_svg.render(state.timeline, UTC).encode()
        encoded[TIMELINE] = timeline_page.render(state.timeline, UTC).encode()
    return encoded


def _timeline(state: PageContents) -> list[str]:
    """The picture of the last day; hosts show it, but not the page beside it."""
    if not (state.timeline and state.timeline.lanes):
        return []
    page = link("the page", TIMELINE)
    how = f"Download {page}, which zooms; or run `ghp agent-timeline`."
    return ["## Last day", "", f"![Who worked on what, and when]({PICTURE})", "", how, ""]


def _encoded(lines: Sequence[str]) -> bytes:
    return ("\n".join(lines).rstrip("\n") + "\n").encode("utf-8", "replace")


def _menu(here: str) -> str:
    return " · ".join(
        f"**{title}**" if name == here else link(title, name) for name, title in NAMES.items()
    )


def _agents(state: PageContents) -> list[str]:
    def row(name: str) -> tuple[str, ...]:
        fields = state.agents[name]
        texts = [plain(str(fields.get(key) or "")) for key in ("status", "lastAction", "timestamp")]
        return plain(name), texts[0], _issue(state, issue_of(fields)), *texts[1:]

    columns = ("agent", "status", "issue", "last action", "last beat")
    return ["## Agents", "", *table(columns, sorted(state.agents), row, ROWS, "No agents.")]


def _questions(state: PageContents) -> PagePart:
    escalations = questions.by_need(state.questions)
    opened = [question for question in escalations if question.is_open]
    answered = [question for question in escalations if question.answers]
    answered.sort(key=lambda question: -question.answers[-1].clock)
    whole = [line for question in opened[:QUESTIONS_IN_FULL] for line in _question(state, question)]
    rest = len(opened) - QUESTIONS_IN_FULL
    more = [f"… and {rest} more: `ghp agent-escalations --open`.", ""] if rest > 0 else []

    def row(escalation: Escalation) -> tuple[str, ...]:
        question, answer = escalation.question, escalation.answers[-1]
        return (
            f"{escalation.name}: {plain(escalation.title)}",
            _issue(state, question.issue),
            _name(question.agent),
            plain(first_line(answer.text)),
            _name(answer.by.name),
            when(answer.at),
            plain(escalation.outcome.text if escalation.outcome else ""),
        )

    def settled_row(escalation: Escalation) -> tuple[str, ...]:
        question = escalation.question
        about, by = _issue(state, question.issue), _name(question.agent)
        return f"{escalation.name}: {plain(escalation.title)}", about, by, plain(escalation.settled)

    settled = [question for question in escalations if question.settled]
    over = table(("question", "issue", "asked by", "why"), settled, settled_row, OLD_ROWS)
    columns = ("question", "issue", "asked by", "answer", "answered by", "at", "result")
    return PagePart(
        f"{len(opened)} open, {len(answered)} answered",
        [
            *("## Open", ""), *(whole or ["No question waits for an answer.", ""]), *more,
            *(("## Need no answer any more", "", *over) if settled else ()),
            *("## Answered", ""), *table(columns, answered, row, OLD_ROWS),
        ],
    )  # fmt: skip


def _question(state: PageContents, escalation: Escalation) -> list[str]:
    question = escalation.question
    about = f" about {_issue(state, question.issue)}" if question.issue else ""
    options = f"\n\nOptions:\n{questions.listed(question.options)}" if question.options else ""
    show = f"ghp agent-escalations {escalation.name}"
    advice = len(escalation.advice)
    return [
        *(f"### {escalation.name}", ""),
        f"{_name(question.agent)} asked this{about} at {when(escalation.asked_at)}. "
        f"Urgency: {plain(escalation.urgency)}.",
        *("", block(question.text + options, QUESTION_LIMIT, show), ""),
        *([f"{count(advice, 'agent')} gave advice: `{show}`.", ""] if advice else []),
        *(f"To answer: `ghp agent-answer {escalation.name} TEXT`", ""),
    ]


def _issues(state: PageContents) -> PagePart:
    if state.on_github:
        return PagePart("on GitHub", [link("The issues are on GitHub.", "../../issues"), ""])
    work = {pull.issue: pull for pull in state.pulls if pull.issue and pull.state != "closed"}
    opened = sorted((item for item in state.issues if item.state != "closed"), key=_priority)
    closed = [item for item in state.issues if item.state == "closed"]
    closed.sort(key=lambda item: -item.number)

    def row(issue: Issue) -> tuple[str, ...]:
        pull = next((work[number] for number in issue.numbers if number in work), None)
        return (
            _anchors("issue", issue.numbers, _number(issue)),
            plain(issue.title) or "(no title)",
            plain(issue.priority),
            ", ".join(map(_name, issue.assignees[:5])),
            ", ".join(_issue(state, number) for number in issue.blocked_by[:10]),
            _issue(state, issue.parent),
            link(f"#{pull.number}", f"pulls.md#pull-{pull.number}") if pull else "",
        )

    columns = ("issue", "title", "priority", "assigned to", "blocked by", "part of", "work")
    return PagePart(
        f"{len(opened)} open, {len(closed)} closed",
        [
            *("## Open", ""), *table(columns, opened, row, ROWS),
            *("## Closed", ""), *table(columns, closed, row, OLD_ROWS),
        ],
    )  # fmt: skip


def _priority(issue: Issue) -> tuple[int, int]:
    is_known = issue.priority in PRIORITIES
    return PRIORITIES.index(issue.priority) if is_known else len(PRIORITIES), issue.number


def _pulls(state: PageContents) -> PagePart:
    if state.on_github:
        text = link("The pull requests are on GitHub.", "../../pulls")
        return PagePart("on GitHub", [text, ""])
    opened = [request for request in state.pulls if request.state == "open"]
    settled = [request for request in reversed(state.pulls) if request.state != "open"]

    def row(pull: Pull) -> tuple[str, ...]:
        is_draft = pull.draft and pull.state == "open"
        return (
            _anchors("pull", [pull.number], f"#{pull.number}"),
            plain(pull.title) or "(no title)",
            "draft" if is_draft else plain(pull.state),
            _issue(state, pull.issue),
            plain(pull.branch),
            _name(pull.author),
            when(pull.updated_at),
        )

    columns = ("pull request", "title", "state", "issue", "branch", "author", "changed")
    merged = sum(pull.state == "merged" for pull in settled)
    return PagePart(
        f"{len(opened)} open, {merged} merged, {len(settled) - merged} closed",
        [
            *("## Open", ""), *table(columns, opened, row, ROWS),
            *("## Merged and closed", ""), *table(columns, settled, row, OLD_ROWS),
        ],
    )  # fmt: skip


def _handoffs(state: PageContents) -> PagePart:
    def row(handoff: Handoff) -> tuple[str, ...]:
        return (
            handoff.name,
            handoff.kind,
            _issue(state, handoff.issue),
            _name(handoff.by.name),
            _name(handoff.to or ""),
            plain(handoff.branch or ""),
            plain(first_line(handoff.note) or next(iter(handoff.next_steps), "")),
            when(handoff.at),
        )

    columns = ("handoff", "kind", "issue", "from", "to", "branch", "note", "at")
    how = "`ghp agent-resume --handoff ID` prints one in full."
    newest = state.handoffs[::-1]
    return PagePart(f"{len(newest)} in all", [how, "", *table(columns, newest, row, ROWS)])


def _notes(state: PageContents) -> PagePart:
    kept = [entry for entry in state.notes[::-1] if not (entry.forgotten or entry.superseded_by)]

    def row(note: Note) -> tuple[str, ...]:
        return (
            link(note.name, note_record.path_of(note.id)),
            note.kind,
            plain(note.text, NOTE_LIMIT),
            _issue(state, note.issue),
            _name(note.by.name),
            plain(note.expires or ""),
        )

    columns = ("note", "kind", "text", "issue", "by", "valid until")
    return PagePart(f"{len(kept)} in all", table(columns, kept, row, ROWS, "No notes."))


def _name(name: str) -> str:
    return plain(name, NAME_LIMIT)


def _number(issue: Issue) -> str:
    return f"I-{issue.id[:8]}" if issue.number >= PROVISIONAL else f"#{issue.number}"


def _issue(state: PageContents, number: int | None) -> str:
    """A link to an issue, which no host takes for one of its own issues."""
    if number is None or number >= PROVISIONAL:
        return ""
    return link(
        f"#{number}", f"../../issues/{number}" if state.on_github else f"issues.md#issue-{number}"
    )


def _anchors(kind: str, numbers: Sequence[int], text: str) -> str:
    """A link to its own row, which other pages find by each of its numbers."""
    anchors = "".join(f'<a id="{kind}-{number}"></a>' for number in numbers[:5])
    return f"{anchors}{link(text, f'#{kind}-{numbers[0]}')}"
