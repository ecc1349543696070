"""Comment commands on GitHub: read, executed once, and acknowledged."""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import NamedTuple

from ghp_agents.claims.effects import ClaimContext
from ghp_agents.core.errors import GhpError, NotFoundError, UnknownError
from ghp_agents.core.ids import Timestamp, digest, one_line
from ghp_agents.github import account, pending_comments
from ghp_agents.github import marker as github_marker
from ghp_agents.github.api.errors import ForbiddenError, GoneError
from ghp_agents.github.api.repository import GitHubRepository
from ghp_agents.github.commands import actions, messages, notices, reviews
from ghp_agents.github.commands.actions import CommandContext
from ghp_agents.github.commands.answers import OpenQuestions
from ghp_agents.github.commands.inbox import CommentInbox, HeardComment
from ghp_agents.github.commands.lock import turn
from ghp_agents.github.commands.parse import Command, Mistake
from ghp_agents.github.tracker import jobs
from ghp_agents.github.wording import PROGRAM
from ghp_agents.hotpath import news_flag
from ghp_agents.issues import comment_commands
from ghp_agents.issues.comment_commands import FOLDER, REFUSED, Act, Obeyed
from ghp_agents.issues.issue import Issue
from ghp_agents.locks.held import HeldLock
from ghp_agents.ports import Context, Snapshot, StateStore
from ghp_agents.state.record import Record
from ghp_agents.state.transact import transact
from ghp_agents.workspace import Workspace, now_text


class Done(NamedTuple):
    """The result: notes for people, and the issues that commands were about."""

    notes: tuple[str, ...] = ()
    issues: frozenset[int] = frozenset()
    left: tuple[HeardComment, ...] = ()  # not permitted now; tried again next time


def obey_new(ctx: Context, hub: GitHubRepository, issues: Iterable[Issue]) -> Done:
    """Execute new commands from people with permission. `issues` are all issues as they are now.

    Raises UnknownError if GitHub or the remote is unreachable; the rest is executed later.
    """
    ctx.tracker.send()  # acknowledgements of a process that was killed
    by_number: dict[int, Issue] = {n: issue for issue in issues for n in issue.numbers}
    inbox = CommentInbox(ctx.ws, hub)
    questions = OpenQuestions(ctx, hub)
    left = [comment for comment in inbox.listen(by_number) if _is_meant(questions, comment)]
    notices.remember_remarks(ctx, inbox)
    if inbox.is_due:
        reviews.remember_reviews(ctx, hub)
    left = [comment for comment in _unobeyed(ctx.store, left) if inbox.may_command(comment)]
    left = [comment for comment in left if _is_order(comment) or _answers(questions, comment)]
    if not left:
        inbox.done()
        return Done()
    with turn(ctx) as mine:
        if mine is None:
            return Done(("Another clone is executing commands from GitHub.",))
        try:
            done = _obey_all(ctx, hub, left, mine)
        except GhpError:
            _publish(ctx, mine)  # the commands executed before the error
            raise
        _publish(ctx, mine)
    ctx.tracker.send()
    inbox.hear_again(comment.at for comment in done.left)
    inbox.done()
    return done


def _publish(ctx: Context, mine: HeldLock) -> None:
    """Sync the results. If that fails, keep the lock so that no other clone repeats the
    commands."""
    mine.is_kept = bool(ctx.store.sync(fetch=False).trouble)


def _is_meant(questions: OpenQuestions, comment: HeardComment) -> bool:
    """Whether the comment may address agents; a quotation may be of anything."""
    return _is_order(comment) or questions.may_be_answered(comment)


def _is_order(comment: HeardComment) -> bool:
    return bool(comment.parsed.commands or comment.parsed.mistakes)


def _answers(questions: OpenQuestions, comment: HeardComment) -> bool:
    try:
        return bool(questions.answers(comment))
    except NotFoundError:
        return True  # tried again


def _unobeyed(store: StateStore, heard: Sequence[HeardComment]) -> list[HeardComment]:
    records = store.snapshot().files(FOLDER) if heard else {}
    return [comment for comment in heard if comment_commands.path_of(comment.id) not in records]


