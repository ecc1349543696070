"""The kinds of places in which people work, each with a second clone that hears of it."""

from collections.abc import Callable
from pathlib import Path

from tests.support import repos
from tests.support.git import COMMIT_TIME, commit, git
from tests.support.hosts import executable

TIMES = {"GIT_AUTHOR_DATE": COMMIT_TIME, "GIT_COMMITTER_DATE": COMMIT_TIME}


class Ground:
    """Where a place is made: an empty folder, and a bare remote with one commit on main."""

    def __init__(self, folder: Path, templates: repos.Templates) -> None:
        self.folder = folder
        self.remote = repos.copy_remote(templates, folder / "remote.git")
        self._templates = templates

    def clone(self, name: str = "clone") -> Path:
        """An ordinary clone."""
        return repos.copy_clone(self._templates, self.folder / name, self.remote)

    def git(self, *args: str) -> str:
        """Git in the folder."""
        return git(self.folder, *args)


def ordinary(ground: Ground) -> Path:
    return ground.clone()


def linked_worktree(ground: Ground) -> Path:
    main = ground.clone()
    git(main, "worktree", "add", "--quiet", "-b", "agent/147", "../linked")
    return ground.folder / "linked"


def worktree_of_a_bare_repository(ground: Ground) -> Path:
    ground.git("clone", "--quiet", "--bare", str(ground.remote), "bare.git")
    ground.git("-C", "bare.git", "worktree", "add", "--quiet", "-b", "agent/147", "../linked")
    return ground.folder / "linked"


def worktree_beside_a_bare_dot_git(ground: Ground) -> Path:
    ground.git("clone", "--quiet", "--bare", str(ground.remote), "project/.git")
    ground.git("-C", "project", "worktree", "add", "--quiet", "-b", "agent/147", "main-copy")
    return ground.folder / "project/main-copy"


def bare(ground: Ground) -> Path:
    ground.git("clone", "--quiet", "--bare", str(ground.remote), "bare.git")
    return ground.folder / "bare.git"


def without_commits(ground: Ground) -> Path:
    ground.git("init", "--quiet", "empty")
    ground.git("-C", "empty", "remote", "add", "origin", str(ground.remote))
    return ground.folder / "empty"


def shallow(ground: Ground) -> Path:
    writer = ground.clone("writer")
    for number in range(3):
        commit(writer, {f"{number}": "x"})
    git(writer, "push", "--quiet")
    ground.git("clone", "--quiet", "--depth=1", ground.remote.as_uri(), "shallow")
    return ground.folder / "shallow"


def partial(ground: Ground) -> Path:
    git(ground.remote, "config", "uploadpack.allowFilter", "true")
    ground.git("clone", "--quiet", "--filter=blob:none", ground.remote.as_uri(), "partial")
    return ground.folder / "partial"


def sparse(ground: Ground) -> Path:
    clone = ground.clone()
    git(clone, "sparse-checkout", "set", "--cone", "nothing")
    return clone


def submodule(ground: Ground) -> Path:
    ground.git("init", "--quiet", "super")
    add = ("-c", "protocol.file.allow=always", "submodule", "--quiet", "add")
    git(ground.folder / "super", *add, str(ground.remote), "sub")
    git(ground.folder / "super", "commit", "--quiet", "--message", "Add", env=TIMES)
    return ground.folder / "super/sub"


def separate_git_folder(ground: Ground) -> Path:
    ground.git(
        "clone", "--quiet", f"--separate-git-dir={ground.folder}/away", str(ground.remote), "w"
    )
    return ground.folder / "w"


def remote_of_another_name(ground: Ground) -> Path:
    clone = ground.clone()
    git(clone, "remote", "rename", "origin", "ups/tream")
    return clone


def relative_remote(ground: Ground) -> Path:
    clone = ground.clone()
    git(clone, "remote", "set-url", "origin", "../remote.git")
    return clone


def mirror(ground: Ground) -> Path:
    clone = ground.clone()
    git(clone, "config", "remote.origin.mirror", "true")
    git(clone, "config", "remote.origin.push", "+refs/*:refs/*")
    return clone


def strange_path(ground: Ground) -> Path:
    folder = ground.folder / 'it\'s a "pläce" $HOME;#:'
    folder.mkdir()
    return ground.clone(f"{folder.name}/clone")


def own_hooks(ground: Ground) -> Path:
    """Every hook that git knows vetoes, and leaves a trace."""
    clone = ground.clone()
    hooks = (
        "applypatch-msg commit-msg fsmonitor-watchman post-applypatch post-checkout post-commit "
        "post-index-change post-merge post-rewrite pre-applypatch pre-auto-gc pre-commit "
        "pre-merge-commit pre-push pre-rebase prepare-commit-msg push-to-checkout "
        "reference-transaction sendemail-validate"
    )
    for name in hooks.split():
        executable(clone / ".git/hooks" / name, f"touch {ground.folder}/hook-ran-{name}\nexit 1\n")
    return clone


def own_signing(ground: Ground) -> Path:
    clone = ground.clone()
    for key in ("commit.gpgSign", "tag.gpgSign", "push.gpgSign", "tag.forceSignAnnotated"):
        git(clone, "config", key, "true")
    git(clone, "config", "gpg.program", "/bin/false")
    return clone


def own_settings(ground: Ground) -> Path:
    """Settings with which other programs that call git have been surprised."""
    clone = ground.clone()
    for key, value in (
        ("i18n.logOutputEncoding", "ISO-8859-1"), ("i18n.commitEncoding", "ISO-8859-1"),
        ("log.showSignature", "true"), ("color.ui", "always"), ("core.quotePath", "true"),
        ("core.autocrlf", "true"), ("core.logAllRefUpdates", "always"), ("core.abbrev", "5"),
        ("core.pager", "/bin/false"), ("core.fsmonitor", "/bin/false"), ("fetch.prune", "true"),
        ("fetch.pruneTags", "true"), ("fetch.recurseSubmodules", "true"), ("gc.auto", "1"),
        ("remote.origin.prune", "true"), ("remote.origin.tagOpt", "--tags"),
        ("push.default", "nothing"), ("push.followTags", "true"), ("push.pushOption", "x=y"),
        ("push.recurseSubmodules", "only"), ("submodule.recurse", "true"),
        ("transfer.fsckObjects", "true"), ("transfer.unpackLimit", "1"),
        ("fastimport.unpackLimit", "1"), ("feature.manyFiles", "true"),
        ("user.useConfigOnly", "true"), ("alias.fetch", "!false"), ("log.date", "relative"),
        ("format.pretty", "oneline"), ("log.follow", "true"), ("extensions.worktreeConfig", "true"),
        ("core.commitGraph", "false"), ("gc.writeCommitGraph", "true"),
        ("core.multiPackIndex", "true"), ("core.sharedRepository", "group"),
        ("receive.denyDeletes", "true"),
    ):  # fmt: skip
        git(clone, "config", key, value)
    return clone


PLACES: list[Callable[[Ground], Path]] = [
    ordinary,
    linked_worktree,
    worktree_of_a_bare_repository,
    worktree_beside_a_bare_dot_git,
    bare,
    without_commits,
    shallow,
    partial,
    sparse,
    submodule,
    separate_git_folder,
    remote_of_another_name,
    relative_remote,
    mirror,
    strange_path,
    own_hooks,
    own_signing,
    own_settings,
]
