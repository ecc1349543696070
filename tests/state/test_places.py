"""The state works wherever people work, and nothing of theirs is changed by it."""

import hashlib
import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from ghp_agents.core.ids import CloneId
from ghp_agents.git import discovery
from ghp_agents.hotpath import presence_file as presencefile
from ghp_agents.hotpath.locate import locate
from ghp_agents.state.git import repack as upkeep
from tests.contracts.state_store import everything, exchange
from tests.state.clones import one_page, private, said, say, store, workspace, write_presence
from tests.state.conftest import Start
from tests.state.places import PLACES, Ground, linked_worktree, ordinary
from tests.state.worker import CHECKOUT, finish
from tests.support import repos
from tests.support.git import commit, git, refs
from tests.support.hosts import DENIED, behind_ssh, executable
from tests.support.mounts import MOUNTING
from tests.support.thorough import mostly_slow

Clones = Callable[[int], list[Path]]
Place = Callable[[Ground], Path]
EVERYTHING = ("say:one", "beat:worker-1:1", "fold", "sync", "say:two", "fold", "sync")


@pytest.fixture
def ground(tmp_path: Path, templates: repos.Templates) -> Ground:
    return Ground(tmp_path, templates)


def use(folder: Path) -> None:
    """Everything that a store can do."""
    say(folder, "one", "zwölf")
    write_presence(folder, "worker-1", {"status": "idle", "epoch": 1, "seq": 1}, 1.75e9)
    assert store(folder).fold() in (0, 1)
    assert store(folder).sync().trouble is None
    assert store(folder).publish(one_page).trouble is None
    write_presence(folder, "worker-1", {"status": "done", "epoch": 1, "seq": 2}, 1.75e9)
    assert store(folder).sync().pushed
    assert upkeep.run(workspace(folder), private(folder))
    assert store(folder).sync(push=False).trouble is None
    notes = [entry.object for entry in store(folder).ledger() if entry.event == "note"]
    assert notes == ["one", "zwölf"]
    assert store(folder).snapshot(1.0).agents() == {}


def listing(*folders: Path) -> dict[str, object]:
    """All that is the user's: every file with its mode and content, every link and folder."""
    entries: dict[str, object] = {}
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            ours = path.relative_to(folder).parts
            if "ghp" in ours[:3] or ".ghp" in ours or "info" in ours[-2:]:
                continue  # ours, and the one line of ours in info/exclude
            status = path.lstat()
            content = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
            entries[str(path)] = (stat.filemode(status.st_mode), content)
            if path.name == "index":
                entries[f"{path} written"] = status.st_mtime_ns
    return entries


# ------------------------------------------------------------------------------ every kind of place


@pytest.mark.slow
@pytest.mark.parametrize(
    "place", mostly_slow(PLACES, every=8), ids=[place.__name__ for place in PLACES]
)
def test_the_state_works_here_and_nothing_of_the_users_is_changed(
    ground: Ground, place: Place
) -> None:
    folder = place(ground)
    other = ground.clone("other")
    location = locate(str(folder), {}) or discovery.find_with_git(folder, {})
    assert location is not None
    theirs = {folder, Path(location.common_dir)}
    before, refs_before = listing(*theirs), refs(folder)
    use(folder)
    assert listing(*theirs) == before
    assert refs(folder) == refs_before
    assert list(ground.folder.glob("hook-ran-*")) == []

    store(other).sync()
    assert said(other) == said(folder) == ["one", "zwölf"]
    assert everything(store(other))[0] == everything(store(folder))[0]  # type: ignore[index]
    say(other, "three")
    exchange([store(other), store(folder)])
    assert said(folder) == ["one", "three", "zwölf"]
    git(private(folder).path, "fsck", "--strict")
    ours = {ref.split("/")[1] for ref in refs(ground.remote)}
    assert ours == {"heads", "ghp"}
    assert set(refs(ground.remote, "refs/heads")) == {"refs/heads/main", "refs/heads/ghp-state"}


