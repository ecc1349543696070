"""Escalations: ask a person, answer, and bring the answer to the agent that asked."""

import json
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from ghp_agents.core import files, secret_scan
from ghp_agents.core.clock import to_text
from ghp_agents.core.errors import NotFoundError, RefusedError, UnknownError, UsageError
from ghp_agents.core.ids import Actor, AgentName, Timestamp, agent_name
from ghp_agents.escalations import comments, messages, record
from ghp_agents.escalations import escalation as rules
from ghp_agents.escalations.escalation import (
    DEFAULT_URGENCY,
    URGENCIES,
    Answer,
    Escalation,
    Question,
)
from ghp_agents.escalations.messages import News
from ghp_agents.git import process as git
from ghp_agents.hotpath import news_flag
from ghp_agents.ports import IssueTracker, Snapshot, StateStore
from ghp_agents.presence import people
from ghp_agents.state.join import Problem
from ghp_agents.state.record import Record
from ghp_agents.state.transact import transact
from ghp_agents.workspace import Workspace

TEXT_LIMIT = 2_000_000  # characters of a question or an answer
OPTION_LIMIT = 500
CONTEXT_LIMIT = 65_536  # bytes


class EscalateResult(NamedTuple):
    """What became of a question."""

    escalation: Escalation
    is_new: bool
    notes: tuple[str, ...] = ()  # what a person should know of it


class AnswerResult(NamedTuple):
    """What became of an answer."""

    escalation: Escalation
    answer: Answer
    is_new: bool
    notes: tuple[str, ...] = ()


# ---------------------------------------------------------------------------------- asking


def escalate(
    ws: Workspace,
    store: StateStore,
    tracker: IssueTracker,
    text: str,
    *,
    issue: str | int | None = None,
    options: Sequence[str] = (),
    context: str = "",
    urgency: str = DEFAULT_URGENCY,
    waiting: bool = False,
) -> EscalateResult:
    """Ask a question; the issue is the one in hand unless it is named.

    Asked again while it is open, it is the same question. So it is for one who was cut off while
    `waiting`, as long as the answer has not reached it. Raises UsageError, NotFoundError for an
    unknown issue, NotSetUpError; then nothing was recorded.
    """
    agent = ws.agent()
    tidy, choices = tidied("question", text), tuple(_option(option) for option in options)
    if urgency not in URGENCIES:
        raise UsageError(f"{urgency[:40]!r} is no urgency.", hint=f"Use {', '.join(URGENCIES)}.")
    secret_scan.refuse("context", context)
    number, notes = _issue(ws, tracker, agent, issue)
    question = Question(agent, tidy, number, choices)
    branch, commit = ws.branch, _commit(ws)
    told = _told(ws, agent)

    def decide(snapshot: Snapshot) -> tuple[EscalateResult, list[Record]]:
        known, _ = read_all(snapshot, ws.settings.orchestrators)
        same = [each for each in known if each.question == question]
        for had in reversed(same):
            untold = waiting and any(said.id not in told for said in had.answers)
            if had.is_open or untold:
                return EscalateResult(had, is_new=False), []
        asked = Escalation(
            id=_free_id(snapshot, question, len(same)),
            question=question,
            asked_at=Timestamp(to_text(ws.clock.now())),
            clock=snapshot.clock + 1,
            clone=snapshot.clone,
            urgency=urgency,
            context=_unix(context).removesuffix("\n"),
            branch=branch,
            commit=commit,
        )
        return EscalateResult(asked, is_new=True), [_asking(asked)]

    asked = transact(store, decide)
    notes += _post(ws, store, tracker, asked.escalation)
    return EscalateResult(asked.escalation, asked.is_new, tuple(notes))


def ask_once(
    ws: Workspace,
    store: StateStore,
    tracker: IssueTracker,
    question: Question,
    urgency: str = DEFAULT_URGENCY,
) -> EscalateResult:
    """Ask in the name of `question.agent` what the program itself found out. Asked before, even if
    it was answered since, it is not asked again."""

    def decide(snapshot: Snapshot) -> tuple[EscalateResult, list[Record]]:
        for had in read_all(snapshot, ws.settings.orchestrators)[0]:
            if rules.is_same(had.question, question):
                return EscalateResult(had, is_new=False), []
        at = Timestamp(to_text(ws.clock.now()))
        clock, clone = snapshot.clock + 1, snapshot.clone
        asked = Escalation(_free_id(snapshot, question, 0), question, at, clock, clone, urgency)
        return EscalateResult(asked, is_new=True), [_asking(asked)]

    asked = transact(store, decide)
    notes = _post(ws, store, tracker, asked.escalation) if asked.is_new else []
    return asked._replace(notes=tuple(notes))


