"""`agent-where`: print the path of the worktree of an issue or an agent."""

import click

from ghp_agents.claims import service as claims
from ghp_agents.cli import complete, json_choice, output
from ghp_agents.cli.params import as_number
from ghp_agents.cli.views import remote_news
from ghp_agents.core.errors import NotFoundError
from ghp_agents.core.ids import IssueNumber, issue_of_branch
from ghp_agents.git.worktree_admin import Checkout
from ghp_agents.hotpath.heartbeat import is_name
from ghp_agents.hotpath.quoting import named, path_word
from ghp_agents.issues import current_issue
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
    else:
        output.data(f"{worktree.path}\n")


def _of_issue(app: App, number: int) -> Checkout:
    worktrees = checkout.all_of_issue(app.ws.folder, (number,))
    if len(worktrees) > 1:  # numbers can start again
        issues = (x for x in app.knowing_tracker.known(closed=True) if number in x.numbers)
        recorded = [branch_records.recorded_for(app.store.snapshot(), issue) for issue in issues]
        worktrees.sort(key=lambda x: not any(x.branch in names for names in recorded))
    worktree = next(iter(worktrees), None)
    if worktree is None:
        # This raises NotFoundError if there is no such issue.
        remote_news.issue_after_asking(app, f"{number}", lambda: app.knowing_tracker.get(number))
        if gone := checkout.missing_of_issue(app.ws.folder, (number,)):
            what, hint = checkout.missing(app.ws.common_dir, gone)
            again = f"Create it again, with what was committed: `ghp agent-start {number}`."
            raise NotFoundError(what, hint=hint or again)
        held = claims.claims(app.offline.locks).get(IssueNumber(number))
        is_away = held and not held.is_person and held.clone not in ("", app.locks.clone)
        raise NotFoundError(
            f"Issue #{number} has no worktree in this clone.",
            hint=_elsewhere(held.holder or "")
            if held and is_away
            else f"Create one: `ghp agent-start {number}`.",
        )
    return worktree


def _elsewhere(agent: str) -> str:
    shown = named(agent)
    return f"{shown} works in another clone: `ghp agent-status {path_word(agent)}`."


def _of_agent(app: App, name: str) -> Checkout:
    worktree = checkout.of_agent(app.ws.folder, name, current_issue.held(app, name))
    if worktree is None:
        snapshot = app.store.snapshot()
        is_away = name in snapshot.agents() and name not in snapshot.agents_of(snapshot.clone)
        raise NotFoundError(
            f"{name} has no worktree in this clone.",
            hint=_elsewhere(name)
            if is_away
            else f"Start on an issue as {name}: `ghp agent-start N --as {name}`, or name it in its "
            f"worktree: `ghp agent-whoami --set {name}`.",
        )
    return worktree
