"""Hooks of ours in front of a project's own ones, where `core.hooksPath` is set.

The project's hooks may be committed, or be missing in new worktrees (husky), so no block goes into
them. An include at the end of `.git/config` sets `core.hooksPath` to a folder in the clone's git
folder, for all its worktrees. A worktree's own configuration that sets it gets one, too. Each hook
there calls our script, then the project's hook as git would. The include names the clone's place:
in a moved or copied clone it does nothing.
"""

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from ghp_agents.core import files, user_file
from ghp_agents.git import plain_config
from ghp_agents.git import process as git
from ghp_agents.hotpath import own_file
from ghp_agents.integrations.git_hooks.script import HOOKS
from ghp_agents.state.admin_port import Step
from ghp_agents.workspace import Workspace

FOLDER = "all-hooks"
EXECUTABLE = 0o755
_SPECIAL = re.compile(r"([*?\[\\])")

# All hooks of git 2.39 but those of servers, p4 and fsmonitor, and `post-index-change`: it runs at
# each change of the index, and no known program installs it.
NAMES = (
    *HOOKS, "applypatch-msg", "pre-applypatch", "post-applypatch", "pre-merge-commit",
    "commit-msg", "post-commit", "pre-rebase", "post-checkout", "post-merge", "push-to-checkout",
    "pre-auto-gc", "post-rewrite", "sendemail-validate", "pre-receive", "update", "post-receive",
    "post-update", "proc-receive",
)  # fmt: skip


def to_put(ws: Workspace) -> Iterator[Step]:
    """Steps to install what is missing."""
    folder, config = ws.ghp_dir / FOLDER, ws.common_dir / plain_config.HOOKS_FILE
    contents = {folder / name: _hook(name) for name in NAMES}
    if any(not _is_as(path, content) for path, content in contents.items()):
        what = f"{ws.shown(folder)}, whose hooks call ghp-agents and then yours"
        yield Step("write", "Wrote", what, partial(_write, contents))
    value = str(folder.resolve()).replace("\\", "\\\\").replace('"', '\\"')
    content = f'[core]\n\thooksPath = "{value}"\n'.encode("utf-8", "surrogateescape")
    for file in _files(ws):
        if user_file.read(config) != content or not _is_last(ws, file):
            what = f"a section into {ws.shown(file)}, which names that folder"
            yield Step("put", "Put", what, partial(_include, ws, file, config, content))


def to_take(ws: Workspace) -> Iterator[Step]:
    """Steps to remove the section, and the hooks in front of the project's own."""
    for file in [file for file in _files(ws) if _sections(file)]:
        what = f"our section from {ws.shown(file)}"
        yield Step("remove", "Removed", what, partial(_exclude, file))
    folder = ws.ghp_dir / FOLDER
    present = [path for path in (folder / name for name in NAMES) if path.exists()]
    present += [path for path in (ws.common_dir / plain_config.HOOKS_FILE,) if path.exists()]
    if present:
        yield Step("remove", "Removed", ws.shown(folder), partial(_delete, ws, present))


def _hook(name: str) -> bytes:
    call = _FED if name in HOOKS[2:] else _PLAIN if name in HOOKS else ""
    text = _HEAD.replace("{name}", name) + call.replace("{name}", name) + _REST
    return text.replace("{file}", plain_config.HOOKS_FILE).encode()


def _is_as(path: Path, content: bytes) -> bool:
    return user_file.read(path) == content and bool(path.stat().st_mode & 0o100)


def _write(contents: dict[Path, bytes]) -> None:
    for path, content in contents.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        files.write_atomically(path, content, mode=own_file.LIKE_GIT)
        path.chmod(EXECUTABLE)


def _key(ws: Workspace) -> str:
    """The section that holds in this clone's place only: git compares real paths."""
    parent = str(ws.common_dir.resolve().parent).rstrip("/")
    escaped = _SPECIAL.sub(r"\\\1", parent)
    return f"includeif.gitdir:{escaped}/.path"


