"""A session works under the name under which it began, and one name has one living session."""

import json
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ghp_agents.hooks import scene
from ghp_agents.hooks.scene import HookContext
from ghp_agents.hotpath import heartbeat, own_name, process_start
from tests.support.ghp import invoke
from tests.support.hooks import BARE, agent, call, context, event, in_use, payload
from tests.support.waiting import until

FIRST, SECOND = "00000000-0000-4000-8000-00000000aaaa", "00000000-0000-4000-8000-00000000bbbb"


@pytest.fixture
def other_process() -> Iterator[int]:
    """A process that runs."""
    with subprocess.Popen(["sleep", "600"]) as process:
        yield process.pid
        process.kill()


def folders(repo: Path) -> list[str]:
    return [str(repo / ".git/ghp"), "/nonexistent"]


def beats(
    repo: Path, name: str, session: str | None, pid: int | None, status: str = "idle"
) -> None:
    """A heartbeat that starts an agent."""
    done = heartbeat.beat(
        folders(repo), name, {"status": status}, 1e9, session=session, pid=pid, epoch=1
    )
    assert done == "moved"


def own(repo: Path, session: str, pid: int | None = None) -> str:
    return own_name.own(folders(repo), "worker-1", session, pid)


def keep(begun: HookContext) -> None:
    own_name.keep(begun.folders, [begun.event.session or ""], begun.agent, begun.now)


# ------------------------------------------------------------------------- one living session


def test_a_free_name_is_anybodys(repo: Path) -> None:
    in_use(repo)
    assert own(repo, SECOND) == "worker-1"
    beats(repo, "worker-1", None, None)  # named by a person's command
    assert own(repo, SECOND) == "worker-1"


def test_a_second_session_has_its_own_name_while_the_first_lives_and_keeps_it(
    repo: Path, other_process: int
) -> None:
    in_use(repo)
    beats(repo, "worker-1", FIRST, other_process)
    assert own(repo, FIRST) == "worker-1"
    assert own(repo, SECOND, os.getpid()) == "worker-1-bbbb"
    beats(repo, "worker-1-bbbb", SECOND, os.getpid())
    heartbeat.beat(folders(repo), "worker-1", {"status": "stopped"}, 1e9, session=FIRST)
    assert own(repo, SECOND) == "worker-1-bbbb"
    assert own(repo, FIRST[:-4] + "cccc") == "worker-1"


def test_a_first_session_whose_process_has_ended_frees_its_name_at_once(
    repo: Path, other_process: int
) -> None:
    in_use(repo)
    beats(repo, "worker-1", FIRST, other_process)
    os.kill(other_process, 9)  # not waited for yet: a zombie runs nothing
    until(lambda: not process_start.started(other_process))
    assert own(repo, SECOND) == "worker-1"


def test_another_process_with_the_same_number_is_not_the_first_session(
    repo: Path, other_process: int
) -> None:
    in_use(repo)
    beats(repo, "worker-1", FIRST, other_process)
    path = repo / ".git/ghp/agents/worker-1.json"
    record = json.loads(path.read_bytes())
    record["local"]["started"] = "1"
    path.write_text(json.dumps(record))
    assert own(repo, SECOND) == "worker-1"


def test_without_a_known_process_a_silent_session_frees_its_name(repo: Path) -> None:
    in_use(repo)
    beats(repo, "worker-1", FIRST, None)
    assert own(repo, SECOND) == "worker-1-bbbb"
    path = repo / ".git/ghp/agents/worker-1.json"
    past = path.stat().st_mtime - own_name.SILENT_FOR - 10
    os.utime(path, (past, past))
    assert own(repo, SECOND) == "worker-1"


def test_a_process_that_rests_gives_its_name_to_its_next_session(repo: Path) -> None:
    in_use(repo)
    beats(repo, "worker-1", FIRST, os.getpid())
    assert own(repo, SECOND, os.getpid()) == "worker-1"
    heartbeat.beat(folders(repo), "worker-1", {"status": "implementing"}, 1e9 + 60, session=FIRST)
    assert own(repo, SECOND, os.getpid()) == "worker-1-bbbb"


def test_the_shell_of_a_session_is_known_by_its_process(repo: Path, other_process: int) -> None:
    in_use(repo)
    beats(repo, "worker-1", FIRST, other_process)
    assert own(repo, process_start.key(other_process)) == "worker-1"
    assert own(repo, process_start.key(os.getpid())) != "worker-1"


def test_a_long_name_is_cut_to_stay_a_name(repo: Path, other_process: int) -> None:
    in_use(repo)
    name = "w" * 63
    beats(repo, name, FIRST, other_process)
    second = own_name.own(folders(repo), name, SECOND, None)
    assert second == "w" * 46 + "-bbbb"
    assert own_name.is_second(second, name)
    assert not own_name.is_second(name, name)


@pytest.mark.parametrize("name", ["../../etc/passwd", "Worker", "a\0b", "x" * 1_000])
def test_what_is_no_name_is_left_to_whoever_refuses_it(repo: Path, name: str) -> None:
    assert own_name.own(folders(in_use(repo)), name, SECOND, None) == name


