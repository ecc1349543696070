"""`agent-start`: claim an issue; create a branch and a worktree for it."""

from typing import TYPE_CHECKING

import click

from ghp_agents.cli import complete, json_choice, output, run_client
from ghp_agents.cli.context import acting, start_background, sync_first
from ghp_agents.cli.views import claim as claim_view
from ghp_agents.cli.views import remote_news
from ghp_agents.core.errors import GhpError, UsageError
from ghp_agents.core.files import random_hex
from ghp_agents.presence import client_process, start_command
from ghp_agents.pulls import start as services
from ghp_agents.pulls.start import Started
from ghp_agents.wiring import App
from ghp_agents.worktrees.provision import Provisioned, Setup

if TYPE_CHECKING:
    from ghp_agents.cli.outputs.pull import StartedJson

HOW = {
    "new": "Created branch {branch} in {path}.",
    "continued": "Created {path} for {branch}, the branch of earlier work on this issue.",
    "there": "{path} already exists, on {branch}.",
}


@click.command("agent-start", epilog="Example: ghp agent-start 12 --as worker-1")
@click.argument("issue", required=False, shell_complete=complete.issues)
@click.argument("command", nargs=-1, type=click.UNPROCESSED, metavar="[-- CMD...]")
@click.option("--next", "best", is_flag=True, help="Pick the best issue that is ready.")
@click.option(
    "--run", metavar="CLIENT", type=click.Choice([*start_command.CLIENTS]),
    help=f"Then start this client there: {', '.join(start_command.CLIENTS)}.",
)  # fmt: skip
@click.option("--tmux", is_flag=True, help="Start it in a window of tmux.")
@json_choice.option("Print only the result, as JSON.")
@acting
def start(
    app: App,
    issue: str | None,
    command: tuple[str, ...],
    best: bool,
    run: str | None,
    tmux: bool,
    as_json: bool,
) -> None:
    """Claim an issue, create its branch and worktree, and print what you need to begin.

    The branch begins at the remote's current main. If another agent already worked on the issue,
    its branch is reused. Safe to run twice; while the agent has a client that was started here, no
    second client starts.

    --run starts a client there as the agent; its first prompt is what the agent needs to begin.
    Write any other command after `--`; it finds the prompt in GHP_PROMPT.
    """
    if best and issue is not None and not issue.removeprefix("#").isdigit():
        command = (issue, *command)  # `--next -- CMD`
        issue = None
    if (command and run) or (as_json and (run or command)) or (tmux and not (run or command)):
        raise UsageError(
            "Use --run CLIENT or `-- CMD...`, with --tmux if you like, and without --json.",
            hint="Run `ghp agent-start 12 --run claude` or `ghp agent-start 12 -- CMD`.",
        )
    program = run_client.find(run, command, tmux=tmux) if run or command else ()
    if best == (issue is not None):
        raise UsageError(
            "Name an issue, or use --next.",
            hint="Run `ghp agent-start 12` or `ghp agent-start --next`.",
        )
    if program:
        client_process.refuse_second(app.ws, app.ws.agent())
    if run:
        _warn_unguarded(app, run)
    with output.busy("Starting"):
        sync_first(app)
        started = remote_news.issue_after_asking(app, issue, lambda: services.start(app, issue))
    _say(started)
    claim_view.say_waiting(app, started.claimed.issue.number, started.claimed.lock)
    _guard(app, started)
    if as_json:
        output.as_json(_fields(started))
    elif not program:
        output.page(_resume(app, started))
        output.flush()
        output.say(f"Start your agent there: {_by_hand(app, started)}")
    start_background(app)
    if program:
        agent = app.ws.agent()
        limit = run_client.TMUX_LIMIT if tmux else None
        prompt = f"You are agent {agent}. {_resume(app, started, limit)}"
        launch = run_client.Launch(program, started.path, agent, prompt, random_hex(16))
        if tmux:
            run_client.in_tmux(app.ws, launch, app.environ)
        else:
            run_client.here(app.ws, launch, app.environ)