@pytest.mark.slow
def test_what_the_user_sees_of_it_is_nothing(ground: Ground) -> None:
    folder = ordinary(ground)
    shown = [git(folder, *args) for args in SIGHTS]
    use(folder)
    assert [git(folder, *args) for args in SIGHTS] == shown
    assert (folder / ".ghp/agent-status.json").exists()
    git(folder, "clean", "-xdff", "--quiet")
    git(folder, "fetch", "--quiet", "--prune", "origin", "refs/heads/main")
    assert said(folder) == ["one", "zwölf"]
    fresh = ground.folder / "fresh"
    git(ground.folder, "clone", "--quiet", str(ground.remote), str(fresh))
    assert set(refs(fresh)) == {
        "refs/heads/main", "refs/remotes/origin/HEAD", "refs/remotes/origin/main",
        "refs/remotes/origin/ghp-state",
    }  # fmt: skip


SIGHTS = (
    ("status", "--porcelain", "--branch"),
    ("log", "--all", "--oneline"),
    ("for-each-ref",),
    ("reflog", "--all"),
    ("count-objects", "-v"),
    ("stash", "list"),
    ("fsck", "--full"),
    ("config", "--list", "--local"),
)


def test_all_worktrees_of_a_clone_are_one_clone(ground: Ground) -> None:
    linked = linked_worktree(ground)
    main = ground.folder / "clone"
    say(linked, "one")
    write_presence(linked, "worker-1", {"epoch": 1, "seq": 1}, 1.75e9)
    assert store(main).fold() in (0, 1)
    assert said(main) == ["one"]
    assert store(main).snapshot().clone == store(linked).snapshot().clone
    git(main, "worktree", "remove", "--force", str(linked))
    assert said(main) == ["one"]


# ------------------------------------------------------------------------------ inside of hooks


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["pre-commit", "post-commit", "commit-msg", "reference-transaction"]
)
def test_inside_a_hook_of_a_commit_the_state_works_and_the_commit_is_the_users(
    ground: Ground, name: str
) -> None:
    folder = linked_worktree(ground)
    hook = ground.folder / "clone/.git/hooks" / name
    once = f"[ -e {ground.folder}/once ] && exit 0; touch {ground.folder}/once\n"
    worker = f"{sys.executable} -m tests.state.worker"
    executable(
        hook, f"{once}export PYTHONPATH={CHECKOUT}\n{worker} {folder} {' '.join(EVERYTHING)}\n"
    )
    (folder / "b").write_text("not for this commit")
    commit(folder, {"a": "1"}, "Mine")
    assert git(folder, "log", "-1", "--format=%s %an", "--name-only") == "Mine Test Person\n\na"
    assert git(folder, "status", "--porcelain") == "?? b"
    assert said(folder) == ["one", "two"]
    assert not store(folder).sync().pushed, "the sync inside of the hook has sent everything"


@pytest.mark.slow
def test_inside_the_hook_of_a_push_the_state_is_pushed_as_well(ground: Ground) -> None:
    folder = ordinary(ground)
    worker = f"{sys.executable} -m tests.state.worker"
    script = f"export PYTHONPATH={CHECKOUT}\n{worker} {folder} {' '.join(EVERYTHING)}\n"
    executable(folder / ".git/hooks/pre-push", script)
    commit(folder, {"a": "1"}, "Mine")
    git(folder, "push", "--quiet")
    other = ground.clone("other")
    store(other).sync()
    assert said(other) == ["one", "two"]
    assert git(ground.remote, "log", "-1", "--format=%s", "main") == "Mine"


@pytest.mark.slow
def test_inside_the_hook_of_another_repository_it_is_this_ones_state(
    ground: Ground, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, other = ground.clone("one"), ground.clone("other")
    before = listing(other / ".git")
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(other / ".git/index"))
    monkeypatch.setenv("GIT_OBJECT_DIRECTORY", str(other / ".git/objects"))
    monkeypatch.setenv("GIT_WORK_TREE", str(other))
    use(folder)
    monkeypatch.undo()
    assert not (other / ".git/ghp").exists()
    assert listing(other / ".git") == before
    assert said(folder) == ["one", "zwölf"]


# ------------------------------------------------------------------------------ twins


def copy(folder: Path, name: str) -> Path:
    copied = shutil.copytree(folder, folder.parent / name, symlinks=True)
    return repos.from_elsewhere(Path(copied))


