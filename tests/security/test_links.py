"""Nothing of ours is written or read through a link, and our folders are no links that lead out.

Whoever packs a repository into an archive can put links, and pipes, in the place of our files.
"""

import contextlib
import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from ghp_agents.core.files import locked, write_atomically, write_durably
from ghp_agents.hotpath import background, own_name
from ghp_agents.hotpath import error_log as mishaps
from ghp_agents.hotpath import heartbeat as pulse
from ghp_agents.hotpath import implicit_leases as touched
from ghp_agents.hotpath import news_flag as bell
from ghp_agents.hotpath import policy_cache as rulebook
from ghp_agents.hotpath import presence_file as presencefile
from ghp_agents.state.git import fold as folding
from tests.support import hooks
from tests.support.ghp import Result, invoke, run_ghp
from tests.support.hooks import SILENT
from tests.support.in_home import in_home
from tests.support.traces import listing

SESSION = "12345678-abcd"


@pytest.fixture
def ours(repo: Path) -> Path:
    """Our folder in a repository that is in use."""
    hooks.set_up(repo, "w1")
    assert invoke("agent-heartbeat --action Works", repo).code == 0
    return repo / ".git/ghp"


def _beat(ours: Path) -> object:
    return pulse.beat([str(ours)], "w1", {"lastAction": "Works on"}, time.time() + 60)


def _wake(ours: Path) -> object:
    return background.start_sync([str(ours)], {"PATH": "/nowhere"}, time.time(), {}, urgent=True)


def _lock(ours: Path) -> None:
    with locked(ours / "state.lock"):
        return


def _mishap(ours: Path) -> object:
    return mishaps.log_error(
        ValueError("x"), str(ours.parent.parent), {"GHP_STATE_DIR": "/dev/null"}
    )


WRITERS: dict[str, Callable[[Path], object]] = {
    "agents/.w1.lock": _beat,
    "log.jsonl": _mishap,
    "cache/bell/w1": lambda ours: bell.set_flag([str(ours)], "w1"),
    "cache/started": _wake,
    f"cache/sessions/{own_name._digest(SESSION)}": lambda ours: own_name.keep(
        [str(ours)], [SESSION], "w1", 0.0
    ),
    "cache/due": lambda ours: folding.stamp(ours / "cache/due", 1.0),
    "state.lock": _lock,
    f"touched/{touched.LOCK}": lambda ours: touched._Alone(str(ours)),
    "rulebook.json": lambda ours: rulebook.keep(str(ours), "own", {}, {}),
    "settings.json": lambda ours: write_atomically(ours / "settings.json", b"{}"),
    "durable": lambda ours: write_durably(ours / "durable", b"{}"),
    "agents/w1.json": lambda ours: presencefile.write([str(ours)], [{}], "w1", b"{}"),
}


@pytest.mark.parametrize("leads_somewhere", [True, False])
@pytest.mark.parametrize("name", WRITERS)
def test_nothing_is_written_through_a_link_in_the_place_of_a_file_of_ours(
    ours: Path, tmp_path: Path, name: str, leads_somewhere: bool
) -> None:
    target = tmp_path / "outside"
    if leads_somewhere:
        target.write_text("# mine\n")
    (ours / name).parent.mkdir(parents=True, exist_ok=True)
    (ours / name).unlink(missing_ok=True)
    (ours / name).symlink_to(target)
    with contextlib.suppress(OSError):  # a link there may be an error
        WRITERS[name](ours)
    assert target.exists() is leads_somewhere
    assert not leads_somewhere or target.read_text() == "# mine\n"


def test_a_temporary_file_has_a_name_that_nobody_can_guess_and_is_new(tmp_path: Path) -> None:
    from ghp_agents.hotpath import own_file as ownfile

    path = str(tmp_path / "w1.json")
    names = {ownfile.make_beside(path, b"x") for _ in range(20)}
    assert len(names) == 20
    for name in names:
        assert Path(name).stat().st_mode & 0o777 == 0o600
        assert str(os.getpid()) not in Path(name).name.removeprefix(".w1.json.").split(".")


def test_what_is_kept_is_not_read_through_a_link(ours: Path, tmp_path: Path) -> None:
    presence = ours / "agents/w1.json"
    presence.rename(tmp_path / "elsewhere.json")
    presence.symlink_to(tmp_path / "elsewhere.json")
    assert presencefile.presence(str(ours), "w1") is None


@pytest.mark.slow
def test_a_pipe_in_the_place_of_a_file_stops_no_hook(ours: Path, repo: Path) -> None:
    kept = (in_home(repo, name) for name in ("settings.json", "rulebook.json"))
    for path in (ours / "agents/w1.json", ours / "log.jsonl", *kept):
        path.unlink(missing_ok=True)
        path.parent.mkdir(parents=True, exist_ok=True)
        os.mkfifo(path)
    env = {"GHP_AGENT": "w1"}
    payload = hooks.write(repo / "README.md", repo)
    assert hooks.call("claude", payload, repo, env, timeout=20).code == 0
    assert run_ghp("agent-heartbeat --action Works", repo, env, timeout=20).code == 0


# ------------------------------------------------------------------------------- folders


@pytest.mark.parametrize("name", ["", "/agents", "/cache", "/touched", "/outbox", "/state.git"])
def test_a_folder_of_ours_that_is_a_link_out_is_refused(
    repo: Path, tmp_path: Path, name: str
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    link = Path(f"{repo}/.git/ghp{name}")
    link.parent.mkdir(exist_ok=True)
    link.symlink_to(outside)
    assert hooks.call("claude", hooks.payload("claude-SessionStart-startup", repo), repo,
                      {"GHP_AGENT": "w1"}) == SILENT  # fmt: skip
    assert invoke("agent-heartbeat --as w1", repo) == Result(0, "", "")
    assert invoke("agent-status", repo) == Result(
        3,
        "",
        f"Error: {link} is a link out of the repository's git folder; nothing was written through "
        "it.\n"
        "Hint: Remove the link and run the command again.\n",
    )
    assert listing(outside) == {}


def test_a_link_that_stays_in_the_git_folder_is_used(repo: Path) -> None:
    (repo / ".git/kept").mkdir()
    (repo / ".git/ghp").symlink_to("kept")
    hooks.set_up(repo, "w1")
    assert invoke("agent-heartbeat --action Works", repo).code == 0
    assert (repo / ".git/kept/agents/w1.json").exists()
