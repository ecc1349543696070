"""Escalations: ask a person, record answers, and deliver them to the agent that asked."""

import itertools
from collections.abc import Collection, Iterable, Sequence
from contextlib import nullcontext
from typing import NamedTuple

from ghp_agents.core import secret_scan
from ghp_agents.core.clock import to_text
from ghp_agents.core.errors import RefusedError, UsageError
from ghp_agents.core.ids import (
    Actor,
    AgentName,
    Timestamp,
    agent_name,
    digest,
    first_line,
    one_line,
)
from ghp_agents.core.moment import derived
from ghp_agents.escalations import comments, messages, record
from ghp_agents.escalations import escalation as rules
from ghp_agents.escalations.delivered import delivered_ids
from ghp_agents.escalations.escalation import (
    DEFAULT_URGENCY,
    URGENCIES,
    Answer,
    Escalation,
    Outcome,
    Question,
)
from ghp_agents.escalations.messages import News
from ghp_agents.hotpath import news_flag
from ghp_agents.issues.current_issue import in_hand
from ghp_agents.issues.numbers import named_or_current
from ghp_agents.ports import Context, Snapshot
from ghp_agents.presence import people
from ghp_agents.settings import rights
from ghp_agents.state.cause import QUESTION
from ghp_agents.state.codec import ledger_record
from ghp_agents.state.join import Settled
from ghp_agents.state.record import Problem, Record
from ghp_agents.state.transact import transact
from ghp_agents.workspace import Workspace
from ghp_agents.world import World

TEXT_LIMIT = 2_000_000  # characters of a question or an answer
OPTION_LIMIT = 500
CONTEXT_LIMIT = 65_536  # bytes


class EscalateResult(NamedTuple):
    """The result of asking."""

    escalation: Escalation
    is_new: bool
    notes: tuple[str, ...] = ()  # for people


class AnswerResult(NamedTuple):
    """The result of answering."""

    escalation: Escalation
    answer: Answer
    is_new: bool
    notes: tuple[str, ...] = ()


def escalate(
    ctx: Context,
    text: str,
    *,
    issue: str | int | None = None,
    options: Sequence[str] = (),
    context: str = "",
    urgency: str = DEFAULT_URGENCY,
    waiting: bool = False,
    kind: str = QUESTION,
    about: Sequence[str] = (),
) -> EscalateResult:
    """Ask a question about an issue, by default the current one.

    A repeated question is the same question while it is open. With `waiting` it also is while its
    answer is not delivered, for an agent that was interrupted while it waited. `kind` and `about`
    say what the answer decides. Raises UsageError, NotFoundError for an unknown issue,
    NotSetUpError; then nothing was recorded.
    """
    agent = ctx.ws.agent()
    tidy, choices = tidied("question", text), tuple(_option(option) for option in options)
    if urgency not in URGENCIES:
        raise UsageError(
            f"{urgency[:40]!r} is not an urgency.", hint=f"Use {', '.join(URGENCIES)}."
        )
    secret_scan.refuse("context", context)
    with ctx.tracker.showing():
        number, notes = _issue(ctx, agent, issue)
    question = Question(agent, tidy, number, choices, kind, tuple(about))
    from ghp_agents.git import worktree  # readers do not need it

    branch, commit = ctx.ws.branch, worktree.head(ctx.ws.folder) or None
    delivered = delivered_ids(ctx.ws, agent)

    def decide(snapshot: Snapshot) -> tuple[EscalateResult, list[Record]]:
        earlier = questions(World(ctx, snapshot))
        same = [escalation for escalation in earlier if escalation.question == question]
        for last in reversed(same):
            has_news = waiting and any(answer.id not in delivered for answer in last.answers[-1:])
            if last.is_open or has_news:
                return EscalateResult(last, is_new=False), []
        escalation = _new(ctx, snapshot, question, len(same), urgency)._replace(
            context=_unix(context).removesuffix("\n"), branch=branch, commit=commit
        )
        return EscalateResult(escalation, is_new=True), [_question_record(escalation)]

    result = transact(ctx.store, decide)
    notes += _post(ctx, result.escalation)
    return EscalateResult(result.escalation, result.is_new, tuple(notes))


