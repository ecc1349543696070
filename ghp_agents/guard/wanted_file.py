"""Ask a person for a file that an agent is refused. The answer is carried out by the next sync."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ghp_agents.core import globs
from ghp_agents.core.errors import RefusedError, UsageError
from ghp_agents.core.ids import Actor
from ghp_agents.escalations import service as escalation
from ghp_agents.escalations.escalation import DEFAULT_URGENCY, Question
from ghp_agents.escalations.service import EscalateResult
from ghp_agents.git import changed_paths
from ghp_agents.guard import check, evaluate
from ghp_agents.hotpath import check_edit, clash_check, policy, policy_cache
from ghp_agents.hotpath.policy import Verdict
from ghp_agents.hotpath.quoting import file, named
from ghp_agents.issues.issue import Issue
from ghp_agents.issues.scope import scope
from ghp_agents.leases import settled_questions
from ghp_agents.leases.world import LeaseWorld
from ghp_agents.ports import Context
from ghp_agents.state.cause import WANTED_FILE

OPTIONS = ("yes", "no")
_OWN_WORDS = re.compile(r"May I (?:change|edit) `?([^\s`,?]{1,200})`?(?:,[^?\n]{0,200})?\?", re.I)
_STATES = {
    policy.LEASE: "leased by {}",
    policy.IMPLICIT: "which {} is editing",
    policy.CONFLICT: "which {} is editing",
    policy.SCOPE: "in the scope of {}",
    policy.SHARED: "which is shared",
}


def ask(
    ctx: Context,
    word: str,
    cwd: Path,
    text: str = "",
    *,
    issue: str | int | None = None,
    context: str = "",
    urgency: str = DEFAULT_URGENCY,
    waiting: bool = False,
) -> EscalateResult:
    """Ask whether the agent may change one file that another has; `text` says why.

    Raises UsageError if nobody refuses the file, RefusedError if no answer could allow it, and
    what `escalate` raises.
    """
    agent = ctx.ws.agent()
    path = _path(ctx, word, cwd)
    (verdict,) = evaluate.judge(ctx, agent, [path])
    verdict = verdict if verdict.is_refused else _edited_elsewhere(ctx, agent, path) or verdict
    if not verdict.is_refused:
        raise UsageError(
            f"You may change {file(path)}: nobody else holds it.",
            hint="Change it; there is nothing to ask.",
        )
    if verdict.kind not in _STATES:
        raise RefusedError(verdict.why, hint=verdict.next)
    state = _STATES[verdict.kind].format(named(verdict.holder or ""))
    question = f"May I change {file(path)}, {state}?"
    about = (path, verdict.holder or "", *_reasons(ctx, Actor(agent), verdict))
    wanted = Question(
        agent, f"{question}\n\n{text}" if text else question, None, OPTIONS, WANTED_FILE, about
    )
    wanted = _open(ctx, wanted) or wanted
    return escalation.escalate(
        ctx, wanted.text, issue=issue or wanted.issue, options=OPTIONS, context=context,
        urgency=urgency, waiting=waiting, kind=WANTED_FILE, about=wanted.about,
    )  # fmt: skip


def ask_as_meant(ctx: Context, text: str, cwd: Path, **options: Any) -> EscalateResult | None:
    """Ask as `ask` does if the whole text is "May I change PATH?" and the agent is refused that
    file; else None. So the answer is carried out, too."""
    match = _OWN_WORDS.fullmatch(text.strip())
    if match is None:
        return None
    try:
        return ask(ctx, match[1], cwd, **options)
    except (RefusedError, UsageError):  # nobody refuses it, or no answer could allow it
        return None


def _open(ctx: Context, wanted: Question) -> Question | None:
    """The agent's open question for the same file, in whatever words; not one that needs no answer
    any more."""
    present = escalation.present_questions(ctx.world)
    same = (wanted.agent, WANTED_FILE, wanted.about[0])
    for earlier in settled_questions.marked(ctx.world, present):
        question = earlier.question
        if earlier.is_open and (question.agent, question.kind, *question.about[:1]) == same:
            return question
    return None


def _edited_elsewhere(ctx: Context, agent: str, path: str) -> Verdict | None:
    """The other agent that edits the file in another worktree. An edit of it may conflict, which
    is known only when the edit is made."""
    ws, book = ctx.ws, evaluate.current(ctx)
    limits = float(book["deadAfter"]), float(book["goneAfter"])
    where = policy_cache.key_of(book, path), ws.place.git_dir
    for lease in check_edit.rivals(ws.folders, agent, *where, ws.clock.now(), limits):
        return Verdict(policy.DENY, path, policy.CONFLICT, lease.agent, lease.since)
    lives = LeaseWorld(ctx).is_seen_alive if book["changes"] else None
    for report in clash_check.living(book, agent, where[0], ws.clock.now(), lives):
        return Verdict(policy.DENY, path, policy.CONFLICT, report.agent)
    return None


def _path(ctx: Context, word: str, cwd: Path) -> str:
    """The path of one file from the root of the worktree; the file need not exist."""
    top = check.top(ctx.ws)
    (path,) = changed_paths.from_root(str(top), cwd, [word])
    if (top / path).is_dir() or not path.isprintable():
        raise UsageError(
            f"{file(path)} is not the name of one file.",
            hint="Name one file, e.g. --file src/a.py. For a folder, ask in your own words.",
        )
    return path


def _reasons(ctx: Context, me: Actor, verdict: Verdict) -> Sequence[str]:
    """The leases or claims that refuse the file, so that an answer can check if they have ended."""
    world, path = LeaseWorld(ctx), verdict.path
    fold = ctx.ws.git_value("core.ignorecase") == "true"
    if verdict.kind == policy.LEASE:
        return [
            f"L-{hold.id}"
            for hold in world.holds
            if Actor(hold.holder, hold.is_person) != me
            and hold.patterns
            and globs.covers(hold.patterns, path, fold=fold)
        ]
    if verdict.kind != policy.SCOPE:
        return ()
    issues: dict[int, Issue] = {
        number: issue for issue in ctx.tracker.known() for number in issue.numbers
    }
    return [
        f"{lock.name}@{lock.generation}"
        for number, lock in world.claims.items()
        if lock.holder == verdict.holder
        and (issue := issues.get(number))
        and globs.covers(scope(issue.form), path, fold=fold)
    ]
