"""Values that a run in a sandbox wrote into the git folder decide nothing outside."""

import json
import os
from pathlib import Path

from ghp_agents.presence import way_in
from ghp_agents.pulls import check_cache
from ghp_agents.settings.settings import Settings
from ghp_agents.workspace import open_workspace
from tests.support.in_home import in_home


def test_the_settings_of_a_forged_cache_do_not_count(
    repo: Path,
) -> None:
    (repo / ".ghp").mkdir()
    (repo / ".ghp/config.json").write_text('{"agents": {"throttle": 7}}')
    assert open_workspace(repo, os.environ).settings.throttle == 7.0
    true = json.loads(in_home(repo, "settings.json").read_text())
    values = true["values"] | {"worktree_setup_command": "touch pwned", "checks": ["touch pwned"]}
    forged = repo / ".git/ghp/cache/settings.json"
    forged.parent.mkdir(parents=True, exist_ok=True)
    forged.write_text(json.dumps(true | {"values": values}))
    settings = open_workspace(repo, os.environ).settings
    assert (settings.worktree_setup_command, settings.checks) == (None, ())


def test_a_forged_check_result_is_no_result(repo: Path) -> None:
    ws, rules, tree = open_workspace(repo, os.environ), Settings(checks=("false",)), "a" * 40
    forged = repo / ".git/ghp" / check_cache.FILE
    forged.parent.mkdir(parents=True)
    key = check_cache._key(ws, rules, tree, "false")
    forged.write_text(json.dumps({key: ws.clock.now()}))
    assert check_cache.passed(ws, rules, tree) is None


def test_a_forged_way_in_names_no_program_and_no_socket(repo: Path) -> None:
    way = {"client": "codex", "session": "s-1", "socket": "", "home": str(repo / "evil")}
    forged = repo / ".git/ghp/cache/ways-in/w1.json"
    forged.parent.mkdir(parents=True)
    forged.write_text(json.dumps(way))
    assert way_in._read(open_workspace(repo, os.environ), "w1") == {}