def context_of(data: bytes, name: str) -> tuple[str, bool]:
    """What of a file goes with a question, and whether that is not all. Raises UsageError."""
    kept = data[:CONTEXT_LIMIT]
    try:
        return kept.decode("utf-8"), len(data) > CONTEXT_LIMIT
    except UnicodeDecodeError as error:
        # A letter that the limit cuts in two is left out.
        if len(data) > CONTEXT_LIMIT and error.start > CONTEXT_LIMIT - 4:
            return kept[: error.start].decode("utf-8"), True
        raise UsageError(
            f"{name} is not UTF-8 text (byte {error.start}).",
            hint="Give a text file, or a part of it by `--context -` from a pipe.",
        ) from None


def tidied(what: str, text: str) -> str:
    """A text as it is kept. Raises UsageError when there is none or it is too long."""
    tidy = _unix(text.encode("utf-8", "replace").decode("utf-8")).strip()
    if not tidy:
        raise UsageError(f"The {what} is empty.", hint="Give a text, or `-` to read it from stdin.")
    if len(tidy) > TEXT_LIMIT:
        raise UsageError(
            f"The {what} has {len(tidy)} characters; at most {TEXT_LIMIT} are kept.",
            hint="Put the long part into a file of the repository and name it.",
        )
    secret_scan.refuse(what, tidy)
    return tidy