def _fields(started: Started) -> "StartedJson":
    setup = started.furnished.setup if started.furnished else None
    return {
        "path": str(started.path),
        "branch": started.branch,
        "issue": started.claimed.issue.number,
        "how": started.how,
        "setup": {"command": setup.command, "code": setup.code} if setup else None,
    }


def _say(started: Started) -> None:
    claim_view.say_claimed(started.claimed)
    line = HOW[started.how].format(path=started.path, branch=started.branch)
    output.say(line) if started.how == "there" else output.done(line)
    if started.furnished:
        _report_setup(started.furnished)
    text, hint = started.former
    if text:
        output.warn(text, hint) if hint else output.say(text)
    for note in started.notes:
        output.warn(note)


def _guard(app: App, started: Started) -> None:
    """Install the hooks of the main worktree, so that edits here are guarded, too; and put back
    what other programs took out of git's hooks."""
    from ghp_agents.integrations.clients import hook_trial, new_worktree
    from ghp_agents.integrations.git_hooks import install as git_hooks
    from ghp_agents.integrations.git_hooks import trial as git_trial

    try:
        for step in (*new_worktree.steps(app.ws, started.path), *git_hooks.to_renew(app.ws)):
            step.act()
            output.done(f"{step.did} {step.what}.")
        for gap in new_worktree.untrusted(app.ws, started.path, app.environ):
            output.warn(output.clean(gap.fact), output.clean(gap.remedy))
        for silent in hook_trial.unguarded(app.ws, [started.path]):
            output.warn(output.clean(silent.fact), output.clean(silent.remedy))
        why = git_trial.failure(app.ws, started.path)
        if why:
            output.warn(output.clean(why), "Run `ghp agent-init --hooks git`, then this again.")
    except (GhpError, OSError) as error:
        output.warn(
            f"Edits in the new worktree are not guarded: {error}",
            "Fix the file, then run `ghp agent-init --hooks` in that worktree.",
        )


def _warn_unguarded(app: App, client: str) -> None:
    """Warn of a client without hooks. Those of another clone do not count in this one."""
    from ghp_agents.integrations.clients import new_worktree
    from ghp_agents.integrations.clients.hook_entries import HOMES

    try:
        if new_worktree.has_hooks(app.ws, client):
            return
    except (GhpError, OSError):  # a file that cannot be read was named above
        return
    output.warn(
        f"{HOMES[client].title} has no hooks in this clone: its edits are not guarded, and it "
        "gets no news.",
        f"Before the next start, install them: `ghp agent-init --hooks {client}`.",
    )


def _by_hand(app: App, started: Started) -> str:
    """The line that starts a client whose hooks are installed; Claude Code, if none are."""
    from ghp_agents.integrations.clients import new_worktree

    try:
        guarded = new_worktree.guarded(app.ws)
    except (GhpError, OSError):  # a file that cannot be read was named above
        guarded = []
    program = next((start_command.CLIENTS[client][0] for client in guarded), "claude")
    return run_client.by_hand(started.path, program)


def _report_setup(provisioned: Provisioned) -> None:
    for verb, names in (("Copied", provisioned.copied), ("Linked", provisioned.linked)):
        if names:
            output.say(f"{verb} {', '.join(names)}.")
    setup = provisioned.setup
    if setup is None:
        return
    if setup.output:
        output.say(setup.output)
    if setup.code == 0:
        output.done(f"`{setup.command}` finished.")
    else:
        output.warn(
            f"`{setup.command}` {_ended(setup)}; the worktree was created anyway.",
            "Fix the problem and run the same command again to repeat it.",
        )


def _ended(setup: Setup) -> str:
    return "timed out" if setup.timed_out else f"exited with {setup.code}"


def _resume(app: App, started: Started, max_chars: int | None = None) -> str:
    """What `agent-resume` prints in the new worktree."""
    from ghp_agents.runs import prompt

    agent = app.ws.agent()
    inner = App(started.path, app.environ, name=agent, clock=app.ws.clock)
    return prompt.resumed(inner, agent, started.claimed.issue.number, max_chars)