# --------------------------------------------------------------------------- what it is kept


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
    env = {"CLAUDE_CODE_SESSION_ID": "12345678-abcd"}
    assert invoke("agent-whoami", other, env) == (0, "worker-1\n", "")


def test_a_second_session_keeps_its_name_in_spite_of_the_inherited_one(
    repo: Path, other_process: int
) -> None:
    in_use(repo)
    beats(repo, "worker-1", FIRST, other_process)
    env = {"GHP_AGENT": "worker-1"}
    begun = scene.find(event("codex", "start", repo), {**BARE, **env})
    assert begun is not None
    assert begun.agent == "worker-1-abcd"
    keep(begun)
    os.kill(other_process, 9)
    until(lambda: not process_start.started(other_process))
    assert agent(event("codex", "batch", repo), env) == "worker-1-abcd"
    shell = {"CODEX_THREAD_ID": "12345678-abcd"}
    assert invoke("agent-whoami", repo, shell | env) == (0, "worker-1-abcd\n", "")
    other = {"GHP_AGENT": "worker-7"}  # given to one command
    assert invoke("agent-whoami", repo, shell | other) == (0, "worker-7\n", "")


@pytest.mark.parametrize("session", ["../../../etc/passwd", "a\0b", "x" * 1_000_000, "é\n"])
def test_a_session_may_be_called_anything(repo: Path, session: str) -> None:
    in_use(repo)
    begun = scene.find(event("codex", "start", repo, session=session), BARE)
    assert begun is not None
    keep(begun)
    kept = [path.name for path in (repo / ".git/ghp/cache/sessions").iterdir()]
    assert [len(name) for name in kept] == [16]


def test_names_of_old_sessions_are_dropped_in_time(repo: Path) -> None:
    place = [str(in_use(repo) / ".git/ghp")]
    for session in ("one", "two"):
        own_name.keep(place, [session], "worker-1", 0.0)
    (first, _) = sorted((repo / ".git/ghp/cache/sessions").iterdir())
    now = first.stat().st_mtime
    os.utime(first, (now - own_name.KEPT_FOR - 10, now - own_name.KEPT_FOR - 10))
    own_name.keep(place, ["three"], "worker-1", now)
    assert not first.exists()
    assert len(list((repo / ".git/ghp/cache/sessions").iterdir())) == 2


def test_what_is_no_name_is_not_taken_for_one(repo: Path) -> None:
    in_use(repo)
    hooked = event("codex", "batch", repo)
    own_name.keep([str(repo / ".git/ghp")], [hooked.session or ""], "worker-1", 0.0)
    assert agent(hooked) == "worker-1"
    (kept,) = (repo / ".git/ghp/cache/sessions").iterdir()
    for content in (b"", b"../x", b"\xff", b"Worker"):
        kept.write_bytes(content)
        assert agent(hooked) == "codex-abcd"


@pytest.mark.slow
def test_two_sessions_that_end_alike_are_two_agents(repo: Path) -> None:
    in_use(repo)
    ids = [f"{n}0000000-0000-4000-8000-00000000beef" for n in (1, 2)]
    for session in ids:
        message = payload("claude-SessionStart-startup", repo, session_id=session)
        assert "This session is agent" in context(call("claude", message, repo))
    names = sorted(path.stem for path in (repo / ".git/ghp/agents").glob("*.json"))
    assert names == ["claude-0000beef", "claude-beef"]
    for session, name in zip(ids, ("claude-beef", "claude-0000beef"), strict=True):
        env = {"CLAUDE_CODE_SESSION_ID": session}
        assert invoke("agent-whoami", repo, env) == (0, f"{name}\n", "")


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("worker-2\n", "worker-2"), ("worker-1\n", None), ("", None), ("../x", None),
        ("worker-3", None), (None, None), ("worker", None),
    ],
)  # fmt: skip
def test_a_worktree_is_of_the_agent_that_is_named_in_it_and_at_work(
    tmp_path: Path, content: str | None, expected: str | None
) -> None:
    folders = [str(tmp_path / "ghp")]
    heartbeat.beat(folders, "worker-2", {}, 1e9, epoch=1)
    heartbeat.beat(folders, "worker-3", {"status": "stopped"}, 1e9, epoch=1)
    os.utime(tmp_path / "ghp/agents/worker-2.json", (1e9, 1e9))
    if content is not None:
        (tmp_path / "ghp-agent").write_text(content)
    limits = (1_800.0, 86_400.0)
    assert own_name.worktree_of(str(tmp_path), "worker-1", folders, 1e9, limits) == expected


def test_a_folder_in_the_place_of_a_kept_name_is_no_name(repo: Path) -> None:
    in_use(repo)
    own_name.keep(folders(repo), [FIRST], "worker-1", 1e9)
    (kept,) = (repo / ".git/ghp/cache/sessions").iterdir()
    assert own_name.find(folders(repo), FIRST) == "worker-1"
    kept.unlink()
    kept.mkdir()
    assert own_name.find(folders(repo), FIRST) == ""
