"""`agent-handoff` and `agent-resume`: hand work over, and continue it."""

import re
import shlex
from collections.abc import Callable
from functools import partial
from typing import Any

import click

from ghp_agents.cli import complete, json_choice, output
from ghp_agents.cli.context import LEARNT, acting, send, start_background
from ghp_agents.cli.params import read_text
from ghp_agents.core.errors import ExitCode, GhpError, LostAnswerError, UnknownError, UsageError
from ghp_agents.core.ids import Actor, AgentName, count, listed, one_line
from ghp_agents.core.person import agent_here
from ghp_agents.core.text_budget import LEAST
from ghp_agents.git import worktree
from ghp_agents.handoffs import own_worktree, record
from ghp_agents.handoffs.hand_over import HandOver, hand_over, holds
from ghp_agents.handoffs.handoff import NOTE_LIMIT, Handoff, Missing, Sections, size_text
from ghp_agents.handoffs.service import HandoffResult
from ghp_agents.hotpath.quoting import clean, file
from ghp_agents.issues.current_issue import in_hand
from ghp_agents.issues.issue import short
from ghp_agents.presence import start_command
from ghp_agents.wiring import App

TYPE_CHECKING = False
if TYPE_CHECKING:  # of agent-resume alone
    from ghp_agents.handoffs.restore import Restored
    from ghp_agents.sync.notifications import Notifications
    from ghp_agents.workspace import Workspace

LISTED = 10
SECRET = re.compile("seems to hold|usually holds secrets")  # reasons why a file is not stored
TEXTS = ("goal", "focus", "summary")
WORDS = {  # the option and the help of each section
    "goal": ("goal", "What the work must achieve."),
    "focus": ("focus", "What you are doing right now."),
    "summary": ("summary", "What is done so far."),
    "decisions": ("decision", "A decision and its reason; repeatable."),
    "findings": ("finding", "Something that you found out; repeatable."),
    "identifiers": ("identifier", "A name that matters: a function, a ticket; repeatable."),
    "artifacts": ("artifact", "A file or page that you made; repeatable."),
    "next": ("next", "A next step; repeatable."),
}
ISSUE = click.option(
    "--issue", metavar="N", help="The issue (default: your current issue).",
    shell_complete=complete.issues,
)  # fmt: skip


def _words(command: Callable[..., None]) -> Callable[..., None]:
    """Add an option for each section in which an agent describes its work."""
    for name, (flag, text) in reversed(WORDS.items()):
        many = name not in TEXTS
        command = click.option(
            f"--{flag}", name, metavar="TEXT", multiple=many, default=() if many else "",
            help=text,
        )(command)  # fmt: skip
    return command