def ask_once(ctx: Context, question: Question, urgency: str = DEFAULT_URGENCY) -> EscalateResult:
    """Ask a question of the program itself in the name of `question.agent`. It is asked only once,
    even if it has been answered."""
    return ask_all(ctx, [(question, urgency)])[0]


def ask_all(ctx: Context, wanted: Sequence[tuple[Question, str]]) -> list[EscalateResult]:
    """The same for several questions with their urgencies, in one step."""

    def decide(snapshot: Snapshot) -> tuple[list[EscalateResult], list[Record]]:
        earlier = _own_questions(World(ctx, snapshot))
        results: list[EscalateResult] = []
        new: list[Escalation] = []
        for question, urgency in wanted:
            key = rules.own_key(question)
            if key not in earlier:
                escalation = _new(ctx, snapshot, question, 0, urgency)
                earlier[key] = escalation._replace(clock=escalation.clock + len(new))
                new.append(earlier[key])
            results.append(EscalateResult(earlier[key], is_new=earlier[key] in new))
        return results, [_question_record(escalation) for escalation in new]

    results = transact(ctx.store, decide) if wanted else []
    return [x._replace(notes=tuple(_post(ctx, x.escalation))) if x.is_new else x for x in results]


def unasked(world: World, wanted: Iterable[Question]) -> list[Question]:
    """Of the program's own questions, those that nobody has asked yet."""
    earlier = _own_questions(world)
    return [question for question in wanted if rules.own_key(question) not in earlier]


def _own_questions(world: World) -> dict[tuple[str, str], Escalation]:
    return {rules.own_key(x.question): x for x in reversed(questions(world))}


def context_of(data: bytes, name: str) -> tuple[str, bool]:
    """The part of a file to attach to a question, and whether it was cut. Raises UsageError."""
    kept = data[:CONTEXT_LIMIT]
    try:
        return kept.decode("utf-8"), len(data) > CONTEXT_LIMIT
    except UnicodeDecodeError as error:
        # Leave out a character that the limit cuts in two.
        if len(data) > CONTEXT_LIMIT and error.start > CONTEXT_LIMIT - 4:
            return kept[: error.start].decode("utf-8"), True
        raise UsageError(
            f"{name} is not UTF-8 text (byte {error.start}).",
            hint="Use a text file, or pipe a part of it with `--context -`.",
        ) from None


def tidied(what: str, text: str) -> str:
    """A normalized text. Raises UsageError if it is empty or too long."""
    tidy = _unix(text.encode("utf-8", "replace").decode("utf-8")).strip()
    if not tidy:
        raise UsageError(f"The {what} is empty.", hint="Give a text, or `-` to read it from stdin.")
    if len(tidy) > TEXT_LIMIT:
        raise UsageError(
            f"The {what} has {len(tidy)} characters; the limit is {TEXT_LIMIT}.",
            hint="Move the long part to a file in the repository and refer to it.",
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
            hint="Describe the option in a few words; put details into the question.",
        )
    secret_scan.refuse("option", option)
    return option


def _issue(ctx: Context, agent: str, named: str | int | None) -> tuple[int | None, list[str]]:
    """The number of the question's issue, and notes for people."""
    number, wanted = named_or_current(ctx, agent, named), in_hand(ctx, agent)
    if number is not None or wanted is None:
        return number, []
    return None, [
        f"Issue #{wanted} of this branch or agent does not exist, so the question has no issue."
    ]


def _new(
    ctx: Context, snapshot: Snapshot, question: Question, times: int, urgency: str
) -> Escalation:
    """A question that was asked and answered `times` times before. Its id is new: an existing but
    unreadable record is never overwritten."""
    taken = snapshot.files(record.ESCALATIONS)
    ids = (rules.identity(question, number) for number in itertools.count(times))
    identity = next(free for free in ids if record.path_of(free) not in taken)
    at = Timestamp(to_text(ctx.ws.clock.now()))
    return Escalation(identity, question, at, snapshot.clock + 1, snapshot.clone, urgency)


