"""Commands that people give in comments on GitHub: heard, obeyed once, and acknowledged."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ghp_agents.claims.effects import ClaimContext
from ghp_agents.core.errors import GhpError, NotFoundError, UnknownError
from ghp_agents.core.ids import Actor, Timestamp, one_line
from ghp_agents.escalations import messages as escalation_text
from ghp_agents.escalations import service as escalation
from ghp_agents.escalations.escalation import Escalation
from ghp_agents.github.api.errors import ForbiddenError, GoneError, HubError, MissingError
from ghp_agents.github.api.repository import GitHubRepository
from ghp_agents.github.commands import actions as command_acts
from ghp_agents.github.commands import messages as words
from ghp_agents.github.commands import parse as rules
from ghp_agents.github.commands.actions import CommandContext
from ghp_agents.github.commands.inbox import CommentInbox, HeardComment
from ghp_agents.github.commands.lock import CommandTurn, turn
from ghp_agents.github.commands.parse import ANSWER, Command, Mistake, QuotedReply
from ghp_agents.hotpath import news_flag as bell
from ghp_agents.issues import comment_commands as record
from ghp_agents.issues.comment_commands import FOLDER, REFUSED, Act, Obeyed
from ghp_agents.issues.issue import Issue
from ghp_agents.ports import IssueTracker, LockService, Snapshot, StateStore
from ghp_agents.state.record import Record
from ghp_agents.state.transact import transact
from ghp_agents.workspace import Workspace, now_text

REACTIONS = "reactions"  # the feature of a server


class Done(NamedTuple):
    """What came of listening: notes for people, and the issues that orders were about."""

    notes: tuple[str, ...] = ()
    issues: frozenset[int] = frozenset()
    left: tuple[HeardComment, ...] = ()  # what GitHub would not let us obey, and may the next time


class CommandParts(NamedTuple):
    """What commands are obeyed with."""

    ws: Workspace
    store: StateStore
    leaser: LockService
    tracker: IssueTracker
    hub: GitHubRepository


def obey_new(parts: CommandParts, issues: Iterable[Issue]) -> Done:
    """Obey what is new of those who may. `issues` are all of them, as they are now.

    Raises UnknownError where GitHub or the remote cannot be reached; what is left is obeyed later.
    """
    known: dict[int, Issue] = {n: issue for issue in issues for n in issue.numbers}
    ear = CommentInbox(parts.ws, parts.hub)
    left = [each for each in ear.listen(known) if _is_meant(parts, each)]
    left = [each for each in _unobeyed(parts.store, left) if ear.may_command(each)]
    if not left:
        ear.done()
        return Done()
    with turn(parts.ws, parts.leaser) as mine:
        if not mine.is_mine:
            return Done(("Commands on GitHub are being obeyed by another clone.",))
        try:
            done = _obey_all(parts, left, mine)
        except GhpError:
            _send(parts, mine)  # what was obeyed before
            raise
        _send(parts, mine)
    ear.hear_again(done.left)
    ear.done()
    return done


def _send(parts: CommandParts, mine: CommandTurn) -> None:
    """Let others know; who cannot keeps the right, else one who does not know obeys again."""
    mine.keep = bool(parts.store.sync().trouble)


def _is_meant(parts: CommandParts, remark: HeardComment) -> bool:
    """Whether it says something to agents; a quotation may be of anything."""
    said = remark.said
    return bool(said.commands or said.mistakes or _answers(parts, remark))


def _unobeyed(store: StateStore, heard: Sequence[HeardComment]) -> list[HeardComment]:
    known = store.snapshot().files(FOLDER) if heard else {}
    return [each for each in heard if record.path_of(each.id) not in known]


def _obey_all(parts: CommandParts, heard: Sequence[HeardComment], mine: CommandTurn) -> Done:
    """Obey, once it is known what others have obeyed. Raises UnknownError."""
    report = parts.store.sync(push=False)
    if report.remote and not report.fetched:
        raise UnknownError(
            f"{report.remote} cannot be reached: {report.trouble}.",
            hint="Commands are obeyed once it can be.",
        )
    notes: list[str] = []
    obeyed: set[int] = set()
    again: list[HeardComment] = []
    for remark in _unobeyed(parts.store, heard):
        try:
            said = _obey(parts, remark, mine)
        except (ForbiddenError, NotFoundError, GoneError) as error:  # others are no worse for it
            notes.append(f"{remark.by.name} on #{remark.issue} is not obeyed yet: {error}")
            again.append(remark)
            continue
        obeyed.add(remark.issue)
        notes += [
            f"{said.by.name} on #{said.issue}: {act.command}: {act.words}" for act in said.acts
        ]
    return Done(tuple(one_line(note, 300) for note in notes), frozenset(obeyed), tuple(again))


def _obey(parts: CommandParts, remark: HeardComment, mine: CommandTurn) -> Obeyed:
    """The effects, then what people see of it, then the record that says it is done."""
    me = ClaimContext(parts.ws, parts.store, parts.leaser, parts.tracker, remark.by, 0)
    acts: list[Act] = [words.mistaken(each) for each in remark.said.mistakes]
    for each in (*_answers(parts, remark), *remark.said.commands):
        if isinstance(each, Mistake):
            acts.append(words.mistaken(each))
            continue
        mine.check()
        issue = parts.tracker.get(remark.issue)
        acts.append(command_acts.execute(CommandContext(me, issue, remark.id, each)))
    _acknowledge(parts, remark, acts)
    said = transact(parts.store, lambda snapshot: _record(parts.ws, snapshot, remark, acts))
    for act in acts:
        if act.agent:
            bell.set_flag(parts.ws.folders, act.agent)
    return said


def _record(
    ws: Workspace, snapshot: Snapshot, remark: HeardComment, acts: Sequence[Act]
) -> tuple[Obeyed, list[Record]]:
    at, clock = Timestamp(now_text(ws)), snapshot.clock + 1
    said = Obeyed(remark.id, remark.issue, remark.by, tuple(acts), at, clock, snapshot.clone)
    there = said.path in snapshot.files(FOLDER)
    return said, [] if there else [record.encode(said)]


# -------------------------------------------------------------------- replies to questions


def _answers(parts: CommandParts, remark: HeardComment) -> list[Command | Mistake]:
    """The answers that a comment gives by quoting a question of its issue that is open."""
    if not remark.said.replies:
        return []
    snapshot, people = parts.store.snapshot(), parts.ws.settings.escalate_to
    asked = [
        (each, escalation_text.comment(each, escalation_text.calling(each, people)))
        for each in escalation.read_all(snapshot, parts.ws.settings.orchestrators)[0]
        if each.is_open and each.question.issue == remark.issue
    ]
    found = (_answer(each, rules.meant(each, asked)) for each in remark.said.replies)
    return [each for each in found if each]


def _answer(reply: QuotedReply, meant: Sequence[Escalation]) -> Command | Mistake | None:
    if len(meant) > 1:
        names = ", ".join(each.name for each in meant[:5])
        return Mistake("a quotation", f"it fits several questions: {names}; name one")
    return Command(ANSWER, meant[0].name, reply.text) if meant else None


# --------------------------------------------------------------------------- acknowledging


def _acknowledge(parts: CommandParts, remark: HeardComment, acts: Sequence[Act]) -> None:
    """A reaction where the server has some; help, once, for what was wrong."""
    wrong = [act for act in acts if act.fate == REFUSED]
    _react(parts.hub, remark.id, "confused" if len(wrong) == len(acts) else "+1")
    if wrong:
        text, mark = words.help_with(remark.id, wrong), words.marker(remark.id)
        try:
            parts.tracker.comment(remark.issue, text, Actor("ghp-agents"), marker=mark)
        except UnknownError:
            raise
        except GhpError:
            return  # nobody may comment there, as where a conversation is locked


def _react(hub: GitHubRepository, comment: int, content: str) -> None:
    if hub.has(REACTIONS) is False:
        return  # the comment about the state says it
    path = f"issues/comments/{comment}"
    try:
        hub.write("POST", f"{path}/reactions", {"content": content}, there=_again)
        hub.learned(REACTIONS, True)
    except MissingError:
        if _is_there(hub, path):
            hub.learned(REACTIONS, False)
    except HubError:
        return  # this token may not: what was done is seen all the same


def _again() -> None:
    """The same reaction twice is one."""


def _is_there(hub: GitHubRepository, path: str) -> bool:
    try:
        hub.get(path)
    except GhpError as error:
        if isinstance(error, UnknownError):
            raise
        return False
    return True
