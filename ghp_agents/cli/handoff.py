"""`agent-handoff` and `agent-resume`: hand work over, and continue it."""

import shlex

import click

from ghp_agents.cli import complete, output
from ghp_agents.cli.context import LEARNT, acting, send, start_background
from ghp_agents.cli.params import read_text
from ghp_agents.core.errors import GhpError, NotFoundError, UnknownError, UsageError
from ghp_agents.core.ids import Actor, AgentName, count, one_line
from ghp_agents.core.text_budget import LEAST
from ghp_agents.escalations import service as escalation
from ghp_agents.handoffs import service as services
from ghp_agents.handoffs.handoff import NOTE_LIMIT, Handoff, Missing, size_text
from ghp_agents.handoffs.restore import AlreadyRestoredError, Restored, restore
from ghp_agents.handoffs.service import HandoffResult
from ghp_agents.hotpath.quoting import clean
from ghp_agents.issues.issue import short
from ghp_agents.locks.names import PREFIX
from ghp_agents.sync.notifications import deliver, fence_lines, of_others, stopped_issues
from ghp_agents.wiring import App

LISTED = 10
ISSUE = click.option(
    "--issue", metavar="N", help="The issue (default: your current issue).",
    shell_complete=complete.issues,
)  # fmt: skip


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
@click.option("--no-push", is_flag=True, help="Do not push the branch to the remote.")
@click.option("--checkpoint", is_flag=True, help="Save it for yourself and keep the issue.")
@click.option("--stdout", is_flag=True, help="Print the document, too.")
@click.option("--dry-run", is_flag=True, help="Print the document and save nothing.")
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
) -> None:
    """Save the state of your work for the next agent: the issue, the branch, what changed, and the
    uncommitted work. `ghp agent-resume --apply` restores that work.

    The worktree is not changed. Staged and unstaged changes are saved together; ignored files are
    left out. With --to, the branch is pushed and your leases go to the next agent.
    """
    text = read_text(note or "", NOTE_LIMIT * 40, "The note on standard input")
    with output.busy("Reading the work"):
        handed = services.handoff(
            app, issue=issue, to=to,
            note=text, checkpoint=checkpoint, dry_run=dry_run,
        )  # fmt: skip
    if stdout or dry_run:
        output.data(clean(handed.document))
    _say_handed(handed, dry_run)
    if handed.is_new and not (handed.learnt or checkpoint):
        output.say(LEARNT)
    if dry_run:
        return
    is_reached = _pass_on(app, handed.handoff)
    _push_branch(app, handed, no_push=no_push)
    if checkpoint or not is_reached:
        start_background(app)  # not urgent, or the remote cannot be reached
    else:
        send(app, here=to is not None)


def _push_branch(app: App, handed: HandoffResult, *, no_push: bool) -> None:
    """Push the branch for the next agent; warn if commits stay in this clone only."""
    record, number = handed.handoff, handed.unsent
    if not (record.to and number):
        return
    branch = one_line(record.branch or "a detached HEAD", 100)
    why = ""
    if not no_push:
        with output.busy("Pushing the branch"):
            why = services.push_branch(app.ws, record)
        if not why:
            output.done(f"Pushed {branch}.")
            return
    if services.is_here(app, record.to):
        return
    commits = f"{count(number, 'commit')} of {branch}"
    command = (
        f"git push {app.ws.settings.remote or 'origin'} {shlex.quote(record.branch or 'HEAD')}"
    )
    output.warn(
        f"{commits} {'is' if number == 1 else 'are'} not pushed{why}. Run `{command}`, or "
        f"{record.to} cannot restore the work."
    )


def _pass_on(app: App, handed: Handoff) -> bool:
    """Assign the issue to the next agent. Returns False if the remote could not be reached."""
    try:
        given = services.pass_on(app, handed)
    except UnknownError as error:
        output.warn(
            f"#{handed.issue} is still yours: {error}",
            f"When the remote is reachable, run `ghp agent-release {handed.issue} --to "
            f"{handed.to}`.",
        )
        return False
    except NotFoundError as error:  # a branch may name any number
        output.warn(
            f"The handoff is saved, but no issue was assigned: {error}",
            f"{handed.to} can continue with `ghp agent-resume --handoff {handed.name}`.",
        )
        return True
    if given:
        output.done(f"{short(given)} is assigned to {', '.join(given.assignees)}.")
        _pass_leases(app, handed)
        output.say(f"{handed.to} can continue with `ghp agent-resume --handoff {handed.name}`.")
    return True


def _pass_leases(app: App, handed: Handoff) -> None:
    """Give the leases to the next agent, unless the sender needs them for another issue."""
    from ghp_agents.leases.record import what
    from ghp_agents.leases.transfer import transfer

    others = [x for x in app.locks.known(PREFIX) if x.holder == handed.by.name and not x.is_person]
    if handed.by.is_person or handed.to is None or others:
        return
    moved = transfer(app, handed.by.name, handed.to, f"handed over in {handed.name}")
    if moved:
        subjects = ", ".join(what(hold.patterns, hold.name) for hold in moved)
        output.done(f"{handed.to} has your leases now: {one_line(subjects, 200)}.")


