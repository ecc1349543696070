"""Our block in the git hooks of a clone: where git runs hooks from, and the steps to install it."""

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from ghp_agents.core import files, user_file
from ghp_agents.core.errors import RefusedError
from ghp_agents.git import exclude, own_hooks, worktree
from ghp_agents.git import process as git
from ghp_agents.hotpath import own_file
from ghp_agents.integrations.git_hooks import dispatch
from ghp_agents.integrations.git_hooks import script as hook_script
from ghp_agents.integrations.git_hooks.script import ASIDE, HOOKS
from ghp_agents.state.admin_port import Step
from ghp_agents.state.default_branch import trunk
from ghp_agents.workspace import Workspace

EXECUTABLE = 0o755


class HookFile(NamedTuple):
    """A git hook of the user; it may not exist yet."""

    name: str
    path: Path
    shown: str  # for people
    top: Path | None  # its worktree; None if it is in none
    runner: Path | None = None  # husky's script, which runs it even if it is not executable

    @property
    def line(self) -> str | None:
        """Its line in `info/exclude`."""
        return f"/{self.path.relative_to(self.top).as_posix()}" if self.top else None

    @property
    def aside(self) -> Path:
        """Where a hook is moved that cannot hold our block."""
        return self.path.with_name(self.name + ASIDE)


def hook_files(ws: Workspace) -> list[HookFile]:
    """The hooks that git runs in the worktrees of this clone, each once."""
    tops = worktree.folders(ws.folder)
    hooks: dict[Path, HookFile] = {}
    for top in tops or [ws.folder]:
        for name in HOOKS:
            hook = _hook(ws, name, top, tops)
            hooks.setdefault(hook.path, hook)
    return list(hooks.values())


def _hook(ws: Workspace, name: str, top: Path, tops: Sequence[Path]) -> HookFile:
    folder = own_hooks.configured(top)
    folder = ws.common_dir / "hooks" if folder is None else top / folder
    husky = folder.name == "_" and (folder.parent.name == ".husky" or (folder / "h").exists())
    path = (folder.parent if husky else folder) / name
    inside = not path.is_relative_to(ws.common_dir)
    owner = next((folder for folder in tops if inside and path.is_relative_to(folder)), None)
    return HookFile(name, path, ws.shown(path), owner, folder / name if husky else None)


def scripts(ws: Workspace) -> dict[str, Path]:
    """The scripts that our blocks call in this clone, by the hook's name."""
    return {name: ws.ghp_dir / "hooks" / name for name in HOOKS}


def to_put(ws: Workspace, python: str) -> list[Step]:
    """Steps to install what is missing. Raises RefusedError."""
    steps: list[Step] = []
    for name, path in scripts(ws).items():
        content = hook_script.script(name, python, trunk(ws) or "main")
        if user_file.read(path) != content or not _is_executable(path):
            what = f"{ws.shown(path)}, which the hook {name} calls"
            steps.append(Step("write", "Wrote", what, partial(_write_script, path, content)))
    if is_elsewhere(ws):
        return [*steps, *dispatch.to_put(ws), *_blocks_to_take(ws, tracked=False)]
    steps += dispatch.to_take(ws)
    return [*steps, *(step for hook in hook_files(ws) for step in _to_put(ws, hook))]


def to_renew(ws: Workspace) -> list[Step]:
    """Steps that put back what another program took away, with the interpreter of our scripts; none
    if they are not installed here. Raises RefusedError."""
    present = filter(None, (user_file.read(path) for path in scripts(ws).values()))
    python = next(filter(None, map(hook_script.python_of, present)), None)
    return to_put(ws, python) if python else []


def is_elsewhere(ws: Workspace) -> bool:
    """Whether `core.hooksPath` is set: the hooks there may be committed, or others' as well."""
    return any(own_hooks.configured(top) for top in worktree.folders(ws.folder) or [ws.folder])


def _to_put(ws: Workspace, hook: HookFile) -> Iterator[Step]:
    before = user_file.read(hook.path)
    if before is None and not hook.path.is_symlink():
        yield Step("make", "Made", f"the hook {hook.shown}", partial(_create_hook, ws, hook))
    elif before is not None and hook_script.has_block(before) and not hook.path.is_symlink():
        after = hook_script.put(before, hook.name)
        if after != before:
            act = partial(user_file.rewrite, hook.path, before, after)
            yield Step("renew", "Renewed", f"our block in {hook.shown}", act)
    elif before is not None and _takes_block(hook, before):
        act = partial(user_file.rewrite, hook.path, before, hook_script.put(before, hook.name))
        yield Step("put", "Put", f"a block into {hook.shown}", act)
    else:
        if hook.aside.exists() or hook.aside.is_symlink():
            raise RefusedError(
                f"Cannot move {hook.path} aside: {hook.aside.name} already exists.",
                hint="Check both files, then remove or rename one of them.",
            )
        what = f"{hook.shown} aside to {hook.aside.name}, and a hook that calls it in its place"
        yield Step("move", "Moved", what, partial(_move_aside, hook))