@pytest.mark.slow
@pytest.mark.parametrize("first", ["the copy", "the original"])
@pytest.mark.parametrize("news", ["both have", "only the first has"])
def test_a_copied_clone_parts_from_the_other_and_nothing_is_lost(
    ground: Ground, first: str, news: str
) -> None:
    original = ground.clone()
    say(original, "before")
    store(original).sync()
    twin = copy(original, "twin")
    one, other = (twin, original) if first == "the copy" else (original, twin)
    say(one, "one")
    if news == "both have":
        say(other, "other")
    name = private(one).clone
    assert store(one).sync().notes == ()
    report = store(other).sync()
    assert (report.trouble, report.pushed) == (None, True)
    (note,) = report.notes
    assert "Another clone has the same id" in note
    assert private(other).clone in note
    assert private(one).clone == name
    assert private(other).clone != name
    reports = exchange([store(one), store(other)])
    assert [report.notes for report in reports] == [()] * 4
    expected = ["before", "one", "other"] if news == "both have" else ["before", "one"]
    assert said(one) == said(other) == expected
    assert store(one).ledger() == store(other).ledger()


@pytest.mark.slow
def test_a_twin_that_shows_only_when_we_push_is_found_as_well(
    ground: Ground, tmp_path: Path
) -> None:
    original = ground.clone()
    say(original, "before")
    store(original).sync()
    twin = copy(original, "twin")
    say(original, "one")
    say(twin, "other")
    # Between our fetch and our push, the twin pushes.
    worker = f"{sys.executable} -m tests.state.worker"
    push_first = (
        f"[ -e {tmp_path}/once ] || {{ touch {tmp_path}/once; cd {CHECKOUT}; "
        f"env -u GIT_DIR {worker} {twin} sync >&2 </dev/null; }}"
    )
    behind_ssh(original, ground.remote, push=push_first)
    report = store(original).sync()
    assert (report.trouble, report.pushed, len(report.notes)) == (None, True, 1)
    store(twin).sync()
    assert said(original) == said(twin) == ["before", "one", "other"]


@pytest.mark.slow
@pytest.mark.parametrize("killed", ["before it had another name", "when it had one"])
def test_a_parting_that_was_killed_half_way_is_finished_by_the_next_sync(
    ground: Ground, killed: str
) -> None:
    original = ground.clone()
    say(original, "before")
    store(original).sync()
    twin = copy(original, "twin")
    say(original, "one")
    say(twin, "other")
    store(original).sync()
    state = private(twin)
    half = state.with_clone(CloneId("123456789abc"))
    git(state.path, "update-ref", half.ref, state.ref)
    if killed == "when it had one":
        (state.path / "ghp-clone").write_text(f"{half.clone}\n")
    say(twin, "later")
    assert store(twin).sync().trouble is None
    assert private(twin).clone != state.clone
    store(original).sync()
    assert said(original) == said(twin) == ["before", "later", "one", "other"]


@pytest.mark.slow
def test_a_clone_restored_from_a_backup_loses_nothing_that_was_sent(ground: Ground) -> None:
    folder = ground.clone()
    say(folder, "one")
    store(folder).sync()
    backup = copy(folder, "backup")
    say(folder, "two")
    store(folder).sync()
    shutil.rmtree(folder)
    backup.rename(folder)
    say(folder, "three")
    assert store(folder).sync().notes
    assert said(folder) == ["one", "three", "two"]


@pytest.mark.slow
def test_a_copy_that_never_said_anything_is_no_twin(ground: Ground) -> None:
    original = ground.clone()
    assert store(original).sync().trouble is None
    twin = copy(original, "twin")
    say(original, "one")
    say(twin, "two")
    exchange([store(original), store(twin)])
    assert said(original) == said(twin) == ["one", "two"]


# ------------------------------------------------------------------------------ rights


@pytest.mark.slow
def test_who_may_fetch_but_not_push_hears_the_others_and_keeps_what_is_theirs(
    ground: Ground,
) -> None:
    reader, writer = ground.clone("reader"), ground.clone("writer")
    behind_ssh(reader, ground.remote, push=DENIED)
    say(writer, "theirs")
    store(writer).sync()
    say(reader, "mine")
    report = store(reader).sync()
    assert (report.fetched, report.pushed, report.news, report.unsent) == (True, False, 1, 1)
    assert report.permanent
    assert "Permission to owner/repo.git denied" in str(report.trouble)
    assert said(reader) == ["mine", "theirs"]
    assert store(reader).sync_status().permanent
    store(writer).sync()
    assert said(writer) == ["theirs"]
    git(reader, "remote", "set-url", "origin", str(ground.remote))
    assert store(reader).sync().pushed
    store(writer).sync()
    assert said(writer) == ["mine", "theirs"]


# ------------------------------------------------------------------------------ the user's own git