def _question_record(escalation: Escalation) -> Record:
    question = escalation.question
    file = (record.path_of(escalation.id), record.render(escalation))
    return Record(
        "escalate", Actor(question.agent), escalation.name, escalation.id, escalation.asked_at,
        escalation.clock, (file,), issue=question.issue, text=escalation.title,
    )  # fmt: skip


def answer(
    ctx: Context, reference: str, text: str, *, by: Actor | None = None, where: str = ""
) -> AnswerResult:
    """Answer a question. The first answer closes it, all answers are kept, and the last one counts.

    An agent that is not an orchestrator gives advice, which does not close it. A repeated answer
    is recorded once. The number of an option means the option. `where` is the comment in which
    `by` answered on the issue itself. Raises NotFoundError, UsageError, NotSetUpError, and
    RefusedError when an agent answers itself. A question of the program is answered by one of its
    options only; else UsageError."""
    by, given = by or ctx.ws.actor(), tidied("answer", text)
    orchestrators = ctx.ws.settings.orchestrators

    def decide(snapshot: Snapshot) -> tuple[AnswerResult, list[Record]]:
        escalation = rules.find(questions(World(ctx, snapshot)), reference)
        asker = escalation.question.agent
        if by == Actor(asker):
            raise RefusedError(
                f"{by} asked this question, and you act for {by} here.",
                hint=people.instead(ctx.ws.environ, "answers it"),
            )
        tidy = rules.chosen(escalation.question, given)
        may = rights.may_answer(by, asker, orchestrators)
        if may:
            _check_choice(escalation, tidy)
        earlier = escalation.answers if may else escalation.advice
        same = [old for old in earlier if (old.by, old.text) == (by, tidy)]
        if same and earlier[-1].text == tidy:
            return AnswerResult(escalation, same[-1], is_new=False), []
        after = earlier[-1].id if same else ""
        identity = rules.answer_identity(escalation.id, by, tidy, after)
        at, clock = Timestamp(to_text(ctx.ws.clock.now())), snapshot.clock + 1
        new = Answer(identity, escalation.id, by, tidy, at, clock, snapshot.clone, where)
        answered = rules.with_answers(escalation, [new], orchestrators)
        return AnswerResult(answered, new, is_new=True), [_answer_record(escalation, new)]

    result = transact(ctx.store, decide)
    if result.is_new:
        news_flag.set_flag(ctx.ws.folders, result.escalation.question.agent)
    notes = _post(ctx, result.escalation)
    return AnswerResult(result.escalation, result.answer, result.is_new, tuple(notes))


def settle(ctx: Context, escalation: Escalation, text: str) -> None:
    """Record once that an open question of the program needs no answer any more, and why. Whether
    it does is for `leases.settled_questions` to decide."""
    identity = digest("settled", escalation.id, text)
    by, path = ctx.ws.actor(), record.outcome_path_of(escalation.id, identity)

    def decide(snapshot: Snapshot) -> tuple[None, list[Record]]:
        if escalation.answers or path in snapshot.files(record.OUTCOMES):
            return None, []
        at, clock = Timestamp(to_text(ctx.ws.clock.now())), snapshot.clock + 1
        outcome = Outcome(
            identity, escalation.id, "", by, at, clock, snapshot.clone, text, is_done=True
        )
        files = [(path, record.render_outcome(outcome))]
        issue = escalation.question.issue
        return None, [
            ledger_record(outcome, "decide", escalation.name, files, issue=issue, text=text)
        ]

    transact(ctx.store, decide)


def _check_choice(escalation: Escalation, text: str) -> None:
    """Raise UsageError if a question of the program is answered by none of its options."""
    question = escalation.question
    if question.kind != QUESTION and rules.is_odd(question, text):
        options = "; ".join(f"{n}. {option}" for n, option in enumerate(question.options, 1))
        raise UsageError(
            f"Nothing was changed: {one_line(text, 60)!r} is not one of the options of "
            f"{escalation.name}: {one_line(options, 1_000)}.",
            hint=f"Answer with a number: `ghp agent-answer {escalation.name} 1`. The question "
            "stays open. For a remark, comment on the issue.",
        )


