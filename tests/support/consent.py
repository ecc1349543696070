"""Settings that count: on the trunk and agreed to, or in the person's own file."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ghp_agents.workspace import open_workspace
from tests.support.git import commit, git

FILE = ".ghp/config.json"


def configure(folder: Path, settings: Mapping[str, Any], home: Path | None = None) -> str:
    """`.ghp/config.json` on the trunk, which is checked out in `folder`; agreed to there."""
    oid = commit(folder, {FILE: json.dumps(settings)}, "Configure")
    if "refs/remotes/origin/" in git(folder, "for-each-ref"):
        git(folder, "push", "--quiet", "origin", "HEAD")
    agree(folder, home)
    return oid


def agree(folder: Path, home: Path | None = None) -> None:
    """The person agrees to what the trunk of a clone names now."""
    from ghp_agents.consent import service as trust

    environ = {**os.environ, **({"HOME": str(home)} if home else {})}
    ws = open_workspace(folder, environ)
    trust.agree(ws, trust.wanted(ws))


def mine(settings: Mapping[str, Any], home: Path | None = None) -> Path:
    """The person's own file, for all repositories."""
    path = (home or Path(os.environ["HOME"])) / ".config/ghp-cli/config.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(settings))
    return path


def anyone_steals() -> None:
    """Any agent may steal an issue, if it gives a reason; before somebody reads the settings."""
    mine({"agents": {"steal": "anyone"}})


def ours_and_mine(settings: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Settings below `agents`: those that a repository's file may say without consent, and the
    others."""
    from ghp_agents.settings.consent import KEYS

    names = {group.written.removeprefix("agents.") for group in KEYS.values()}
    ours = {key: value for key, value in settings.items() if key not in names}
    return ours, {key: value for key, value in settings.items() if key in names}
