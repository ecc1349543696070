"""A worktree is removed without losing what only it has."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from ghp_agents.core.errors import GhpError, RefusedError
from ghp_agents.git import worktree_admin
from ghp_agents.git.worktree_admin import Checkout
from ghp_agents.wiring import App
from ghp_agents.workspace import Workspace
from ghp_agents.worktrees import kept, provisioned_files, removal
from ghp_agents.worktrees.removal import Removed
from tests.support.clock import ManualClock
from tests.support.git import commit, git

IGNORED = "notes/\n*.env\nbuild/\nnode_modules/\n*.pyc\n"


class Place:
    """A clone with a worktree of an agent."""

    def __init__(self, repo: Path) -> None:
        self.repo, self.path, self.clock = repo, repo.parent / "place", ManualClock()
        commit(repo, {"build/make.sh": "make\n", "a.txt": "one\n"})
        commit(repo, {".gitignore": IGNORED})
        git(repo, "worktree", "add", "--quiet", "-b", "agent/w-1/1-a", str(self.path))

    @property
    def ws(self) -> Workspace:
        return App(self.repo, os.environ, name="@me", clock=self.clock).ws

    @property
    def checkout(self) -> Checkout:
        (found,) = [x for x in worktree_admin.listed(self.repo) if x.path == self.path]
        return found

    def write(self, files: dict[str, str]) -> None:
        for name, content in files.items():
            (self.path / name).parent.mkdir(parents=True, exist_ok=True)
            (self.path / name).write_text(content)

    def why_kept(self) -> str:
        return removal.why_kept(self.ws, self.checkout, self.repo)

    def remove(self) -> Removed:
        return removal.remove(self.ws, self.checkout, self.repo)

    @property
    def kept(self) -> list[Path]:
        """The folders of what was kept."""
        return sorted(Path.home().glob(f".ghp/worktrees/*/{kept.FOLDER}/*"))


@pytest.fixture
def place(repo: Path) -> Place:
    return Place(repo)


def tree(folder: Path) -> dict[str, str]:
    """All files and links below a folder, without those of git folders."""
    return {
        str(path.relative_to(folder)): f"-> {path.readlink()}" if path.is_symlink()
        else path.read_text()
        for path in sorted(folder.rglob("*"))
        if (path.is_symlink() or path.is_file()) and ".git" not in path.parts
    }  # fmt: skip


def test_a_worktree_with_nothing_of_its_own_goes_without_a_word(place: Place) -> None:
    assert place.remove() == Removed()
    assert not place.path.exists()
    assert len(worktree_admin.listed(place.repo)) == 1
    assert place.kept == []


def test_what_only_it_has_is_kept_and_what_can_be_had_again_is_not(place: Place) -> None:
    (place.repo / "main.env").write_text("M=1\n")
    place.write({"main.env": "M=1\n"})  # the main worktree has it, too
    with provisioned_files.recorded(place.ws, place.path) as names:
        place.write({"same.env": "A=1\n", "own.env": "A=1\n", "sub/put.env": "A=1\n"})
        names += ["same.env", "own.env"]
    place.write({
        "own.env": "A=2\n",  # changed since
        "notes/plan.md": "hours\n", "notes/deep/b.md": "more\n",
        "a.pyc": "x", "node_modules/m/index.js": "x\n",
        "build/local.env": "B=1\n",  # of a committed folder
    })  # fmt: skip
    (place.path / "notes/run.sh").write_text("#!/bin/sh\n")
    (place.path / "notes/run.sh").chmod(0o751)
    (place.path / "notes/out").symlink_to("/etc")
    (place.path / "sub/gone.env").symlink_to("nowhere")
    git(place.path, "update-index", "--assume-unchanged", "a.txt")
    (place.path / "a.txt").write_text("two\n")  # git shows no change
    (note,) = place.remove().notes
    (folder,) = place.kept
    assert note == (
        f"Only the worktree {place.path} had a.txt, build/local.env, notes, own.env, sub/gone.env: "
        f"kept for 30 days in {folder}."
    )
    assert tree(folder) == {
        "a.txt": "two\n", "build/local.env": "B=1\n", "own.env": "A=2\n",
        "notes/plan.md": "hours\n", "notes/deep/b.md": "more\n", "notes/run.sh": "#!/bin/sh\n",
        "notes/out": "-> /etc", "sub/gone.env": "-> nowhere",
    }  # fmt: skip
    assert (folder / "notes/run.sh").stat().st_mode & 0o777 == 0o751
    assert folder.stat().st_mode & 0o777 == 0o700
    assert not place.path.exists()


@pytest.mark.slow
def test_a_repository_inside_is_kept_unless_a_remote_has_all_of_it(place: Place) -> None:
    for name in ("build2/x", "notes/clone", "node_modules/own", "node_modules/copy",
                 "node_modules/clean"):  # fmt: skip
        git(place.repo.parent, "clone", "--quiet", str(place.repo), str(place.path / name))
    commit(place.path / "node_modules/own", {"b.txt": "b\n"})
    git(place.path / "node_modules/copy", "remote", "remove", "origin")
    assert place.why_kept() == "build2/x/ is not committed there"
    commit(place.path, {".gitignore": f"{IGNORED}build2\n"})
    place.remove()
    (folder,) = place.kept
    assert {str(dot.parent.relative_to(folder)) for dot in folder.rglob(".git")} == {
        "build2/x", "notes/clone", "node_modules/own", "node_modules/copy",
    }  # fmt: skip


def _detached(place: Place) -> str:
    git(place.path, "checkout", "--quiet", "--detach")
    commit(place.path, {"lost.txt": "x\n"})
    git(place.path, "commit", "--quiet", "--amend", "--message", "Again")
    oid = git(place.path, "rev-parse", "HEAD")
    git(place.path, "checkout", "--quiet", "agent/w-1/1-a")
    return f"no branch has its commit {oid[:12]}: `git branch NAME {oid[:12]}` keeps that"


def _own_ref(place: Place) -> str:
    tree_oid = git(place.path, "rev-parse", "HEAD^{tree}")
    oid = git(place.path, "commit-tree", tree_oid, "-m", "Aside")
    git(place.path, "update-ref", "refs/worktree/aside", oid)
    return f"no branch has its commit {oid[:12]}: `git branch NAME {oid[:12]}` keeps that"


def _merge(place: Place) -> str:
    git_dir = Path(git(place.path, "rev-parse", "--absolute-git-dir"))
    (git_dir / "MERGE_HEAD").write_text(git(place.path, "rev-parse", "HEAD") + "\n")
    return "a merge is in progress there"


def _locked(place: Place) -> str:
    git(place.repo, "worktree", "lock", "--reason", "on a disk", str(place.path))
    return f"it is locked («on a disk»): `git worktree unlock {place.path}`"


def _inner(place: Place) -> str:
    inner = place.path / "notes/inner"
    git(place.path, "worktree", "add", "--quiet", "--detach", str(inner))
    return f"another worktree is inside of it: `git worktree remove {inner}`"


def _changed(place: Place) -> str:
    (place.path / "a.txt").write_text("another\n")
    return "a.txt is not committed there"


@pytest.mark.parametrize("change", [_detached, _own_ref, _merge, _locked, _inner, _changed])
def test_what_cannot_be_moved_keeps_it_and_is_named(
    place: Place, change: Callable[[Place], str]
) -> None:
    why = change(place)
    before = tree(place.path)
    assert place.remove() == Removed(why)
    assert tree(place.path) == before
    assert place.kept == []


def test_a_program_that_works_there_keeps_it(place: Place) -> None:
    with subprocess.Popen(["sleep", "60"], cwd=place.path) as program:
        why = place.why_kept()
        program.kill()
    assert why == "a program runs in it"


@pytest.mark.slow
def test_a_submodule_keeps_it_while_only_its_copy_has_a_commit(
    place: Place, tmp_path: Path
) -> None:
    lib = tmp_path / "lib"
    git(tmp_path, "init", "--quiet", "--initial-branch=main", str(lib))
    commit(lib, {"lib.c": "lib\n", ".gitignore": "*.env\n"})
    allow = ("-c", "protocol.file.allow=always", "submodule", "--quiet")
    git(place.path, *allow, "add", str(lib), "vendor/lib")
    git(place.path, "commit", "--quiet", "-m", "Add a library")
    inner = place.path / "vendor/lib"
    assert place.why_kept() == ""
    (inner / "own.env").write_text("A=1\n")
    git(inner, "switch", "--quiet", "--create", "fix")
    oid = commit(inner, {"lib.c": "more\n"})
    git(inner, "checkout", "--quiet", "--detach", "origin/main")
    expected = f"commit {oid[:12]} on fix of vendor/lib is on none of its remotes; push it there"
    assert place.why_kept() == expected
    git(place.path, "submodule", "--quiet", "deinit", "--force", "vendor/lib")
    assert place.why_kept() == expected  # its git folder is still there
    git(place.path, *allow, "update", "--init")
    (inner / "own.env").write_text("A=1\n")
    git(inner, "push", "--quiet", "origin", "fix")
    assert place.why_kept() == ""
    place.remove()
    (folder,) = place.kept
    assert tree(folder) == {"vendor/lib/own.env": "A=1\n"}


@pytest.mark.slow
def test_all_files_of_a_submodule_that_is_not_checked_out_are_kept(place: Place) -> None:
    oid = git(place.path, "rev-parse", "HEAD")
    for name in ("lib", "vendor/b", "empty", "node_modules/c"):
        git(place.path, "update-index", "--add", "--cacheinfo", f"160000,{oid},{name}")
        (place.path / name).mkdir(parents=True, exist_ok=True)
    git(place.path, "commit", "--quiet", "--message", "Add submodules")
    place.write({
        "lib/precious.txt": "hours\n", "lib/deep/er/a.pyc": "x", "lib/node_modules/m.js": "m\n",
        "vendor/b/.env": "B=1\n", "node_modules/c/own.c": "c\n",
    })  # fmt: skip
    odd = os.fsdecode(b"od\xff d\n\x1b")
    place.write({f"lib/{odd}": "odd\n"})
    (place.path / "lib/out").symlink_to("/etc")
    git(place.path, "clone", "--quiet", str(place.repo), "vendor/b/clone")
    (note,) = place.remove().notes
    (folder,) = place.kept
    assert r"lib/deep, lib/node_modules, «lib/od\xff d��», lib/out, lib/precious.txt and 3" in note
    assert note.isprintable()
    assert not place.path.exists()
    assert (folder / "vendor/b/clone/.git").is_dir()
    found = tree(folder)
    assert {name: found[name] for name in found if "clone" not in name} == {
        "lib/precious.txt": "hours\n", "lib/deep/er/a.pyc": "x", "lib/node_modules/m.js": "m\n",
        "vendor/b/.env": "B=1\n", "node_modules/c/own.c": "c\n", f"lib/{odd}": "odd\n",
        "lib/out": "-> /etc",
    }  # fmt: skip


@pytest.mark.slow
def test_a_submodule_in_a_submodule_that_is_not_checked_out_loses_nothing(
    place: Place, tmp_path: Path
) -> None:
    lib = tmp_path / "lib"
    git(tmp_path, "init", "--quiet", "--initial-branch=main", str(lib))
    oid = commit(lib, {"lib.c": "lib\n"})
    git(lib, "update-index", "--add", "--cacheinfo", f"160000,{oid},inner")
    git(lib, "commit", "--quiet", "--message", "Add a submodule")
    allow = ("-c", "protocol.file.allow=always", "submodule", "--quiet")
    git(place.path, *allow, "add", str(lib), "vendor/lib")
    git(place.path, "commit", "--quiet", "-m", "Add a library")
    place.write({"vendor/lib/inner/precious.txt": "hours\n"})
    place.remove()
    (folder,) = place.kept
    assert tree(folder) == {"vendor/lib/inner/precious.txt": "hours\n"}


def test_a_stash_of_its_branch_is_named(place: Place) -> None:
    (place.path / "a.txt").write_text("another\n")
    git(place.path, "stash", "--quiet")
    note = "A stash of agent/w-1/1-a stays in this clone: `git stash list`."
    assert place.remove() == Removed(notes=(note,))
    assert git(place.repo, "stash", "list").count("\n") == 0


class Killed(BaseException):
    """The process ends here."""


@pytest.mark.parametrize("step", ["move", "delete"])
def test_a_killed_removal_is_finished_by_the_next_one(
    place: Place, step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.write({"notes/plan.md": "hours\n", "new.env": "A=1\n", "late.txt": "late\n"})
    git(place.path, "add", "late.txt")
    git(place.path, "commit", "--quiet", "-m", "Late")
    whole = getattr(kept, step)

    def killed(*args: object) -> None:
        if step == "move":
            top, names, folder = args
            whole(top, names[:1], folder)  # type: ignore[index]
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(kept, step, killed)
        with pytest.raises(Killed):
            place.remove()
    assert not place.path.exists()
    assert len(removal.tidy(place.ws)) == (step == "move")  # else all of it was moved before
    found = {name: text for folder in place.kept for name, text in tree(folder).items()}
    assert found == {"notes/plan.md": "hours\n", "new.env": "A=1\n"}
    assert [x.name for x in place.path.parent.iterdir() if "place" in x.name] == []
    assert len(worktree_admin.listed(place.repo)) == 1


def test_where_nothing_can_be_kept_the_worktree_is_as_before(place: Place) -> None:
    place.write({"notes/plan.md": "hours\n"})
    parent = Path.home() / ".ghp/worktrees"
    parent.mkdir(parents=True)
    (parent / "repo").write_text("no folder\n")
    with pytest.raises(GhpError, match=f"The worktree {place.path} stays, because its files"):
        place.remove()
    assert (place.path / "notes/plan.md").read_text() == "hours\n"
    assert git(place.path, "status", "--porcelain") == ""


def test_a_locked_worktree_whose_folder_is_missing_is_not_forgotten(place: Place) -> None:
    _locked(place)
    place.path.rename(place.path.with_name("unmounted"))
    with pytest.raises(RefusedError) as refused:
        removal.forget_missing(place.ws, place.checkout)
    assert (str(refused.value), refused.value.hint) == (
        f"The folder of the worktree {place.path} is missing, and it is locked («on a disk»).",
        "Bring the folder back, for example by connecting its disk. If it is gone for good: "
        f"`git worktree unlock {place.path}`, then try again.",
    )
    git(place.repo, "worktree", "unlock", str(place.path))
    removal.forget_missing(place.ws, place.checkout)
    assert len(worktree_admin.listed(place.repo)) == 1


@pytest.mark.slow
def test_a_missing_worktree_is_not_forgotten_while_only_it_has_a_commit(place: Place) -> None:
    why = _detached(place)
    place.path.rename(place.path.with_name("elsewhere"))
    with pytest.raises(RefusedError, match=why):
        removal.forget_missing(place.ws, place.checkout)
    assert place.checkout
