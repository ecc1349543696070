"""What people see without this program: a file that is out of git's way, and a branch."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from ghp_agents.core.clock import to_text
from ghp_agents.core.ids import Actor, Timestamp
from ghp_agents.ports import Snapshot
from ghp_agents.state.git import publish as publishing
from ghp_agents.state.git.store import GitRefsStore
from ghp_agents.state.git.throttle import REFUSED_PAUSE
from ghp_agents.state.record import Record
from ghp_agents.state.transact import transact
from ghp_agents.workspace import open_workspace
from tests.state.clones import one_page, store, workspace, write_presence
from tests.support.clock import ManualClock
from tests.support.git import commit, git, refs
from tests.support.hosts import hook

Clones = Callable[[int], list[Path]]
VIEW = ".ghp/agent-status.json"
BEAT = {"issue": 7, "status": "testing", "lastAction": "Ran `make` | <b>", "timestamp": "T"}


def fold(folder: Path, seq: int = 1, **fields: object) -> None:
    beat = {**BEAT, "epoch": 1, "seq": seq, **fields}
    write_presence(folder, "worker-1", beat, 1.75e9)
    store(folder).fold()


def view(folder: Path) -> object:
    path = folder / VIEW
    return json.loads(path.read_bytes())["agents"]["worker-1"]["seq"] if path.exists() else None


# ------------------------------------------------------------------------------ the view


def test_the_view_is_the_joined_document_and_git_does_not_see_it(repo: Path) -> None:
    fold(repo)
    document = json.loads((repo / VIEW).read_bytes())
    assert document["agents"] == store(repo).snapshot().agents()
    assert git(repo, "status", "--porcelain", "--ignored") == "!! .ghp/"
    fold(repo, seq=2)
    assert view(repo) == 2
    assert (repo / ".git/info/exclude").read_text().count(publishing.EXCLUDE) == 1


def test_the_view_follows_the_news_of_other_clones(clones: Clones) -> None:
    one, other = clones(2)
    fold(one)
    store(one).sync()
    assert view(other) is None
    store(other).sync()
    assert view(other) == 1


@pytest.mark.parametrize(
    "exclude",
    [None, b"", b"*.log", b"*.log\n", b"# caf\xe9\r\n*.log\r\n", b"/.ghp/agent-status.json"],
)
def test_what_a_person_excludes_stays_excluded(repo: Path, exclude: bytes | None) -> None:
    path = repo / ".git/info/exclude"
    if exclude is not None:
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(exclude)
    fold(repo)
    fold(repo, seq=2)
    before = exclude or b""
    assert path.read_bytes().startswith(before)
    assert path.read_bytes().splitlines().count(b"/.ghp/agent-status.json") == 1
    publishing.remove_view(workspace(repo))
    assert not (repo / VIEW).exists()
    assert not (repo / ".ghp").exists()
    assert b"agent-status" not in path.read_bytes()
    if b"agent-status" not in before:
        assert path.read_bytes().splitlines() == before.splitlines()


def test_a_shared_exclude_file_stays_a_link_to_it(repo: Path, tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.write_text("*.log\n")
    (repo / ".git/info").mkdir(exist_ok=True)
    (repo / ".git/info/exclude").symlink_to(shared)
    fold(repo)
    assert (repo / ".git/info/exclude").is_symlink()
    assert shared.read_text() == f"*.log\n{publishing.EXCLUDE}\n"


def test_a_tracked_file_is_the_users_and_not_touched(repo: Path) -> None:
    commit(repo, {VIEW: "mine\n"})
    fold(repo)
    publishing.remove_view(workspace(repo))
    assert (repo / VIEW).read_text() == "mine\n"
    assert git(repo, "status", "--porcelain") == ""


def test_a_link_in_the_place_of_the_folder_leads_nowhere(repo: Path, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (repo / ".ghp").symlink_to(tmp_path / "outside")
    fold(repo)
    assert list((tmp_path / "outside").iterdir()) == []


def test_a_link_in_the_place_of_the_view_is_replaced_and_not_followed(
    repo: Path, tmp_path: Path
) -> None:
    (tmp_path / "outside").write_text("theirs")
    (repo / ".ghp").mkdir()
    (repo / VIEW).symlink_to(tmp_path / "outside")
    fold(repo)
    assert (tmp_path / "outside").read_text() == "theirs"
    assert view(repo) == 1


def test_the_view_can_be_turned_off(repo: Path) -> None:
    (repo / ".ghp").mkdir()
    (repo / ".ghp/config.json").write_text('{"agents": {"view": false}}')
    fold(repo)
    assert [path.name for path in (repo / ".ghp").iterdir()] == ["config.json"]
    assert not (repo / ".git/info/exclude").exists()


def test_a_view_that_cannot_be_written_stops_no_fold(repo: Path) -> None:
    (repo / ".ghp").write_text("a file of the user's")
    fold(repo)
    assert store(repo).snapshot(4e9).agents().keys() == {"worker-1"}
    assert (repo / ".ghp").read_text() == "a file of the user's"


# ------------------------------------------------------------------------------ the branch


def published(remote: Path) -> str:
    return git(remote, "show", "ghp-state:README.md")


@pytest.mark.slow
def test_the_published_branch_has_the_document_and_a_page(clones: Clones, remote: Path) -> None:
    one, other = clones(2)
    fold(one)
    fold(other, status="idle")
    store(other).sync()
    report = store(one).publish(one_page)
    assert (report.trouble, report.notes) == (None, ("Published as branch ghp-state.",))
    names = git(remote, "ls-tree", "-r", "--name-only", "ghp-state").splitlines()
    assert names == [VIEW, "README.md"]
    document = json.loads(git(remote, "show", f"ghp-state:{VIEW}"))
    assert document["agents"] == store(one).snapshot().agents()
    assert published(remote) == f"{publishing.MARK}\n# 1 of 1 agents"


@pytest.mark.slow
def test_publishing_the_same_again_makes_no_commit(clone: Path, remote: Path) -> None:
    fold(clone)
    store(clone).publish(one_page)
    head = refs(remote)["refs/heads/ghp-state"]
    assert store(clone).publish(one_page).notes == ("The published branch is up to date.",)
    assert refs(remote)["refs/heads/ghp-state"] == head


@pytest.mark.slow
def test_many_may_publish_and_the_last_one_is_right(clones: Clones, remote: Path) -> None:
    one, other = clones(2)
    for seq, folder in enumerate((one, other, one, other), 1):
        store(folder).sync()
        fold(folder, seq=seq)
        assert store(folder).publish(one_page).trouble is None
        document = json.loads(git(remote, "show", f"ghp-state:{VIEW}"))
        assert document["agents"]["worker-1"]["seq"] == seq
    assert git(remote, "rev-list", "--count", "ghp-state") == "4"


def test_a_branch_of_that_name_that_is_not_ours_is_left_alone(clone: Path, remote: Path) -> None:
    git(remote, "branch", "ghp-state", "main")
    fold(clone)
    report = store(clone).publish(one_page)
    assert report.permanent
    assert report.trouble == "the remote has a branch ghp-state that ghp-agents did not create"
    assert refs(remote)["refs/heads/ghp-state"] == refs(remote)["refs/heads/main"]


def test_a_host_that_refuses_the_branch_has_the_state_all_the_same(
    clone: Path, remote: Path
) -> None:
    hook(remote, "update", 'case "$1" in refs/heads/*) echo "protected" >&2; exit 1;; esac\n')
    fold(clone)
    report = store(clone).publish(one_page)
    assert report.permanent
    assert "protected" in str(report.trouble)
    assert any(ref.startswith("refs/ghp/clone/") for ref in refs(remote))


@pytest.mark.slow
def test_a_refused_branch_is_tried_again_after_an_hour_and_at_once_for_who_asks(
    clone: Path, remote: Path
) -> None:
    clock = ManualClock()
    ours = GitRefsStore(open_workspace(clone, {}, clock))
    pushes = remote.parent / "pushes"
    assert ours.publish(one_page).trouble is None

    def tries(*, create: bool) -> int:
        fold(clone, seq=int(clock.now()))
        pushes.write_text("")
        assert ours.publish(one_page, create=create).permanent == create
        return pushes.read_text().count("refs/heads/ghp-state")

    refuses = f'case "$1" in refs/heads/*) echo "$1" >> {pushes}; echo "no" >&2; exit 1;; esac\n'
    hook(remote, "update", refuses)
    assert [tries(create=False), tries(create=False), tries(create=True)] == [1, 0, 1]
    clock.wait(REFUSED_PAUSE)
    assert tries(create=False) == 1
    hook(remote, "update", "exit 0\n")
    fold(clone, seq=1)
    assert ours.publish(one_page).notes == ("Published as branch ghp-state.",)


def test_a_remote_that_is_away_is_told(clone: Path, remote: Path) -> None:
    fold(clone)
    assert store(clone).sync().pushed
    remote.rename(remote.with_suffix(".away"))
    assert GitRefsStore(workspace(clone)).publish(one_page).trouble


def say_note(folder: Path, content: bytes) -> None:
    ws, files = workspace(folder), ((".ghp/notes/12/12ab0000.md", content),)

    def decide(snapshot: Snapshot) -> tuple[None, list[Record]]:
        at, clock = Timestamp(to_text(ws.clock.now())), snapshot.clock + 1
        return None, [Record("remember", Actor("a"), "N-12ab", "12ab", at, clock, files)]

    transact(store(folder), decide)


@pytest.mark.slow
def test_notes_are_published_and_what_is_forgotten_is_written_over(
    clone: Path, remote: Path
) -> None:
    fold(clone)
    for content in (b"Port 80", b"forgotten"):
        say_note(clone, content)
        assert store(clone).publish(one_page).trouble is None
        published = "refs/heads/ghp-state:.ghp/notes/12/12ab0000.md"
        assert git(remote, "show", published) == content.decode()
    assert "The published branch is up to date." in store(clone).publish(one_page).notes