def _unix(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _option(text: str) -> str:
    option = " ".join(text.encode("utf-8", "replace").decode("utf-8").split())
    if not option or len(option) > OPTION_LIMIT:
        raise UsageError(
            f"An option has {len(option)} characters; it needs 1 to {OPTION_LIMIT}.",
            hint="Name the choice in a few words; the question has room for the rest.",
        )
    secret_scan.refuse("option", option)
    return option


def _issue(
    ws: Workspace, tracker: IssueTracker, agent: str, named: str | int | None
) -> tuple[int | None, list[str]]:
    """The number of the issue that is asked about, and what a person should know of it."""
    wanted = named if named is not None else ws.issue_in_hand(agent)
    if wanted is None:
        return None, []
    try:
        return tracker.get(wanted).number, []
    except NotFoundError:
        if named is not None:
            raise
        return None, [
            f"There is no issue #{wanted}, as this branch or agent has it: asked without."
        ]
    except UnknownError:  # the question must not be lost because the tracker cannot be reached
        number = str(wanted).removeprefix("#")
        if not (number.isascii() and number.isdigit()):
            raise
        return int(number), []


def _commit(ws: Workspace) -> str | None:
    shown = git.run(["rev-parse", "--verify", "--quiet", "HEAD"], cwd=ws.folder)
    return shown.text if shown.code == 0 else None


def _free_id(snapshot: Snapshot, question: Question, times: int) -> str:
    """A new id; one whose record is there but cannot be read is never written over."""
    taken = snapshot.files(record.ESCALATIONS)
    while True:
        found = rules.identity(question, times)
        if record.path_of(found) not in taken:
            return found
        times += 1


def _asking(asked: Escalation) -> Record:
    return Record(
        event="escalate",
        actor=Actor(asked.question.agent),
        object=asked.name,
        id=asked.id,
        at=asked.asked_at,
        clock=asked.clock,
        files=((record.path_of(asked.id), record.render(asked)),),
        issue=asked.question.issue,
        text=asked.title,
    )


# ------------------------------------------------------------------------------- answering


def answer(
    ws: Workspace,
    store: StateStore,
    tracker: IssueTracker,
    reference: str,
    text: str,
    *,
    by: Actor | None = None,
    where: str = "",
) -> AnswerResult:
    """Answer a question. The first answer closes it, others are kept beside it, and the last one
    counts; an agent that is no orchestrator gives advice, which closes nothing. Whoever says the
    same again has said it once. The number of an option stands for the option. `where` names the
    comment in which somebody, `by`, answered on the issue itself. Raises NotFoundError, UsageError,
    NotSetUpError, RefusedError when an agent answers itself."""
    by, given = by or ws.actor(), tidied("answer", text)
    orchestrators = ws.settings.orchestrators

    def decide(snapshot: Snapshot) -> tuple[AnswerResult, list[Record]]:
        asked = rules.find(read_all(snapshot, orchestrators)[0], reference)
        if by == Actor(asked.question.agent):
            raise RefusedError(
                f"{by} asked this, and {by} is who you act for here.",
                hint=people.instead(ws.environ, "answers it"),
            )
        tidy = rules.chosen(asked.question, given)
        known = asked.answers if rules.may_decide(by, orchestrators) else asked.advice
        same = [had for had in known if (had.by, had.text) == (by, tidy)]
        if same and known[-1].text == tidy:
            return AnswerResult(asked, same[-1], is_new=False), []
        after = known[-1].id if same else ""
        identity = rules.answer_identity(asked.id, by, tidy, after)
        at = Timestamp(to_text(ws.clock.now()))
        said = Answer(identity, asked.id, by, tidy, at, snapshot.clock + 1, snapshot.clone, where)
        after_it = rules.with_answers(asked, [said], orchestrators)
        return AnswerResult(after_it, said, is_new=True), [_answering(asked, said)]

    answered = transact(store, decide)
    if answered.is_new:
        news_flag.set_flag(ws.folders, answered.escalation.question.agent)
    notes = _post(ws, store, tracker, answered.escalation)
    return AnswerResult(answered.escalation, answered.answer, answered.is_new, tuple(notes))


def _answering(asked: Escalation, said: Answer) -> Record:
    return Record(
        event="answer",
        actor=said.by,
        object=asked.name,
        id=said.id,
        at=said.at,
        clock=said.clock,
        files=((record.answer_path_of(asked.id, said.id), record.render_answer(said)),),
        issue=asked.question.issue,
        text=rules.first_line(said.text),
    )


def post_owed(ws: Workspace, store: StateStore, tracker: IssueTracker) -> list[str]:
    """Make up for comments that could not be made before; what still stands in the way."""
    owed = comments.owed(ws)
    if not owed:
        return []
    known, _ = read_all(store.snapshot(), ws.settings.orchestrators)
    found = [each for each in known if each.id in owed]
    return [note for each in found for note in comments.post(ws, tracker, each)]


def _post(
    ws: Workspace, store: StateStore, tracker: IssueTracker, escalation: Escalation
) -> list[str]:
    return comments.post(ws, tracker, escalation) or post_owed(ws, store, tracker)


# --------------------------------------------------------------------------------- reading


def read_all(
    snapshot: Snapshot, orchestrators: Collection[str] = ()
) -> tuple[list[Escalation], list[Problem]]:
    """All questions with their answers, as they were asked, and what could not be read. Agents
    that are no `orchestrators` give advice."""
    asked, answers = snapshot.files(record.ESCALATIONS), snapshot.files(record.ANSWERS)
    return record.read({**asked, **answers}, orchestrators)


# ------------------------------------------------------------------- news for the asker


def news_for(ws: Workspace, snapshot: Snapshot, agent: AgentName) -> list[News]:
    """The answers to `agent`'s questions, and advice, that it has not been told of, in their
    order."""
    told = _told(ws, agent)
    asked, _ = read_all(snapshot, ws.settings.orchestrators)
    mine = [each for each in asked if each.question.agent == agent]
    new = [
        (said, each)
        for each in mine
        for said in (*each.answers, *each.advice)
        if said.id not in told
    ]
    by_answer = {said.id: each for said, each in new}
    answers = rules.ordered(said for said, _ in new)
    return [News(by_answer[said.id], said) for said in answers]


def mark_told(ws: Workspace, agent: AgentName, ids: Iterable[str]) -> None:
    """Remember what `agent` was told, after it was: killed in between, it is told once more."""
    said = sorted(_told(ws, agent) | set(ids))
    content = json.dumps(said).encode()
    for folder in ws.folders:
        if files.usable(Path(folder)):
            files.write_atomically(_told_path(folder, agent), content)
            return


def is_told(ws: Workspace, agent: AgentName, name: str) -> bool:
    """Whether `agent` was told of something, by the name under which that is remembered."""
    return name in _told(ws, agent)


def render_news(news: Iterable[News], *, limit: int = messages.ANSWER_IN_NEWS) -> str:
    """News as text, each in a block that names its author, with so much of each answer."""
    return "\n".join(f"{messages.news(each, limit)}\n" for each in news)


def _told(ws: Workspace, agent: AgentName) -> set[str]:
    told: set[str] = set()
    for folder in ws.folders:
        try:
            found = json.loads(_told_path(folder, agent).read_bytes())
        except (OSError, ValueError):
            continue  # told once more, rather than never
        told |= (
            {each for each in found if isinstance(each, str)} if isinstance(found, list) else set()
        )
    return told


def _told_path(folder: str, agent: AgentName) -> Path:
    return Path(folder, "told", f"{agent_name(agent)}.json")
