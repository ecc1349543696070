"""A session works under the name under which it began."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from ghp_agents.hooks import naming, scene
from ghp_agents.hooks.scene import HookContext
from tests.support.ghp import invoke
from tests.support.hooks import BARE, agent, call, context, event, in_use, payload


def keep(begun: HookContext) -> None:
    naming.keep(begun.folders, begun.event.session, begun.agent, begun.now)


def forget(begun: HookContext) -> None:
    naming.forget(begun.folders, begun.event.session)


def test_a_session_keeps_its_name_wherever_it_goes(
    repo: Path, worktree: Callable[[Path, str], Path]
) -> None:
    in_use(repo)
    (repo / ".git/ghp-agent").write_text("worker-1\n")
    other = worktree(repo, "147")
    (repo / ".git/worktrees/repo-147/ghp-agent").write_text("worker-2\n")
    begun = scene.find(event("claude", "start", repo), BARE)
    assert begun is not None
    keep(begun)
    for kind in ("edit", "batch", "prompt", "stop", "end"):
        assert agent(event("claude", kind, other)) == "worker-1"
    assert agent(event("claude", "start", other, goes_on=True)) == "worker-1"
    assert agent(event("claude", "batch", other, session="ffff0000")) == "worker-2"
    assert agent(event("claude", "start", other)) == "worker-2"  # it begins there anew
    forget(begun)
    assert agent(event("claude", "batch", other)) == "worker-2"


@pytest.mark.parametrize("session", ["../../../etc/passwd", "a\0b", "x" * 1_000_000, "é\n"])
def test_a_session_may_be_called_anything(repo: Path, session: str) -> None:
    in_use(repo)
    begun = scene.find(event("codex", "start", repo, session=session), BARE)
    assert begun is not None
    keep(begun)
    kept = [path.name for path in (repo / ".git/ghp/cache/sessions").iterdir()]
    assert [len(name) for name in kept] == [16]
    forget(begun)
    assert list((repo / ".git/ghp/cache/sessions").iterdir()) == []


def test_names_of_sessions_that_never_ended_are_dropped_in_time(repo: Path) -> None:
    folders = [str(in_use(repo) / ".git/ghp")]
    for session in ("one", "two"):
        naming.keep(folders, session, "worker-1", 0.0)
    (first, _) = sorted((repo / ".git/ghp/cache/sessions").iterdir())
    now = first.stat().st_mtime
    os.utime(first, (now - naming.KEPT_FOR - 10, now - naming.KEPT_FOR - 10))
    naming.keep(folders, "three", "worker-1", now)
    assert not first.exists()
    assert len(list((repo / ".git/ghp/cache/sessions").iterdir())) == 2


def test_what_is_no_name_is_not_taken_for_one(repo: Path) -> None:
    in_use(repo)
    found = event("codex", "batch", repo)
    naming.keep([str(repo / ".git/ghp")], found.session, "worker-1", 0.0)
    assert agent(found) == "worker-1"
    (kept,) = (repo / ".git/ghp/cache/sessions").iterdir()
    for content in (b"", b"../x", b"\xff", b"Worker"):
        kept.write_bytes(content)
        assert agent(found) == "codex-abcd"


@pytest.mark.slow
def test_two_sessions_that_end_alike_are_two_agents(repo: Path) -> None:
    in_use(repo)
    ids = [f"{n}0000000-0000-4000-8000-00000000beef" for n in (1, 2)]
    for session in ids:
        said = payload("claude-SessionStart-startup", repo, session_id=session)
        assert "This session is agent" in context(call("claude", said, repo))
    found = sorted(path.stem for path in (repo / ".git/ghp/agents").glob("*.json"))
    assert found == ["claude-0000beef", "claude-beef"]
    for session, name in zip(ids, ("claude-beef", "claude-0000beef"), strict=True):
        env = {"CLAUDE_CODE_SESSION_ID": session}
        assert invoke("agent-whoami", repo, env) == (0, f"{name}\n", "")