def _takes_block(hook: HookFile, content: bytes) -> bool:
    """Not a link, which others may share, and not a file that git would not run."""
    if hook.path.is_symlink() or not hook_script.is_shell(content):
        return False
    return hook.runner is not None or _is_executable(hook.path)


def _create_hook(ws: Workspace, hook: HookFile) -> None:
    if hook.line and not is_tracked(hook) and not _is_users_elsewhere(ws, hook):
        exclude.add(ws.common_dir, hook.line)
    user_file.rewrite(hook.path, None, hook_script.new_hook(hook.name))
    hook.path.chmod(EXECUTABLE)


def _is_users_elsewhere(ws: Workspace, hook: HookFile) -> bool:
    """Whether another worktree has a user's hook that the exclude line would hide, too."""
    for other in hook_files(ws):
        if other.line == hook.line and other.path != hook.path and not is_tracked(other):
            content = user_file.read(other.path)
            if content is not None and content != hook_script.new_hook(hook.name):
                return True
    return False


def _move_aside(hook: HookFile) -> None:
    hook.path.rename(hook.aside)
    user_file.rewrite(hook.path, None, hook_script.chaining_hook(hook.name))
    hook.path.chmod(EXECUTABLE)


def _write_script(path: Path, content: bytes) -> None:
    files.write_atomically(path, content, mode=own_file.LIKE_GIT)
    path.chmod(EXECUTABLE)


def _is_executable(path: Path) -> bool:
    return path.exists() and bool(path.stat().st_mode & 0o111)


def to_take(ws: Workspace) -> list[Step]:
    """Steps to remove our block and scripts."""
    steps = [*dispatch.to_take(ws), *_blocks_to_take(ws, tracked=True)]
    for path in scripts(ws).values():
        if path.exists():
            act = partial(user_file.delete, path, ws.ghp_dir)
            steps.append(Step("remove", "Removed", ws.shown(path), act))
    return steps


def _blocks_to_take(ws: Workspace, *, tracked: bool) -> list[Step]:
    hooks = [hook for hook in hook_files(ws) if tracked or not is_tracked(hook)]
    return [step for hook in hooks for step in _to_take(ws, hook)]


def _to_take(ws: Workspace, hook: HookFile) -> Iterator[Step]:
    before = user_file.read(hook.path)
    if before is None or not hook_script.has_block(before) or hook.path.is_symlink():
        return
    after = hook_script.remove_block(before)
    if after is not None:
        act = partial(user_file.rewrite, hook.path, before, after)
        yield Step("remove", "Removed", f"our block from {hook.shown}", act)
    elif hook.aside.exists() or hook.aside.is_symlink():
        what = f"{hook.aside.name} back as {hook.shown}"
        yield Step("put", "Put", what, partial(hook.aside.replace, hook.path))
    else:
        yield Step("remove", "Removed", f"the hook {hook.shown}", partial(_delete_hook, ws, hook))


def _delete_hook(ws: Workspace, hook: HookFile) -> None:
    inside = hook.path.is_relative_to(ws.common_dir)
    top = hook.top or (ws.common_dir if inside else hook.path.parent.parent)
    user_file.delete(hook.path, top)
    if hook.line:
        exclude.remove(ws.common_dir, hook.line)


def advice(ws: Workspace) -> Iterator[tuple[str, str]]:
    """Advice about the changed hooks: pairs of a fact and what to do."""
    for hook in hook_files(ws):
        content = user_file.read(hook.path)
        if is_tracked(hook) and hook_script.has_block(content or b""):
            yield (
                f"{hook.shown} is tracked by git and has our block, which is not needed any more.",
                "You may remove it from there and commit.",
            )


def is_tracked(hook: HookFile) -> bool:
    """Whether git tracks the hook."""
    if hook.top is None:
        return False
    listed = git.run(["ls-files", "--", str(hook.path.relative_to(hook.top))], cwd=hook.top)
    return bool(listed.text)
