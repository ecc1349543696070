"""A review that an agent asked for by a message: its verdict becomes a review of the pull request.

The request names the pull request and the commit. So the verdict is about what was read, even if
the branch moves meanwhile or the host cannot be reached.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from ghp_agents.core.errors import GhpError, RefusedError, UnknownError, UsageError, sentence
from ghp_agents.core.files import random_hex
from ghp_agents.messages import reply
from ghp_agents.messages import service as messages
from ghp_agents.messages.message import CLAIMED, DONE, NEW, REVIEW, Message
from ghp_agents.messages.reply import ReplyResult, Saying
from ghp_agents.ports import Context, Snapshot
from ghp_agents.pulls import review as rules
from ghp_agents.pulls.merging import merge, record_review
from ghp_agents.pulls.merging.record_review import Reviewed
from ghp_agents.pulls.pull import Pull
from ghp_agents.pulls.review import ReviewRecord
from ghp_agents.state.record import Record


class Subject(NamedTuple):
    """What is to be reviewed. Without a pull request, a note says why."""

    pull: int = 0
    commit: str = ""
    note: str = ""


class Completed(NamedTuple):
    """A completed review. `review` is None if no pull request got it; a note says why."""

    reply: ReplyResult
    review: ReviewRecord | None
    notes: tuple[str, ...] = ()


def subject_of(ctx: Context, cwd: Path, issue: int) -> Subject:
    """The open pull request of an issue, and its present commit."""
    try:
        pull = merge.find(merge.merger(ctx, cwd=cwd), str(issue))
    except GhpError as error:
        return Subject(note=f"The review names no pull request: {error}")
    if pull.state != "open":
        return Subject(note=f"The review names no pull request: #{pull.number} is {pull.state}.")
    return Subject(pull.number, pull.head)


def complete(
    ctx: Context, cwd: Path, reference: str, verdict: str, text: str, artifacts: Sequence[str]
) -> Completed:
    """Complete a review. `verdict`, one of VERDICTS, is recorded for the pull request that the
    request names, else for that of its issue, in one write with the reply.

    Raises UsageError for another kind of message, RefusedError for one's own work, and as
    `reply.finish`.
    """
    message = reply.asked(ctx, ctx.store.snapshot(), ctx.ws.agent(), reference).message
    if message.kind != REVIEW:
        raise UsageError(
            f"{message.name} asks for no review: it is a {message.kind}.",
            hint="Leave out --verdict.",
        )
    if verdict == "request-changes" and not text.strip():
        raise UsageError("Say what should change.", hint="Add --result TEXT.")
    pull, notes = _pull(ctx, cwd, message)
    saying = Saying(
        DONE, text, artifacts, verdict, pull.number if pull else 0, pull.head if pull else ""
    )
    if pull is None:
        return Completed(reply.finish_review(ctx, reference, saying), None, notes)
    if ctx.ws.actor().name in rules.authors(pull):
        raise RefusedError(
            f"#{pull.number} is your own work.",
            hint="Another agent or a person can review it. "
            f"To decline: `ghp agent-inbox fail {message.name} --reason TEXT`.",
        )
    identity, about = random_hex(6), pull

    def recorded(snapshot: Snapshot) -> list[Record]:
        entry = record_review.entry_of(ctx, snapshot, identity, about, verdict, text)
        return [rules.encode(entry, about.issue)]

    done = reply.finish_review(ctx, reference, saying, recorded)
    entry = record_review.entry_of(ctx, ctx.store.snapshot(), identity, pull, verdict, text)
    if pull.issue is not None:
        # The asker hears of it by the reply; another author hears of it by the comment.
        is_told = message.by.name in (pull.author, "")
        marker = f"<!-- ghp:review {done.reply.id} -->" if is_told else ""
        notes += record_review.comment(ctx, pull.issue, Reviewed(entry, done.is_new), marker)
    return Completed(done, entry, notes)


def answer_open(ctx: Context, cwd: Path, pull: Pull, verdict: str, text: str) -> Reviewed | None:
    """Complete the open requests to the agent for a review of this commit; None without one. So
    who reviews by the pull request answers the message, too, if it can."""
    if ctx.ws.actor().is_person or (verdict == "request-changes" and not text.strip()):
        return None
    agent, done = ctx.ws.agent(), None
    for letter in messages.inbox(ctx, ctx.store.snapshot(), agent):
        message = letter.message
        is_open = letter.state_of(agent) in (NEW, CLAIMED) and letter.holder in ("", agent)
        if is_open and (message.kind, message.pull, message.commit) == (
            REVIEW, pull.number, pull.head,
        ):  # fmt: skip
            try:
                completed = complete(ctx, cwd, message.name, verdict, text, ())
            except (RefusedError, UnknownError):  # another agent may have begun with it
                continue
            if completed.review:
                done = Reviewed(completed.review, completed.reply.is_new, completed.notes)
    return done


def _pull(ctx: Context, cwd: Path, message: Message) -> tuple[Pull | None, tuple[str, ...]]:
    """The pull request that a review is about, at the commit that was to be reviewed."""
    number, commit, note = message.pull, message.commit, ""
    if not number:
        if not message.issue:
            return None, ("The request names no issue, so no pull request got the verdict.",)
        number, commit, note = subject_of(ctx, cwd, message.issue)
    if not number:
        return None, (f"{note} Only its sender gets the verdict.",)
    as_asked = Pull(number, "", "", commit, message.subject, issue=message.issue)
    try:
        pull = ctx.forge.get(number)
    except UnknownError:
        return as_asked, ()
    except GhpError as error:
        return None, (f"{sentence(error)} Only the sender gets the verdict.",)
    if pull.state != "open":
        return None, (f"#{number} is {pull.state}. Only the sender gets the verdict.",)
    if pull.head == commit:
        return pull, ()
    return pull._replace(head=commit), (
        f"#{number} has other commits by now. The verdict is about {commit[:12]}, as asked.",
    )
