"""What OpenCode installs from npm when it finds a plugin.

OpenCode 1.18 tries at each start until the packages are there. With the registry out of reach, npm
repeats its requests: 4 s become 75 s.
"""

import re

from ghp_agents.core import user_file
from ghp_agents.core.errors import GhpError
from ghp_agents.integrations.clients import config_files
from ghp_agents.integrations.clients.install import python_in
from ghp_agents.workspace import Workspace

PACKAGE = "node_modules/@opencode-ai/plugin"
FACT = (
    "OpenCode has not installed its packages for plugins yet. Without a network, each start takes "
    "over a minute."
)
REMEDY = "Start OpenCode once with a network, or write `fetch-retries=0` to ~/.npmrc."


def are_here(ws: Workspace) -> bool:
    """Whether the packages are installed for each of our plugins, or npm is told not to retry."""
    if any(name.lower() == "npm_config_fetch_retries" for name in ws.environ):
        return True
    mine = config_files.users(ws.environ, "opencode")
    try:
        settings = user_file.read_text(mine.top / ".npmrc") or ""
    except GhpError:
        settings = ""
    if re.search(r"^\s*fetch-retries\s*=", settings, re.MULTILINE):
        return True
    targets = [target for target in config_files.everywhere(ws, "opencode") if python_in(target)]
    return all((target.path.parents[1] / PACKAGE).exists() for target in targets)