@click.command(
    "agent-handoff", epilog="Example: ghp agent-handoff --to worker-2 --note 'The parser is next'"
)
@ISSUE
@click.option(
    "--to", metavar="AGENT", help="Give the issue to this agent.", shell_complete=complete.agents
)
@click.option(
    "--note", metavar="TEXT", help="What the next agent must know; `-` reads standard input."
)
@_words
@click.option(
    "--no-push", is_flag=True, help="Do not push the branch; store its commits with the handoff."
)
@click.option("--checkpoint", is_flag=True, help="Save it for yourself and keep the issue.")
@click.option("--stdout", is_flag=True, help="Print the document, too.")
@click.option("--dry-run", is_flag=True, help="Print the document and save nothing.")
@json_choice.option("Print the handoff as JSON.")
@acting
def handoff(
    app: App,
    issue: str | None,
    to: str | None,
    note: str | None,
    no_push: bool,
    checkpoint: bool,
    stdout: bool,
    dry_run: bool,
    as_json: bool,
    **words: Any,
) -> None:
    """Save the state of your work for the next agent: the issue, the branch, what changed, and the
    uncommitted work. `ghp agent-resume --apply` restores that work.

    The worktree is not changed. Staged and unstaged changes are saved together; ignored files are
    left out. So are files that another agent edits in this worktree. With --to, the branch is
    pushed and your leases go to the next agent. If it cannot be pushed, its commits are stored
    with the handoff.

    Later checkpoints of the issue keep --goal, --focus and --summary until you replace them. They
    add to the other lists.
    """
    if as_json and stdout:
        raise UsageError(
            "--json and --stdout exclude each other.",
            hint="Leave out --stdout: --json has all fields.",
        )
    text = read_text(note or "", NOTE_LIMIT * 40, "The note on standard input")
    app, only_known = _at_its_own(app, issue)
    with output.busy("Handing over" if to else "Reading the work"):
        done = hand_over(
            app, issue=issue, to=to, note=text, words=Sections(**words), push=not no_push,
            checkpoint=checkpoint, dry_run=dry_run, only_known=only_known,
        )  # fmt: skip
    handed = done.recorded
    if as_json:
        output.as_json(record.fields(handed.handoff) | {"new": handed.is_new})
    elif stdout or dry_run:
        output.page(handed.document)
    _say_handed(handed, dry_run)
    if handed.is_new and not (handed.learnt or checkpoint):
        output.say(LEARNT)
    if not (to or checkpoint or dry_run) and handed.handoff.issue and holds(app, handed.handoff):
        output.say(
            f"#{handed.handoff.issue} is still yours. To free it for others: "
            f"`ghp agent-release {handed.handoff.issue}`."
        )
    if dry_run:
        return
    _say_passed(done)
    if to and handed.is_new:
        from ghp_agents.cli.views.claim import warn_of_unknown

        warn_of_unknown(app, to, done.issue.number if done.issue else None)
    _say_carried(app, handed)
    if checkpoint:
        start_background(app)  # not urgent
    elif isinstance(done.trouble, UnknownError):
        start_background(app)
        raise click.exceptions.Exit(int(ExitCode.UNKNOWN))
    else:
        send(app)  # with `to`, the handoff itself was sent before the issue was given


def _at_its_own(app: App, issue: str | None) -> tuple[App, bool]:
    """The app in the agent's own worktree, if this is another; and whether, without one, only what
    is known to be the agent's counts: a person typed this in a worktree that is not the agent's."""
    actor = app.ws.actor()
    if actor.is_person or own_worktree.is_own(app.ws, actor.name):
        return app, False
    number = str(issue or in_hand(app, actor.name) or "").removeprefix("#")
    wanted = int(number) if number.isdecimal() and len(number) < 16 else None
    place = own_worktree.elsewhere(app.ws, actor.name, wanted)
    if place is None:
        return app, agent_here(app.environ) is None
    output.say(f"This is the work in the worktree of {actor.name}, {place}.")
    left = [] if app.ws.place.toplevel is None else worktree.differences(app.ws.folder)
    if left:
        output.say(f"Left out, because it is here: {listed([file(x.path) for x in left], LISTED)}.")
    inner = App(place, app.environ, name=app.name, clock=app.ws.clock)
    inner.tell = app.tell
    return inner, False


def _say_passed(done: HandOver) -> None:
    """Say what the next agent has now, or why not."""
    handed, trouble = done.recorded.handoff, done.trouble
    resume = f"{handed.to} can continue with `ghp agent-resume --handoff {handed.name}`."
    if isinstance(trouble, UnknownError):
        owner = "may still be yours" if isinstance(trouble, LostAnswerError) else "is still yours"
        output.warn(
            f"#{handed.issue} {owner}: {trouble}",
            f"When the remote is reachable, run `ghp agent-release {handed.issue} --to "
            f"{handed.to}`.",
        )
    elif trouble:
        output.warn(f"The handoff is saved, but no issue was assigned: {trouble}", resume)
    elif done.issue:
        output.done(f"{short(done.issue)} is assigned to {', '.join(done.issue.assignees)}.")
    if done.leases:
        from ghp_agents.leases.record import what

        subjects = ", ".join(what(hold.patterns, hold.name) for hold in done.leases)
        output.done(f"{handed.to} has your leases now: {one_line(subjects, 200)}.")
    if done.issue:
        output.say(resume)


