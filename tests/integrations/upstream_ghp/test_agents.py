"""What upstream's `ghp` says of agents, joined with ours by worktree and branch."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ghp_agents.integrations.upstream_ghp import agents as upstream_agents
from ghp_agents.integrations.upstream_ghp.agents import Heard
from ghp_agents.integrations.upstream_ghp.records import Role
from ghp_agents.presence.liveness import Liveness
from ghp_agents.presence.service import AgentView
from ghp_agents.workspace import open_workspace

Worktree = Callable[[Path, str], Path]


@pytest.fixture
def place(repo: Path, worktree: Worktree) -> Path:
    """The worktree of worker-1, on the branch agent/86."""
    return worktree(repo, "86")


def agent(worktree: Path, **fields: Any) -> dict[str, Any]:
    return {
        "id": "x", "issueNumber": 86, "issueTitle": "Read", "pid": 0, "branch": "agent/86",
        "worktreePath": str(worktree), "status": "running", "startedAt": "2026-01-25T10:00:00Z",
        **fields,
    }  # fmt: skip


def note(home: Path, *agents: dict[str, Any]) -> Path:
    path = home / ".ghp/agents.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps({"version": 1, "agents": dict(enumerate(agents))}))
    return path


def view(name: str, *, is_here: bool = True, **presence: Any) -> AgentView:
    return AgentView(name, presence, Liveness.ACTIVE, 1.0, is_here)


def listen(home: Path, repo: Path, *views: AgentView) -> Heard:
    return upstream_agents.listen(open_workspace(repo, {"HOME": str(home)}), views)


def worker(place: Path, **fields: Any) -> AgentView:
    return view("worker-1", worktree=place.name, branch="agent/86", **fields)


def test_without_files_nothing_is_said(home: Path, repo: Path) -> None:
    assert listen(home, repo) == Heard((), (), ())


def test_an_agent_in_our_worktree_is_ours(home: Path, repo: Path, place: Path) -> None:
    note(home, agent(place, currentAction="Editing a.py", waitingForInput=True))
    heard = listen(home, repo, worker(place), view("worker-2", worktree="other"))
    assert heard.document() == [
        {
            "agent": "worker-1",
            "issue": 86,
            "branch": "agent/86",
            "worktree": place.name,
            "status": "waiting",
            "stage": None,
            "action": "Editing a.py",
            "waitingForInput": True,
            "timestamp": "2026-01-25T10:00:00Z",
        }
    ]
    assert heard.sentences() == [
        "Upstream ghp reports for worker-1 on #86: waiting for a person's input, Editing a.py."
    ]
    assert heard.sentences("worker-2") == []
    assert heard.document("worker-2") == []


def test_one_in_a_worktree_of_ours_without_an_agent_is_shown_all_the_same(
    home: Path, repo: Path, place: Path
) -> None:
    note(home, agent(place))
    assert listen(home, repo).sentences() == ["Upstream ghp reports for #86: running."]


def test_what_is_of_other_repositories_is_left_out(
    home: Path, repo: Path, place: Path, clone: Path
) -> None:
    gone, inside = repo / "gone", repo / "src"
    inside.mkdir()
    folders = [clone, gone, inside, Path("relative"), home]
    note(home, *(agent(folder, branch="agent/86") for folder in folders))
    assert listen(home, repo, worker(place)).words == ()


def test_where_no_worktree_is_noted_the_branch_of_one_of_ours_decides(
    home: Path, repo: Path, place: Path
) -> None:
    note(home, agent(Path("/"), worktreePath="", branch="agent/86"))
    assert [word.agent for word in listen(home, repo, worker(place)).words] == ["worker-1"]
    elsewhere = worker(place)._replace(is_here=False)
    assert listen(home, repo, elsewhere).words == ()


def test_the_stage_of_the_pipeline_is_joined_in_every_worktree(
    home: Path, repo: Path, place: Path
) -> None:
    note(home, agent(place))
    stage = {"issueNumber": 86, "branch": "agent/86", "worktreePath": str(place), "stage": "ready"}
    (repo / ".git/ghp-pipeline.json").write_text(json.dumps({"86": stage}))
    for folder in (repo, place):
        assert listen(home, folder, worker(place)).sentences() == [
            "Upstream ghp reports for worker-1 on #86: running, stage ready."
        ]


def test_a_role_counts_where_an_agent_goes_by_it(home: Path, repo: Path, place: Path) -> None:
    path = home / ".config/ghp-cli/coordination/agent-status.json"
    path.parent.mkdir(parents=True)
    path.write_text('{"worker-1": {"lastSeen": "T", "status": "active"}, "principal": {}}')
    heard = listen(home, repo, worker(place))
    assert heard.roles == (Role("worker-1", "active", "T"),)
    assert heard.sentences() == ["Upstream ghp reports for the role worker-1: active, last seen T."]
    assert heard.document() == [{"agent": "worker-1", "status": "active", "timestamp": "T"}]


@pytest.mark.parametrize("text", ["", "{", "[]", '"x"', "[" * 100_000, "\xff"])
def test_a_broken_file_is_left_out_and_named(
    home: Path, repo: Path, place: Path, text: str
) -> None:
    path = note(home)
    path.write_bytes(text.encode("latin-1"))
    (repo / ".git/ghp-pipeline.json").write_text(
        json.dumps({"1": {"worktreePath": str(place), "stage": "ready"}})
    )
    heard = listen(home, repo)
    assert heard.broken == (str(path),)
    assert len(heard.words) == 1


def test_a_folder_in_the_place_of_a_file_is_left_out(home: Path, repo: Path) -> None:
    (home / ".ghp/agents.json").mkdir(parents=True)
    assert listen(home, repo).broken == (str(home / ".ghp/agents.json"),)


def test_nothing_of_upstreams_is_written(home: Path, repo: Path, place: Path) -> None:
    path = note(home, agent(place))
    before = (path.read_bytes(), path.stat().st_mtime_ns, sorted(home.rglob("*")))
    listen(home, repo, worker(place))
    assert (path.read_bytes(), path.stat().st_mtime_ns, sorted(home.rglob("*"))) == before
