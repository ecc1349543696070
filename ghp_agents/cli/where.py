"""`agent-where`: print the path of an issue's worktree."""

import click

from ghp_agents.cli import complete, output
from ghp_agents.cli.params import as_number
from ghp_agents.core.errors import NotFoundError
from ghp_agents.wiring import App
from ghp_agents.worktrees import checkout


@click.command("agent-where", epilog="Example: ghp agent-where 12")
@click.argument("issue", metavar="N", shell_complete=complete.issues)
@click.option("--json", "as_json", is_flag=True, help="Print the path and the branch as JSON.")
@click.pass_obj
def where(app: App, issue: str, as_json: bool) -> None:
    """Print the path of an issue's worktree in this clone, for `cd "$(ghp agent-where 12)"`.

    The branch of a worktree names its issue. If several worktrees do, `git worktree list` shows
    the same one first.
    """
    number = as_number(issue, "an issue number", "ghp agent-where 12")
    found = checkout.of_issue(app.ws.folder, (number,))
    if found is None:
        app.knowing_tracker.get(number)  # raises NotFoundError if there is no such issue
        raise NotFoundError(
            f"Issue #{number} has no worktree in this clone.",
            hint=f"Create one: `ghp agent-start {number}`.",
        )
    if as_json:
        output.as_json({"issue": number, "path": str(found.path), "branch": found.branch})
    else:
        output.data(f"{found.path}\n")