def _say_carried(app: App, handed: HandoffResult) -> None:
    """Say how the branch reaches the next agent; warn if commits stay in this clone only."""
    record, carried = handed.handoff, handed.carried
    branch = one_line(record.branch or "a detached HEAD", 100)
    if carried.is_pushed:
        output.done(f"Pushed {branch}.")
    elif carried.packed:
        commits = f"{count(carried.packed.total, 'commit')} of {branch}"
        size = size_text(carried.packed.size)
        output.done(f"Stored {commits} with the handoff ({size}), not pushed{carried.why}.")
    elif carried.left:
        commits = f"{count(carried.left, 'commit')} of {branch}"
        command = (
            f"git push {app.ws.settings.remote or 'origin'} {shlex.quote(record.branch or 'HEAD')}"
        )
        output.warn(
            f"{commits} {'is' if carried.left == 1 else 'are'} not pushed{carried.why}. Run "
            f"`{command}`, or {record.to or 'another clone'} cannot restore the work."
        )


def _say_handed(handed: HandoffResult, dry_run: bool) -> None:
    record, work = handed.handoff, handed.handoff.work
    if dry_run:
        output.say(f"Dry run: nothing was saved. The path would be {handed.path}.")
    elif handed.is_new:
        stored = f", with {count(work.files, 'uncommitted file')}" if work and work.size else ""
        of_issue = f" for #{record.issue}" if record.issue else ""
        output.done(f"Recorded {record.name}{of_issue}{stored}.")
    else:
        output.say(f"Nothing has changed since {record.name}.")
    if handed.shared:
        output.say(handed.shared)
    if handed.unknown:
        output.warn(
            f"Left out, because {record.by.name} is not known to have edited or leased it: "
            f"{listed([*map(file, handed.unknown)], LISTED)}.",
            f"Run this in its worktree. If this is its worktree: `ghp agent-whoami --set "
            f"{record.by.name}`.",
        )
    for note in handed.notes:
        output.warn(note)
    if work and work.missing:
        _warn_of_missing(work.missing)


def not_saved(missing: tuple[Missing, ...], where: str) -> str:
    """Say which paths of a worktree a handoff could not store."""
    named = [
        f"{file.path} ({file.reason}{f', {size_text(file.size)}' if file.size is not None else ''})"
        for file in missing[:LISTED]
    ]
    if len(missing) > LISTED:
        named.append(f"{len(missing) - LISTED} more (see the document)")
    return f"Not saved, and only in {where}: {'; '.join(named)}."


def _warn_of_missing(missing: tuple[Missing, ...]) -> None:
    has_secrets = any(SECRET.search(file.reason) for file in missing)
    output.warn(
        not_saved(missing, "this worktree"),
        "Keep the worktree, or commit what holds no password or key."
        if has_secrets
        else "Keep the worktree, or commit the files. `agents.patchBytes` sets the limit.",
    )


@click.command("agent-resume", epilog="Example: ghp agent-resume --issue 12 --apply")
@ISSUE
@click.option(
    "--handoff", "reference", metavar="ID", help="Use this handoff, not the latest one.",
    shell_complete=complete.handoffs,
)  # fmt: skip
@click.option(
    "--max-chars", metavar="N", type=click.IntRange(min=LEAST),
    help="Print at most this many characters (default: `agents.resumeChars`, 16000).",
)  # fmt: skip
@click.option("--apply", is_flag=True, help="First restore the uncommitted work of the handoff.")
@click.option(
    "--allow-config", is_flag=True,
    help="With --apply: also restore files that configure tools, such as .claude/.",
)  # fmt: skip
@json_choice.option("Print the text and the handoff as JSON.")
@acting
def resume(
    app: App,
    issue: str | None,
    reference: str | None,
    max_chars: int | None,
    apply: bool,
    allow_config: bool,
    as_json: bool,
) -> None:
    """Print what you need to continue the work, most important first.

    --apply restores uncommitted work into a clean worktree. On the commit that it is based on, the
    work is restored as it was. On another commit, it is merged and staged. Work that changes
    configuration of tools (coding agents, editors, git, build servers) also needs --allow-config.
    """
    from ghp_agents.cli.views import remote_news, resume_news
    from ghp_agents.handoffs import resume as resume_service
    from ghp_agents.pulls import requested_changes

    ws = app.ws
    choose = partial(resume_service.choose, app, issue=issue, handoff=reference)
    chosen = remote_news.after_asking(app, choose)
    if resume_news.fetch(app, chosen):
        chosen = choose()
    if allow_config and not apply:
        raise UsageError("--allow-config needs --apply.", hint="Use `--apply --allow-config`.")
    restored = _restore(app, chosen.handoff, allow_config) if apply else None
    if restored:
        _say_restored(app.ws, restored)
        chosen = choose()
    lost, stopped = _fence_lines(app, chosen.about.actor)
    requested = requested_changes.steps(app.store.snapshot(), chosen.about.numbers)
    resumed = resume_service.resume(
        app, chosen, max_chars=max_chars, stopped=stopped, requested=requested
    )
    others = _others_news(app, chosen.about.actor)
    text = lost + clean(resumed.text) + (others.text and f"\n## What others did\n\n{others.text}")
    if as_json:
        last = record.fields(chosen.handoff) if chosen.handoff else None
        output.as_json({"issue": chosen.about.number, "handoff": last, "text": text})
    else:
        output.page(text)
    output.flush()
    if lost:
        from ghp_agents.sync.notifications import mark_fence

        mark_fence(app, AgentName(chosen.about.actor.name))
    if others.text:
        from ghp_agents.sync.notifications import deliver

        deliver(app, AgentName(chosen.about.actor.name), others.ids)
    if resumed.news:
        from ghp_agents.escalations.delivered import mark_told

        agent = AgentName(chosen.about.actor.name)
        mark_told(ws, agent, [item.id for item in resumed.news])
    start_background(app)
    if restored and restored.conflicts:
        raise _conflicts(restored)


