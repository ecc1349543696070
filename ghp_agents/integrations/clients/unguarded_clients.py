"""The doctor's check for a person of a team: a client without our hooks, where agents work."""

from collections.abc import Iterator

from ghp_agents.core.finding import Finding, info
from ghp_agents.integrations.clients import config_files
from ghp_agents.integrations.clients.hook_entries import HOMES
from ghp_agents.integrations.clients.new_worktree import has_hooks
from ghp_agents.ports import Context

CODE = "unguarded"


def check(ctx: Context) -> Iterator[Finding]:
    """Report clients that are used here, and whose hooks nobody installed in this clone. A
    colleague's hooks are in the colleague's clone only."""
    if not ctx.store.snapshot().agents():
        return
    # Only clients with a folder in the home or here: a program alone is used by nobody.
    used = config_files.found([ctx.ws.folder, ctx.ws.root], {**ctx.ws.environ, "PATH": ""})
    bare = [client for client in used if not has_hooks(ctx.ws, client)]
    if bare:
        names = ", ".join(HOMES[client].title for client in bare)
        has, its = ("has", "its") if len(bare) == 1 else ("have", "their")
        yield info(
            CODE,
            f"Agents work on this repository, and {names} {has} no hooks here: {its} edits are "
            "not guarded.",
            f"To install them: ghp agent-init --hooks {','.join(bare)}",
        )
