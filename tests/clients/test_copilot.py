"""What only Copilot CLI has: folders to trust, and sub-agents with sessions of their own."""

import json
from pathlib import Path

import pytest

from tests.clients.steps import OTHER, edit, replace, run, set_up, start, states
from tests.support.clients import Bench, end
from tests.support.fake_models import Call, Turn

pytestmark = pytest.mark.slow

HELP = {
    "name": "helper", "agent_type": "general-purpose", "description": "Help", "prompt": "Help me.",
    "mode": "sync",
}  # fmt: skip


def test_a_sub_agent_edits_its_parents_files_and_is_refused_what_others_hold(
    bench: Bench, repo: Path
) -> None:
    set_up(bench, repo, "copilot")
    run("agent-lease", "src/", cwd=repo, env=OTHER)
    bench.models.script(
        "one",
        Turn(calls=[edit("copilot", repo / "shared.py", "mine")]),
        Turn(calls=[Call("task", HELP)]),
        Turn(calls=[replace("copilot", repo / "shared.py", "mine", "helped")]),  # the helper's
        Turn(calls=[edit("copilot", repo / "src/new.py")]),
    )
    assert end(start(bench, "copilot", repo, "one")).code == 0
    assert (repo / "shared.py").read_text() == "helped\n"
    assert not (repo / "src").exists()
    assert "src/new.py is leased by worker-2" in bench.models.said("one")
    assert sorted(states(repo)) == ["worker-1", "worker-2"]


def test_in_a_folder_that_is_not_trusted_no_hook_runs_and_the_doctor_says_so(
    bench: Bench, repo: Path
) -> None:
    set_up(bench, repo, "copilot")
    run("agent-lease", "src/", cwd=repo, env=OTHER)
    (repo / "src").mkdir()
    (bench.home / ".copilot").mkdir(exist_ok=True)
    config = bench.home / ".copilot/config.json"
    config.write_text(json.dumps({"trustedFolders": []}))
    assert f"Copilot CLI does not trust {repo}" in run("agent-doctor", cwd=repo)
    bench.models.script("one", Turn(calls=[edit("copilot", repo / "src/new.py")]))
    assert end(start(bench, "copilot", repo, "one")).code == 0
    assert (repo / "src/new.py").exists()