CLEANING = """\
while read line; do
  git gc --quiet --prune=now && git pack-refs --all --prune && git worktree prune || exit 1
  echo cleaned
done
"""


@pytest.mark.slow
def test_a_user_who_cleans_up_all_the_time_loses_nothing_of_theirs_or_ours(
    ground: Ground, start: Start
) -> None:
    folder = ordinary(ground)
    commit(folder, {"a": "1"})
    user = subprocess.Popen(
        ["sh", "-c", CLEANING], cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    words = [f"say:{number}" for number in range(8)]
    ours = [start(folder, *words[part::2], "fold", "sync") for part in (0, 1)]
    cleaned, _ = user.communicate("go\n" * 12, timeout=120)
    for process in ours:
        finish(process)
    assert user.returncode == 0
    assert cleaned.count("cleaned") == 12
    assert said(folder) == [str(number) for number in range(8)]
    git(folder, "fsck", "--full", "--strict")
    git(private(folder).path, "fsck", "--full", "--strict")


# ------------------------------------------------------------------------------ read-only


def in_a_sandbox(folder: Path, command: list[str]) -> list[str]:
    """`command`, for which the git folder of `folder` is read-only, as for a sandboxed agent."""
    script = 'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" "$0" && exec "$@"'
    return [*MOUNTING, "sh", "-c", script, str(folder / ".git"), *command]


@pytest.fixture
def sandbox(ground: Ground) -> Path:
    """A clone that has said something, on a machine where folders can be made read-only."""
    folder = ordinary(ground)
    say(folder, "before")
    try:
        tried = subprocess.run(
            in_a_sandbox(folder, ["touch", f"{folder}/.git/x"]), capture_output=True, text=True
        )
    except FileNotFoundError:
        pytest.skip("there is no `unshare` here to make a folder read-only with")
    if "Read-only file system" not in tried.stderr:
        pytest.skip(f"nothing can be mounted read-only here: {tried.stderr.strip()}")
    return folder


def sandboxed(folder: Path, *actions: str) -> None:
    command = [sys.executable, "-m", "tests.state.worker", str(folder), *actions]
    done = subprocess.run(
        in_a_sandbox(folder, command), cwd=CHECKOUT, capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == list(actions)


@pytest.mark.slow
def test_where_git_is_read_only_what_is_said_waits_outside_for_the_next_command(
    sandbox: Path,
) -> None:
    before = listing(sandbox / ".git")
    ours = sorted((sandbox / ".git/ghp").rglob("*"))
    sandboxed(sandbox, "say:inside", "beat:worker-1:1", "say:again", "beat:worker-1:2")
    assert listing(sandbox / ".git") == before
    assert sorted((sandbox / ".git/ghp").rglob("*")) == ours

    ws = workspace(sandbox)
    assert said(sandbox) == ["again", "before", "inside"]
    assert store(sandbox).sync_status().waiting == 2
    assert presencefile.newest(ws.folders, "worker-1") == presencefile.presence(
        str(ws.spare_dir), "worker-1"
    )
    assert store(sandbox).fold() == 3
    assert store(sandbox).sync_status().waiting == 0
    assert list((ws.spare_dir / "outbox").iterdir()) == []
    assert store(sandbox).snapshot(4e9).agents()["worker-1"]["seq"] == 2
    assert store(sandbox).fold() == 0


@pytest.mark.slow
def test_a_sandbox_in_a_fresh_clone_needs_nothing_to_be_there(
    ground: Ground, sandbox: Path
) -> None:
    fresh = ground.clone("fresh")
    sandboxed(fresh, "say:inside", "beat:worker-1:1")
    assert not (fresh / ".git/ghp").exists()
    assert said(fresh) == ["inside"]
    assert store(fresh).fold() == 2


@pytest.mark.slow
def test_what_cannot_be_kept_anywhere_is_an_error_with_a_hint(sandbox: Path) -> None:
    command = [sys.executable, "-m", "tests.state.worker", str(sandbox), "say:inside"]
    done = subprocess.run(
        in_a_sandbox(sandbox, command), cwd=CHECKOUT, capture_output=True, text=True, timeout=60,
        env=os.environ | {"GHP_STATE_DIR": "/proc/nowhere"},
    )  # fmt: skip
    assert done.returncode == 1
    assert "GhpError: Nothing was recorded" in done.stderr
    assert said(sandbox) == ["before"]
