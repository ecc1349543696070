"""What a command that we run may know of our environment, and what may be shown of its output."""

import re
from collections.abc import Mapping

from ghp_agents.model.address import masked
from ghp_agents.model.quote import clean
from ghp_agents.model.secret import redacted

# Commands of a repository are run for whoever may write to it; none of them needs to be GitHub's
# user for that. The others would point git at the repository of a hook that we were called by.
_TOKENS = ("GITHUB_TOKEN", "GH_TOKEN", "GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN")
_OF_HOOKS = (
    *("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_COMMON_DIR"),
    *("GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_QUARANTINE_PATH"),
)
_SECRET_NAME = re.compile(r"TOKEN|SECRET|PASSW|PASSPHRASE|CREDENTIAL|API_?KEY|PRIVATE_?KEY", re.I)
_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])")
SHORTEST_SECRET = 8  # a shorter value may be any word


def for_commands(environ: Mapping[str, str]) -> dict[str, str]:
    """The environment for a command of the repository: without GitHub's tokens."""
    left_out = {*_TOKENS, *_OF_HOOKS}
    return {name: value for name, value in environ.items() if name not in left_out}


def shown(output: str, environ: Mapping[str, str]) -> str:
    """A command's output without secrets, as far as they can be told, and without control
    sequences."""
    text = clean(_ESCAPES.sub("", output).replace("\r\n", "\n").replace("\r", "\n"))
    values = {
        value
        for name, value in environ.items()
        if _SECRET_NAME.search(name) and len(value) >= SHORTEST_SECRET
    }
    for value in sorted(values, key=len, reverse=True):
        text = text.replace(value, "***")
    return redacted(masked(text)).strip("\n")