def _obey_all(
    ctx: Context, hub: GitHubRepository, heard: Sequence[HeardComment], mine: HeldLock
) -> Done:
    """Execute, after fetching what others have executed. Raises UnknownError."""
    report = ctx.store.sync(push=False)
    if report.remote and not report.fetched:
        raise UnknownError(
            f"Cannot reach {report.remote}: {report.trouble}.",
            hint="Commands are executed as soon as it answers.",
        )
    notes: list[str] = []
    obeyed: set[int] = set()
    again: list[HeardComment] = []
    for comment in _unobeyed(ctx.store, heard):
        try:
            answers = OpenQuestions(ctx, hub).answers(comment)  # the comment before may be one
            if not (answers or _is_order(comment)):
                continue
            pending_comments.add(ctx.ws, [comment.issue])
            result = _obey(ctx, hub, comment, answers, mine)
        except (ForbiddenError, NotFoundError, GoneError) as error:  # the other commands go on
            notes.append(
                f"A command by {comment.by.name} on #{comment.issue} is not executed yet: {error}"
            )
            again.append(comment)
            continue
        obeyed.add(comment.issue)
        notes += [
            f"{result.by.name} on #{result.issue}: {act.command}: {act.words}"
            for act in result.acts
        ]
    return Done(tuple(one_line(note, 300) for note in notes), frozenset(obeyed), tuple(again))


def _obey(
    ctx: Context,
    hub: GitHubRepository,
    comment: HeardComment,
    answers: Sequence[Command | Mistake],
    mine: HeldLock,
) -> Obeyed:
    """The effects, then the acknowledgement in the outbox, then the record that it is done."""
    me = ClaimContext(ctx, comment.by, 0)
    acts: list[Act] = [messages.mistaken(mistake) for mistake in comment.parsed.mistakes]
    for item in (*answers, *comment.parsed.commands):
        if isinstance(item, Mistake):
            acts.append(messages.mistaken(item))
            continue
        mine.renew_if_due()
        issue = ctx.tracker.get(comment.issue)
        acts.append(actions.execute(CommandContext(me, issue, comment.id, item)))
    _acknowledge(ctx, hub, comment, acts)
    result = transact(ctx.store, lambda snapshot: _record(ctx.ws, snapshot, comment, acts))
    for act in acts:
        if act.agent:
            news_flag.set_flag(ctx.ws.folders, act.agent)
    return result


def _record(
    ws: Workspace, snapshot: Snapshot, comment: HeardComment, acts: Sequence[Act]
) -> tuple[Obeyed, list[Record]]:
    at, clock = Timestamp(now_text(ws)), snapshot.clock + 1
    obeyed = Obeyed(comment.id, comment.issue, comment.by, tuple(acts), at, clock, snapshot.clone)
    is_recorded = obeyed.path in snapshot.files(FOLDER)
    return obeyed, [] if is_recorded else [comment_commands.encode(obeyed)]


def _acknowledge(
    ctx: Context, hub: GitHubRepository, comment: HeardComment, acts: Sequence[Act]
) -> None:
    """Queue the reaction, and explain mistakes in one comment for each issue. The outbox sends them
    until GitHub takes them. Without reactions, the status comment shows the result."""
    wrong = [act for act in acts if act.fate == REFUSED]
    content = "confused" if len(wrong) == len(acts) else "+1"
    now = ctx.ws.clock.now()
    queued = [jobs.react(comment.issue, comment.id, content, PROGRAM, now)]
    if wrong:
        marker = messages.marker(comment.issue)
        who = account.person(hub, ctx.ws.settings.accounts)
        mark = github_marker.mark(digest(marker, hub.repository), PROGRAM, marker, who)
        body = github_marker.signed(messages.help_with(wrong), mark)
        queued.append(jobs.explain(comment.issue, comment.id, body, PROGRAM, marker, now))
    with suppress(OSError):  # a full disk keeps the record, too; then the command is read again
        for job in queued:
            hub.later(job)