def _say_handed(handed: HandoffResult, dry_run: bool) -> None:
    record, work = handed.handoff, handed.handoff.work
    if dry_run:
        output.say(f"Dry run: nothing was saved. The path would be {handed.path}.")
    elif handed.is_new:
        stored = f", with {count(work.files, 'uncommitted file')}" if work and work.size else ""
        output.done(f"Recorded {record.name}{stored}.")
    else:
        output.say(f"Nothing has changed since {record.name}.")
    for note in handed.notes:
        output.warn(note)
    if work and work.missing:
        _warn_of_missing(work.missing)


def _warn_of_missing(missing: tuple[Missing, ...]) -> None:
    named = [
        f"{file.path} ({file.reason}{f', {size_text(file.size)}' if file.size is not None else ''})"
        for file in missing[:LISTED]
    ]
    if len(missing) > LISTED:
        named.append(f"{len(missing) - LISTED} more (see the document)")
    output.warn(
        f"Not saved, and only in this worktree: {'; '.join(named)}.",
        "Keep the worktree, or commit the files. `agents.patchBytes` sets the limit.",
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
@acting
def resume(
    app: App,
    issue: str | None,
    reference: str | None,
    max_chars: int | None,
    apply: bool,
    allow_config: bool,
) -> None:
    """Print what you need to continue the work, most important first.

    --apply restores uncommitted work into a clean worktree. On the commit that the work was based
    on, it is restored as it was. On another commit, it is merged and staged. Work that changes
    configuration of tools (coding agents, editors, git, build servers) also needs --allow-config.
    """
    from ghp_agents.handoffs import resume as resume_service

    ws = app.ws
    chosen = resume_service.choose(app, issue=issue, handoff=reference)
    if allow_config and not apply:
        raise UsageError("--allow-config needs --apply.", hint="Use `--apply --allow-config`.")
    restored = _restore(app, chosen.handoff, allow_config) if apply else None
    if restored:
        _say_restored(restored)
        chosen = resume_service.choose(app, issue=issue, handoff=reference)
    stopped = _print_fence_lines(app, chosen.about.actor)
    resumed = resume_service.resume(app, chosen, max_chars=max_chars, stopped=stopped)
    output.data(clean(resumed.text))
    _print_others_news(app, chosen.about.actor)
    output.flush()
    if resumed.news:
        agent = AgentName(chosen.about.actor.name)
        escalation.mark_told(ws, agent, [item.id for item in resumed.news])
    start_background(app)
    if restored and restored.conflicts:
        raise _conflicts(restored)


def _print_fence_lines(app: App, actor: Actor) -> frozenset[int]:
    """Print first that the agent lost its claim, if it did; return the issues to stop work on."""
    if actor.is_person:
        return frozenset()
    agent, snapshot = AgentName(actor.name), app.store.snapshot()
    for line in fence_lines(app, snapshot, agent):
        output.data(f"{line}\n\n")
    return stopped_issues(app, snapshot, agent)


def _print_others_news(app: App, actor: Actor) -> None:
    """Print what others did meanwhile, if it concerns the agent."""
    if actor.is_person:
        return
    agent = AgentName(actor.name)
    others = of_others(app, app.store.snapshot(), agent)
    if others.text:
        lines = "".join(f"- {line}\n" for line in others.text.splitlines())
        output.data(f"\n## What others did\n\n{lines}")
        deliver(app, agent, others.ids)


def _restore(app: App, handoff: Handoff | None, allow_config: bool) -> Restored | None:
    """Restore the uncommitted work; None if it was restored before."""
    try:
        with output.busy("Restoring the work"):
            return restore(app, handoff, allow_config=allow_config)
    except AlreadyRestoredError as error:
        output.say(str(error))
        return None


def _say_restored(restored: Restored) -> None:
    work, name, base = restored.work, restored.handoff.name, _base(restored)
    how = f"merged from {base} and staged" if restored.three_way else f"on its own base, {base}"
    if not restored.conflicts:
        output.done(f"Restored the work of {name}: {count(work.files, 'file')}, {how}.")
    if restored.other_issue:
        output.warn(
            f"This is work on #{restored.handoff.issue}, but the branch here is for "
            f"#{restored.other_issue}.",
            f"`ghp agent-start {restored.handoff.issue}` creates a worktree for it.",
        )
    if work.missing:
        output.warn(
            f"{count(len(work.missing), 'path')} of the work could not be saved.",
            "They are listed below; look for them in the old worktree.",
        )


def _base(restored: Restored) -> str:
    base = restored.work.base
    return f"commit {base[:12]}" if base else "repository without commits"


def _conflicts(restored: Restored) -> GhpError:
    names = [one_line(name, 80) for name in restored.conflicts[:LISTED]]
    if len(restored.conflicts) > LISTED:
        names.append(f"and {len(restored.conflicts) - LISTED} more")
    return GhpError(
        f"The work of {restored.handoff.name}, merged from {_base(restored)}, has "
        f"{count(len(restored.conflicts), 'conflict')}: {', '.join(names)}.",
        hint="The files have conflict markers: edit them, then run `git add` on them.",
    )
