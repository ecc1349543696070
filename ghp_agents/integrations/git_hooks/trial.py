"""Runs the guard in git's hook `pre-commit` once in a worktree, to see that git would run it.

Our part comes first in the hook. In a trial it prints a word and ends the hook, so no hook of the
project runs.
"""

import os
from pathlib import Path

from ghp_agents.core import process, user_file
from ghp_agents.core.errors import GhpError
from ghp_agents.core.files import random_hex
from ghp_agents.git import own_hooks
from ghp_agents.hotpath.ignored_files import LOCAL_VARIABLES
from ghp_agents.integrations.git_hooks import dispatch
from ghp_agents.integrations.git_hooks import script as hook_script
from ghp_agents.integrations.git_hooks.install import scripts
from ghp_agents.workspace import Workspace

TIMEOUT_S = 10.0
NAME = "pre-commit"


def failure(ws: Workspace, top: Path) -> str:
    """Why git's guard does not run in a worktree, as a sentence. Empty if it runs, or if it is not
    installed in this clone."""
    if not os.access(scripts(ws)[NAME], os.X_OK):
        return ""
    folder = own_hooks.configured(top, ours=True)
    hook = top / folder / NAME if folder else ws.common_dir / "hooks" / NAME
    is_ours = hook.parent == (ws.ghp_dir / dispatch.FOLDER).resolve()
    if not is_ours and not hook_script.has_block(user_file.read(hook) or b""):
        return f"git's guard does not run in {top}: {hook} does not call it."
    word = random_hex(16)
    env = {key: value for key, value in ws.environ.items() if key not in LOCAL_VARIABLES}
    try:
        ran = process.run(
            [str(hook)], cwd=top, env=env | {"GHP_TRIAL": word}, timeout=TIMEOUT_S
        )  # fmt: skip
    except (GhpError, OSError) as error:
        return f"git's guard does not run in {top}: {error}"
    if word in ran.out.split():
        return ""
    return f"git's guard does not run in {top}: {hook} does not reach it."
