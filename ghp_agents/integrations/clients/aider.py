"""aider: it has no hooks of its own, and skips git's unless it is told not to.

aider 0.86 commits with `--no-verify`, unless `git-commit-verify` is on.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from ghp_agents.core import user_file
from ghp_agents.core.errors import GhpError

CONFIG = ".aider.conf.yml"
# It leaves these where it works.
TRACES = (CONFIG, ".aider.chat.history.md", ".aider.input.history")
KEY = "git-commit-verify"
VARIABLE = "AIDER_GIT_COMMIT_VERIFY"
_SETTING = re.compile(rf"^{KEY}[ \t]*:[ \t]*(\w*)", re.MULTILINE)
NO_HOOKS = (
    "aider is used here. It has no hooks: only git's hooks can check what it commits.",
    "Run `ghp agent-init --hooks git`, and start aider with `--git-commit-verify`.",
)
NO_VERIFY = (
    "aider is used here, and commits without git's hooks: nothing checks what it commits.",
    f"Add `{KEY}: true` to {CONFIG}, or start aider with `--{KEY}`.",
)


def is_used(folders: Iterable[Path], environ: Mapping[str, str]) -> bool:
    """Whether aider was configured for, or has worked in, any of the worktrees."""
    places = [folder / name for folder in folders for name in TRACES]
    return any(place.exists() for place in [*places, _home(environ) / CONFIG])


def verifies(folders: Iterable[Path], environ: Mapping[str, str]) -> bool:
    """Whether aider's configuration lets git run its hooks in each of the worktrees."""
    default = _setting(_home(environ) / CONFIG) or _is_on(environ.get(VARIABLE, ""))
    settings = [_setting(folder / CONFIG) for folder in folders]
    return all(default if setting is None else setting for setting in settings)


def _setting(path: Path) -> bool | None:
    """The setting in a file, None without one. Only its plain form is read: no YAML."""
    try:
        match = _SETTING.search(user_file.read_text(path) or "")
    except GhpError:
        return None
    return _is_on(match[1]) if match else None


def _is_on(text: str) -> bool:
    return text.lower() in ("true", "yes", "on", "1")


def _home(environ: Mapping[str, str]) -> Path:
    return Path(environ.get("HOME") or "/")


def advice(
    folders: Iterable[Path], environ: Mapping[str, str], *, has_hooks: bool
) -> Iterator[tuple[str, str]]:
    """A fact and what to do, if aider's commits are not checked; `has_hooks`: git's hooks are."""
    tops = [*folders]
    if is_used(tops, environ) and not (has_hooks and verifies(tops, environ)):
        yield NO_VERIFY if has_hooks else NO_HOOKS
