"""`agent-doctor` as people call it, in repositories where all is well."""

import json
import platform
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import pytest

from ghp_agents.git import process as our_git
from tests.support import hosts
from tests.support.doctor import AS, clone_id, doctor, in_use, lines
from tests.support.ghp import invoke
from tests.support.git import commit, git, refs

BACKGROUND = """\
• Background work is off in this environment: only commands save and send heartbeats.
  → Unset GHP_BACKGROUND to turn it on.
"""

Clones = Callable[[int], list[Path]]


@pytest.fixture
def used(clone: Path) -> Path:
    """A clone that was set up, where an agent has beaten, and that was synced."""
    return in_use(clone)


@pytest.mark.slow
def test_a_clone_in_use_where_all_is_well(used: Path, remote: Path) -> None:
    done = doctor(used)
    shown = ".".join(map(str, our_git.version()))
    objects = lines(done.out, "✓ The private repository")
    assert objects[0].startswith("✓ The private repository has ")
    assert done == (
        0,
        f"✓ git {shown}\n"
        f"✓ Python {platform.python_version()}, ghp-agents {version('ghp-agents')}\n"
        f"✓ {used}: main worktree\n"
        "✓ Settings: the defaults (there is no .ghp/config.json)\n"
        "✓ Commands here act as worker-1.\n"
        f"{BACKGROUND}✓ Clones share state through origin ({remote}).\n"
        "✓ All 0 records can be read.\n"
        "✓ The outbox is empty.\n"
        "✓ origin has everything that was committed here.\n"
        "✓ Last news from origin: 0 s ago.\n"
        "✓ .git/ghp is writable.\n"
        "✓ No lock file is held.\n"
        f"✓ .git/ghp/state.git is intact; this clone is {clone_id(used)}.\n"
        "✓ Nothing was left behind by killed processes.\n"
        "✓ The presence of 1 agent is committed.\n"
        f"{objects[0]}\n"
        "✓ .ghp/agent-status.json is not tracked by git.\n"
        "✓ origin answers; 1 clone syncs through it.\n"
        "✓ origin accepts our refs under refs/ghp/ (tested 0 s ago).\n",
        "✓ No problems found.\n",
    )


def test_it_changes_nothing_in_a_clone_that_was_never_used(repo: Path) -> None:
    before = sorted(repo.rglob("*"))
    done = doctor(repo)
    shown = ".".join(map(str, our_git.version()))
    assert done == (
        0,
        f"✓ git {shown}\n"
        f"✓ Python {platform.python_version()}, ghp-agents {version('ghp-agents')}\n"
        f"✓ {repo}: main worktree\n"
        "✓ Settings: the defaults (there is no .ghp/config.json)\n"
        "• This worktree has no agent name.\n"
        "  → If an agent works here, name it: ghp agent-whoami --set worker-1\n"
        f"{BACKGROUND}• Nothing leaves this clone: there is no remote.\n"
        "✓ All 0 records can be read.\n"
        "✓ The outbox is empty.\n"
        "• Nothing was recorded in this clone yet.\n"
        "✓ No lock file is held.\n"
        "✓ Nothing was left behind by killed processes.\n"
        "✓ No agent has sent a heartbeat in this clone yet.\n"
        "✓ .ghp/agent-status.json is not tracked by git.\n",
        "✓ No problems found.\n",
    )
    assert sorted(repo.rglob("*")) == before


@pytest.mark.slow
def test_it_pushes_nothing_unless_it_is_told_to(clone: Path, remote: Path) -> None:
    hosts.hook(remote, "pre-receive", "touch was-asked\n")
    doctor(clone)
    assert not (remote / "was-asked").exists()
    assert lines(doctor(clone, "--probe").out, "✓ origin accepts") == [
        "✓ origin accepts our refs under refs/ghp/ (tested 0 s ago)."
    ]
    assert (remote / "was-asked").exists()
    assert refs(remote).keys() == {"refs/heads/main"}


def test_the_findings_as_json(repo: Path) -> None:
    findings_json = json.loads(doctor(repo, "--json").out)
    shown = ".".join(map(str, our_git.version()))
    assert findings_json[0] == {
        "schemaVersion": 1,
        "level": "ok",
        "code": "git",
        "text": f"git {shown}",
        "remedy": "",
        "fixable": False,
        "fixed": False,
    }
    assert [one["code"] for one in findings_json] == [
        *("git", "python", "repository", "config", "agent", "background", "sharing"),
        *(
            "unreadable",
            "outbox",
            "knowledge",
            "folder",
            "lock",
            "left-over",
            "presence",
            "view-tracked",
        ),
    ]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("make", "kind"),
    [
        (("clone", "--quiet", "--bare"), "bare"),
        (("clone", "--quiet", "--depth=1"), "main worktree, shallow"),
        (
            ("clone", "--quiet", "--filter=blob:none", "--no-checkout"),
            "main worktree, partial",
        ),
    ],
)
def test_every_kind_of_repository_is_well(
    remote: Path, tmp_path: Path, make: tuple[str, ...], kind: str
) -> None:
    git(remote, "config", "uploadpack.allowFilter", "true")
    git(tmp_path, *make, f"file://{remote}", "other")
    invoke("agent-init", tmp_path / "other", AS)
    invoke("agent-sync", tmp_path / "other")
    done = doctor(tmp_path / "other")
    assert f"✓ {tmp_path / 'other'}: {kind}\n" in done.out
    assert done.err == "✓ No problems found.\n"


@pytest.mark.slow
def test_a_linked_worktree_and_a_sha256_repository_are_well(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet", "--object-format=sha256", "main")
    commit(tmp_path / "main", {"a": "b"})
    git(tmp_path / "main", "worktree", "add", "--quiet", str(tmp_path / "linked"))
    invoke("agent-init --agent worker-1", tmp_path / "linked")
    done = doctor(tmp_path / "linked", "--fix")
    assert f"✓ {tmp_path / 'linked'}: linked worktree, sha256\n" in done.out
    assert (
        "✓ Fixed: The presence of 1 agent is not committed yet (the oldest is 0 s old).\n"
        in done.out
    )
    assert done.err == "✓ No problems found.\n"
