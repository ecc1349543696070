"""A new worktree gets files that git does not have, links, and its set-up command."""

from pathlib import Path

import pytest

from ghp_agents.worktrees.provision import Provisioned, provision
from tests.support.git import git
from tests.support.repos import Restored
from tests.support.road import Road, with_issue


@pytest.fixture
def road(restored: Restored) -> Road:
    return Road(restored(with_issue).repo)


def test_files_are_copied_and_linked_by_upstreams_keys(road: Road) -> None:
    road.configure(worktreeCopyFiles=[".env", "conf/local"], worktreeSymlinkFiles=["node_modules"])
    (road.folder / ".env").write_text("PORT=1\n")
    (road.folder / "conf/local").mkdir(parents=True)
    (road.folder / "conf/local/a.ini").write_text("a\n")
    (road.folder / "node_modules").mkdir()
    started = road.start("worker-1")
    assert started.furnished == Provisioned((".env", "conf/local/a.ini"), ("node_modules",))
    assert (started.path / ".env").read_text() == "PORT=1\n"
    assert (started.path / "conf/local/a.ini").read_text() == "a\n"
    assert (started.path / "node_modules").readlink() == road.folder / "node_modules"


def test_what_is_there_already_and_what_is_not_there_are_passed_over(road: Road) -> None:
    road.configure(worktreeCopyFiles=["README.md", "missing"])
    (road.folder / "README.md").write_text("half-way\n")
    started = road.start("worker-1")
    note = "`worktreeCopyFiles`: no file that git does not have matches «README.md», «missing»."
    assert started.furnished == Provisioned(notes=(note,))
    assert git(started.path, "status", "--porcelain") == ""


@pytest.mark.sample(1)
@pytest.mark.parametrize("name", ["../secret", ".git/config", "a/../../secret", "."])
def test_nothing_comes_from_or_goes_to_a_place_outside(road: Road, name: str) -> None:
    (road.folder.parent / "secret").write_text("secret\n")
    road.configure(worktreeCopyFiles=[name], worktreeSymlinkFiles=[name])
    started = road.start("worker-1")
    why = f"Skipped {name!r}: it is not a path inside the repository."
    assert started.notes == (why, why)
    assert git(started.path, "status", "--porcelain") == ""


def test_a_path_counts_from_the_repository(road: Road) -> None:
    road.configure(worktreeCopyFiles=["/etc/hostname"], worktreeSymlinkFiles=["/etc/hostname"])
    started = road.start("worker-1")
    assert started.notes == (
        "`worktreeCopyFiles`: no file that git does not have matches «/etc/hostname».",
        "Skipped '/etc/hostname': it is not a path inside the repository.",
    )


def test_a_link_that_leads_out_is_not_copied(road: Road) -> None:
    (road.folder.parent / "secret").write_text("secret\n")
    (road.folder / "link").symlink_to(road.folder.parent / "secret")
    road.configure(worktreeCopyFiles=["link"])
    started = road.start("worker-1")
    assert started.notes == ("Skipped 'link': it links to a place outside the repository.",)


@pytest.mark.slow
def test_the_set_up_command_runs_in_the_worktree_and_its_output_is_kept(road: Road) -> None:
    road.configure(worktreeSetupCommand="pwd; echo again >> ran")
    started = road.start("worker-1")
    assert started.furnished is not None
    assert started.furnished.setup is not None
    assert (started.furnished.setup.code, started.furnished.setup.output) == (0, str(started.path))
    road.start("worker-1")
    assert (started.path / "ran").read_text() == "again\n"  # once


@pytest.mark.slow
def test_a_set_up_that_fails_is_said_and_run_again_with_the_next_start(road: Road) -> None:
    road.configure(worktreeSetupCommand="echo broken >&2; echo again >> ran; exit 7")
    first = road.start("worker-1")
    assert first.furnished is not None
    assert first.furnished.setup is not None
    assert (first.furnished.setup.code, first.furnished.setup.output) == (7, "broken")
    again = road.start("worker-1")
    assert (again.path, again.how) == (first.path, "there")
    assert (first.path / "ran").read_text() == "again\nagain\n"


def test_no_set_up_runs_where_upstream_is_told_not_to(road: Road) -> None:
    road.configure(worktreeSetupCommand="touch ran", worktreeAutoSetup=False)
    assert not (road.start("worker-1").path / "ran").exists()


def test_the_set_up_command_gets_no_token(road: Road, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", "ghp_" + "a" * 36)
    road.configure(worktreeSetupCommand='echo "token: $GITHUB_TOKEN."')
    started = road.start("worker-1")
    assert started.furnished is not None
    assert started.furnished.setup is not None
    assert started.furnished.setup.output == "token: ."


@pytest.mark.slow
def test_a_bare_repository_has_nothing_to_furnish_from(road: Road, tmp_path: Path) -> None:
    bare = tmp_path / "bare.git"
    git(tmp_path, "clone", "--quiet", "--bare", str(road.folder), str(bare))
    place = tmp_path / "place"
    git(bare, "worktree", "add", "--quiet", str(place), "main")
    assert provision(Road(bare).house("worker-1").ws, place) == Provisioned()
