"""`agent-where`: print the path of the worktree of an issue or an agent."""

from functools import partial

import click

from ghp_agents.cli import complete, json_choice, output
from ghp_agents.cli.params import as_number
from ghp_agents.cli.views import remote_news
from ghp_agents.core.errors import NotFoundError
from ghp_agents.core.ids import IssueNumber, issue_of_branch
from ghp_agents.git.worktree_admin import Checkout
from ghp_agents.hotpath.heartbeat import is_name
from ghp_agents.hotpath.quoting import named, path_word
from ghp_agents.issues import current_issue
from ghp_agents.locks.lock import Lock
from ghp_agents.presence import start_command
from ghp_agents.presence.start_command import NEXT
from ghp_agents.pulls.branches import branch_records
from ghp_agents.wiring import App
from ghp_agents.worktrees import checkout

EXAMPLE = "ghp agent-where 12"


@click.command("agent-where", epilog=f"Example: {EXAMPLE}")
@click.argument("what", metavar="N|AGENT", shell_complete=complete.issues)
@json_choice.option("Print the path and the branch as JSON.")
@click.pass_obj
def where(app: App, what: str, as_json: bool) -> None:
    """Print the path of the worktree of an issue or an agent in this clone, for
    `cd "$(ghp agent-where 12)"`.

    The branch of a worktree names its issue; a file in its git folder names its agent. An agent can
    have several: the one of its current issue is printed, else that of another that it holds. If
    several worktrees match, it prints the first one of `git worktree list`.
    """
    if is_name(what) and not what.isdigit():
        worktree = _of_agent(app, what)
        fields: dict[str, object] = {"agent": what, "issue": issue_of_branch(worktree.branch or "")}
    else:
        number = as_number(what, "an issue number or an agent's name", EXAMPLE)
        worktree, fields = _of_issue(app, number), {"issue": number}
    if as_json:
        output.as_json({**fields, "path": str(worktree.path), "branch": worktree.branch})
        return
    output.data(f"{worktree.path}\n")
    if not worktree.branch:
        left = checkout.left_branch(app.ws.folder, worktree)
        back = f" `git switch {path_word(left)}` there goes back." if left else ""
        output.say(f"No branch is checked out there (detached HEAD).{back}")


def _of_issue(app: App, number: int) -> Checkout:
    worktrees = checkout.all_of_issue(app.ws.folder, (number,))
    if len(worktrees) > 1:  # numbers can start again
        issues = (x for x in app.knowing_tracker.known(closed=True) if number in x.numbers)
        recorded = [branch_records.recorded_for(app.store.snapshot(), issue) for issue in issues]
        worktrees.sort(key=lambda x: not any(x.branch in names for names in recorded))
    held = app.offline.world.claims.get(IssueNumber(number))
    worktree = next(iter(worktrees), None) or checkout.left_by_issue(app.ws.folder, number)
    worktree = worktree or (held and _of_holder(app, held))
    if worktree is None:
        raise _without(app, number, held)
    return worktree


def _of_holder(app: App, held: Lock) -> Checkout | None:
    """Where the holder of an issue works, unless on the branch of another issue."""
    agent = "" if held.is_person or _is_away(app, held) else held.holder
    worktree = _here(app, agent) if agent else None
    return worktree if worktree and issue_of_branch(worktree.branch or "") is None else None


def _is_away(app: App, held: Lock) -> bool:
    return held.clone not in ("", app.locks.clone)


def _without(app: App, number: int, held: Lock | None) -> NotFoundError:
    """Why an issue has no worktree here, and what to do. Raises NotFoundError if it is unknown."""
    get = partial(app.knowing_tracker.get, number)
    issue = remote_news.issue_after_asking(app, f"{number}", get)
    holder = (held.holder if held else None) or ""
    start = start_command.of_reader(app.ws, number)
    if holder and held and not held.is_person:
        start = start_command.of_agent(number, holder)
    gone = checkout.missing_of_issue(app.ws.folder, (number,))
    what, hint = f"Issue #{number} has no worktree in this clone.", ""
    if gone:
        what, hint = checkout.missing(app.ws.common_dir, gone)
        hint = hint or f"Create it again, with what was committed: `{start}`."
    elif issue.state == "closed":
        hint = f"It is closed: `ghp agent-issue show {number}`."
    elif holder and held and held.is_person:
        hint = f"{named(holder, is_person=True)} has claimed it: `ghp agent-explain {number}`."
    elif held and holder and _is_away(app, held):
        hint = _elsewhere(holder)
    return NotFoundError(what, hint=hint or f"Create one: `{start}`.")


def _elsewhere(agent: str) -> str:
    shown = named(agent)
    return f"{shown} works in another clone: `ghp agent-status {path_word(agent)}`."


def _here(app: App, agent: str) -> Checkout | None:
    """The worktree that has the agent's name, else the one that it reports."""
    own = checkout.of_agent(app.ws.folder, agent, current_issue.held(app, agent))
    return own or checkout.reported(app.ws, agent)


def _of_agent(app: App, name: str) -> Checkout:
    worktree = _here(app, name)
    if worktree is None:
        snapshot = app.store.snapshot()
        is_away = name in snapshot.agents() and name not in snapshot.agents_of(snapshot.clone)
        raise NotFoundError(
            f"{name} has no worktree in this clone.",
            hint=_elsewhere(name)
            if is_away
            else f"Start on an issue as {name}: `{start_command.of_agent(NEXT, name)}`, or name "
            f"it in its worktree: `ghp agent-whoami --set {name}`.",
        )
    return worktree