def _fence_lines(app: App, actor: Actor) -> tuple[str, frozenset[int]]:
    """Return that the agent lost its claim, if it did, and the issues to stop work on."""
    if actor.is_person:
        return "", frozenset()
    from ghp_agents.sync.notifications import fence_lines, stopped_issues

    agent, snapshot = AgentName(actor.name), app.store.snapshot()
    lines = fence_lines(app, snapshot, agent)
    return "".join(f"{line}\n\n" for line in lines), stopped_issues(app, snapshot, agent)


def _others_news(app: App, actor: Actor) -> "Notifications":
    """Return what others did meanwhile as a list, if it concerns the agent."""
    from ghp_agents.sync.notifications import Notifications, of_others

    if actor.is_person:
        return Notifications("")
    others = of_others(app, app.store.snapshot(), AgentName(actor.name))
    return others._replace(text="".join(f"- {line}\n" for line in others.text.splitlines()))


def _restore(app: App, handoff: Handoff | None, allow_config: bool) -> "Restored | None":
    """Restore the uncommitted work; None if it was restored before."""
    from ghp_agents.handoffs.restore import AlreadyRestoredError, restore

    try:
        with output.busy("Restoring the work"):
            return restore(app, handoff, allow_config=allow_config)
    except AlreadyRestoredError as error:
        output.say(str(error))
        return None


def _say_restored(ws: "Workspace", restored: "Restored") -> None:
    work, name, base = restored.work, restored.handoff.name, _base(restored)
    how = f"merged from {base} and staged" if restored.three_way else f"on its own base, {base}"
    if not restored.conflicts:
        output.done(f"Restored the work of {name}: {count(work.files, 'file')}, {how}.")
    if restored.other_issue and restored.handoff.issue:
        output.warn(
            f"This is work on #{restored.handoff.issue}, but the branch here is for "
            f"#{restored.other_issue}.",
            f"`{start_command.of_reader(ws, restored.handoff.issue)}` creates a worktree for it.",
        )
    if work.missing:
        output.warn(
            f"{count(len(work.missing), 'path')} of the work could not be saved.",
            "They are listed below; look for them in the old worktree.",
        )


def _base(restored: "Restored") -> str:
    base = restored.work.base
    return f"commit {base[:12]}" if base else "repository without commits"


def _conflicts(restored: "Restored") -> GhpError:
    names = listed([one_line(name, 80) for name in restored.conflicts], LISTED)
    return GhpError(
        f"The work of {restored.handoff.name}, merged from {_base(restored)}, has "
        f"{count(len(restored.conflicts), 'conflict')}: {names}.",
        hint="The files have conflict markers: edit them, then run `git add` on them.",
    )