def _answer_record(escalation: Escalation, answer: Answer) -> Record:
    path = record.answer_path_of(escalation.id, answer.id)
    files = [(path, record.render_answer(answer))]
    issue, text = escalation.question.issue, first_line(answer.text)
    return ledger_record(answer, "answer", escalation.name, files, issue=issue, text=text)


def send_waiting(ctx: Context, in_command: bool) -> list[str]:
    """Send what could not be shown before; return notes."""
    with ctx.tracker.showing() if in_command else nullcontext():
        sent = [f"sent a change that was waiting: {change}" for change in ctx.tracker.send()]
        return [*sent, *post_owed(ctx)]


def post_owed(ctx: Context) -> list[str]:
    """Post the pending comments; return notes on failures."""
    owed = comments.due(ctx.ws)
    if not owed:
        return []
    return [note for x in questions(ctx.world) if x.id in owed for note in comments.post(ctx, x)]


def _post(ctx: Context, escalation: Escalation) -> list[str]:
    """Post what is missing, as far as nobody has to wait for it; the next sync posts the rest."""
    with ctx.tracker.showing():
        return comments.post(ctx, escalation) or post_owed(ctx)


def questions(world: World) -> list[Escalation]:
    """All questions, oldest first, with their answers. Answers of agents that are not orchestrators
    are advice."""
    return read_all(world)[0]


def read_all(world: World) -> tuple[list[Escalation], list[Problem]]:
    """The same, and the problems."""
    answered = world.snapshot.files(record.ANSWERS)  # without any, no settings are read
    return _read(world.snapshot, world.ws.settings.orchestrators if answered else (), False)


def present_questions(world: World) -> list[Escalation]:
    """The same without settled questions: their answers are final, and were delivered."""
    return _read(world.snapshot, world.ws.settings.orchestrators, True)[0]


@derived
def _read(
    snapshot: Snapshot, orchestrators: Collection[str], present: bool
) -> tuple[list[Escalation], list[Problem]]:
    folders = map(snapshot.present if present else snapshot.files, record.FOLDERS)
    files = {path: data for folder in folders for path, data in folder.items()}
    return record.read(files, orchestrators)


def news_for(world: World, agent: AgentName) -> list[News]:
    """The advice and the answers that count to `agent`'s questions, if they were not delivered,
    oldest first. An answer that was replaced meanwhile is not delivered any more."""
    delivered = delivered_ids(world.ws, agent)
    new = [
        (answer, x)
        for x in present_questions(world)
        if x.question.agent == agent
        for answer in x.news
        if answer.id not in delivered
    ]
    by_answer = {answer.id: escalation for answer, escalation in new}
    answers = rules.ordered(answer for answer, _ in new)
    return [News(by_answer[answer.id], answer) for answer in answers]


def settled(ws: Workspace, snapshot: Snapshot, before: float) -> list[Settled]:
    """The settled questions. One that was asked here stays until its agent has all answers."""
    files = {**snapshot.files(record.ESCALATIONS), **snapshot.files(record.ANSWERS)}
    return [
        parts
        for item, parts in record.settled(files, before)
        if item.clone != snapshot.clone or _has_all(ws, item)
    ]


def _has_all(ws: Workspace, escalation: Escalation) -> bool:
    """Whether what counts was delivered to the agent that asked, or it has no valid name."""
    try:
        delivered = delivered_ids(ws, agent_name(escalation.question.agent))
    except UsageError:
        return True
    return delivered.issuperset(answer.id for answer in escalation.news)


def render_news(news: Iterable[News], *, limit: int = messages.ANSWER_IN_NEWS) -> str:
    """News as text, each in a block that names its author, up to `limit` characters per answer."""
    return "\n".join(f"{messages.news(item, limit)}\n" for item in news)
