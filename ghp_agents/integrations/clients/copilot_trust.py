"""The folders that Copilot CLI's user trusts: only there it runs a repository's hooks.

Copilot CLI 1.0.102 keeps them in its config.json; a folder's subfolders are trusted, too.
"""

from collections.abc import Mapping
from pathlib import Path

from ghp_agents.integrations.clients import config_files
from ghp_agents.integrations.clients.config_files import ConfigFile

COPILOT = "copilot"
FILE = "config.json"
KEYS = ("trustedFolders", "trusted_folders")


def trusts(target: ConfigFile, environ: Mapping[str, str]) -> bool:
    """Whether Copilot CLI runs the hooks in a file; always those in the user's own."""
    if target.is_users:
        return True
    path = config_files.users(environ, COPILOT).path.parents[1] / FILE
    lists = [config_files.setting(path, key) for key in KEYS]
    named = [Path(text) for names in lists if isinstance(names, list) for text in map(str, names)]
    tops = (target.top, target.top.resolve())
    return any(top.is_relative_to(folder) for top in tops for folder in named)