def _files(ws: Workspace) -> list[Path]:
    """The clone's configuration, and those of worktrees that set `core.hooksPath` after it."""
    common = ws.common_dir
    own = [common / "config.worktree", *sorted(common.glob("worktrees/*/config.worktree"))]
    return [common / "config", *(x for x in own if b"hookspath" in _lower(x) or _sections(x))]


def _lower(path: Path) -> bytes:
    return (user_file.read(path) or b"").lower()


def _sections(file: Path) -> list[str]:
    """The keys of our sections in a configuration; more than one in a moved clone."""
    if b"includeif" not in _lower(file):
        return []
    args = ["config", "-z", "--file", str(file), "--get-regexp", r"^includeif\."]
    pairs = (entry.partition("\n") for entry in git.run(args, cwd=file.parent).names)
    return [key for key, _, value in pairs if value.endswith(plain_config.HOOKS_FILE)]


def _is_last(ws: Workspace, file: Path) -> bool:
    """Whether our section is the only one of ours in a configuration, and behind its hooks path."""
    behind = _lower(file).rpartition(b"[includeif")[2]
    return _sections(file) == [_key(ws)] and b"hookspath" not in behind


def _include(ws: Workspace, file: Path, config: Path, content: bytes) -> None:
    """Raises GitError."""
    files.write_atomically(config, content, mode=own_file.LIKE_GIT)
    _exclude(file)
    is_clones = file.parent == ws.common_dir and file.name == "config"
    _configure(file, "--add", _key(ws), plain_config.HOOKS_FILE if is_clones else str(config))


def _exclude(file: Path) -> None:
    for key in _sections(file):
        _configure(file, "--unset-all", key)


def _configure(file: Path, *args: str) -> None:
    git.check(["config", "--file", str(file), *args], cwd=file.parent)


def _delete(ws: Workspace, paths: list[Path]) -> None:
    for path in paths:
        user_file.delete(path, ws.ghp_dir)


_HEAD = """\
#!/bin/sh
# ghp-agents: git runs this in place of the hook {name} of `core.hooksPath`, which it then calls.
# `ghp agent-init --hooks git` writes this file, `--hooks git --remove` takes it away.
common=$(git rev-parse --git-common-dir)
"""

_PLAIN = """\
ours="$common/ghp/hooks/{name}"
if [ -x "$ours" ]; then "$ours" "$@" || exit $?; fi
"""

_FED = """\
ours="$common/ghp/hooks/{name}"
if [ -x "$ours" ]; then
  input=$(cat)
  printf '%s\\n' "$input" | "$ours" "$@" || exit $?
  if [ -z "$input" ]; then exec </dev/null; else exec <<GHP_INPUT
$input
GHP_INPUT
  fi
fi
"""

# In a new worktree, husky's generated folder `_` is missing until somebody installs the packages.
# Then the project's own script runs as husky 9 would run it.
_REST = """\
tab=$(printf '\\t')
hooks=$(git config --show-origin --type=path --get-all core.hooksPath |
  grep -v "{file}\\"\\{0,1\\}$tab" | tail -n 1)
hooks=${hooks#*"$tab"}
[ -n "$hooks" ] || hooks="$common/hooks"
name=${0##*/}
if [ -x "$hooks/$name" ]; then exec "$hooks/$name" "$@"; fi
case $hooks in
  */_)
    script="${hooks%/_}/$name"
    if ! [ -e "$hooks" ] && [ -f "$script" ]; then
      init="${XDG_CONFIG_HOME:-$HOME/.config}/husky/init.sh"
      if [ -f "$init" ]; then . "$init"; fi
      if [ "${HUSKY-}" = 0 ]; then exit 0; fi
      PATH="node_modules/.bin:$PATH" exec sh -e "$script" "$@"
    fi ;;
esac
exit 0
"""
