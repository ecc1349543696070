"""The doctor's checks of hooks: installed, complete, and only once."""

import os
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from ghp_agents.core import user_file
from ghp_agents.core.finding import Finding, info, ok, warning
from ghp_agents.git import at_once, worktree
from ghp_agents.hotpath.locate import is_owned, locate
from ghp_agents.integrations.clients import (
    aider,
    codex_config,
    config_files,
    folder_trust,
    hook_trial,
    opencode_packages,
    statusline,
)
from ghp_agents.integrations.clients import install as client_hooks
from ghp_agents.integrations.clients.advice import doubled
from ghp_agents.integrations.clients.config_files import GIT, ConfigFile
from ghp_agents.integrations.clients.hook_entries import HOMES
from ghp_agents.integrations.clients.install import python_in
from ghp_agents.integrations.git_hooks import dispatch
from ghp_agents.integrations.git_hooks import script as hook_script
from ghp_agents.integrations.git_hooks import trial as git_trial
from ghp_agents.integrations.git_hooks.install import hook_files, is_elsewhere, scripts
from ghp_agents.state.default_branch import trunk
from ghp_agents.workspace import Workspace


def _again(client: str, *, user: bool = False) -> str:
    return f"Install them again: ghp agent-init --hooks {client}{' --user' if user else ''}"


def check_silence(ws: Workspace) -> Iterator[Finding]:
    """Why hooks ignore a repository that git accepts."""
    top = ws.place.toplevel
    if not top or locate(top, ws.environ) is not None:
        return
    code, text = "hooks-silent", "Hooks do nothing in this worktree, so edits are not guarded: "
    if is_owned(ws.place, ws.environ):
        text += "its git folder names another path."
        yield warning(code, text, f"cd {shlex.quote(top)} && git worktree repair")
        return
    folders = " ".join(shlex.quote(path) for path in dict.fromkeys([top, ws.place.common_dir]))
    text += "a part of the repository belongs to another user."
    yield warning(code, text, f'sudo chown -R "$(id -un)" {folders}')


def check_hooks(ws: Workspace) -> Iterator[Finding]:
    """Whether the hooks in the clients' files are current and call an existing program."""
    for client in HOMES:
        mine = config_files.users(ws.environ, client)
        is_users = python_in(mine) is not None
        if is_users:
            yield from _check_target(ws, mine, user=True)
        targets = config_files.here(ws, [client])
        hooked = [target for target in targets if python_in(target) is not None]
        for target in hooked:
            yield from _check_target(ws, target, user=False)
        bare = [str(target.top) for target in targets if target not in hooked]
        if hooked and bare and not is_users:
            yield warning(
                "hooks",
                f"{HOMES[client].title} has hooks in some worktrees but not in {', '.join(bare)}: "
                "its edits there are not guarded.",
                _again(client),
            )
        if client == client_hooks.CLAUDE and (hooked or is_users):
            yield from _check_off(ws)


def check_runs(ws: Workspace) -> Iterator[Finding]:
    """Whether the hooks guard each worktree when they are started as the client starts them. Other
    checks name an interpreter that is gone, or hooks of another version."""
    tops = worktree.folders(ws.folder)
    for gap in hook_trial.unguarded(ws, tops):
        if _runs(python_in(gap.target) or "") and not client_hooks.ignored_line(gap.target):
            yield warning("hooks-run", gap.fact, gap.remedy)


def _check_off(ws: Workspace) -> Iterator[Finding]:
    for path in config_files.claude_settings(worktree.folders(ws.folder), ws.environ):
        if config_files.setting(path, "disableAllHooks") is True:
            text = f"{path} disables all hooks of Claude Code: nothing is guarded."
            yield warning("hooks", text, "Remove `disableAllHooks` from it.")


def _check_target(ws: Workspace, target: ConfigFile, *, user: bool) -> Iterator[Finding]:
    title, python = HOMES[target.client].title, python_in(target)
    assert python is not None
    again = _again(target.client, user=user)
    ignored = client_hooks.ignored_line(target)
    if ignored:
        text = (
            f"{title} ignores {target.shown}, because line {ignored} has a comment or a trailing "
            "comma: nothing is guarded."
        )
        yield warning("hooks", text, "Remove it from that line.")
    elif not _runs(python):
        text = (
            f"The hooks of {title} in {target.shown} call {python}, which does not exist: "
            "nothing is guarded."
        )
        yield warning("hooks", text, again)
    elif not client_hooks.is_current(target, python):
        text = f"The hooks of {title} in {target.shown} are from another version."
        yield warning("hooks", text, again)
    elif not folder_trust.trusts(target, ws.environ):
        yield warning("hooks", *folder_trust.warning(target, ws.environ))
    elif not _is_this(python):
        text = f"The hooks of {title} in {target.shown} call another installation, {python}."
        yield info("hooks", text, f"To use this one: ghp agent-init --hooks {target.client}")
    else:
        yield ok("hooks", f"{title} has hooks in {target.shown}.")


def _runs(python: str) -> bool:
    return os.access(python, os.X_OK)


def _is_this(python: str) -> bool:
    """Whether it belongs to this installation, maybe by another name (`python3`)."""
    return Path(python).parent == Path(sys.executable).parent


def check_twice(ws: Workspace) -> Iterator[Finding]:
    """Whether a client runs our hooks twice, from two files or from a file and the plugin."""
    for client in HOMES:
        twice = doubled(config_files.everywhere(ws, client))
        if twice:
            yield warning("hooks-twice", *twice)
    plugins = config_files.plugins_enabled(worktree.folders(ws.folder), ws.environ)
    targets = config_files.everywhere(ws, "claude")
    hooked = [target.shown for target in targets if python_in(target) is not None]
    if plugins and hooked:
        yield warning(
            "hooks-twice",
            f"Claude Code runs each of our hooks twice: from the plugin ({plugins[0]}) and from "
            f"{hooked[0]}.",
            "Keep one: `claude plugin uninstall ghp-agents`, or `ghp agent-init --hooks claude "
            "--remove` (with --user for your own file).",
        )


def _is_hooked(ws: Workspace, client: str) -> bool:
    return any(python_in(x) is not None for x in config_files.everywhere(ws, client))


def check_sandbox(ws: Workspace) -> Iterator[Finding]:
    """Whether commands of ours can write in Codex's sandbox."""
    folder = codex_config.closed(ws) if _is_hooked(ws, codex_config.CODEX) else None
    if folder is not None:
        yield info("codex-sandbox", *codex_config.advice(folder))


def check_packages(ws: Workspace) -> Iterator[Finding]:
    """Whether OpenCode starts without a network as fast as with one."""
    if _is_hooked(ws, "opencode") and not opencode_packages.are_here(ws):
        yield info("opencode-packages", opencode_packages.FACT, opencode_packages.REMEDY)


def check_status_line(ws: Workspace) -> Iterator[Finding]:
    """Whether our status line still runs the user's current one."""
    for target in config_files.here(ws, ["claude"]):
        line = statusline.ours(config_files.setting(target.path, statusline.KEY))
        if line is None or line.replaced:
            continue
        theirs = client_hooks.inherited_line(target, ws.environ)
        if line.own != statusline.own_command(theirs):
            text = f"The status line in {target.shown} runs your own one, which you have changed."
            yield warning("status-line", text, _again("claude"))


def check_git_hooks(ws: Workspace) -> Iterator[Finding]:
    """Whether git's hooks still call our scripts, and these an existing program."""
    contents = {name: user_file.read(path) for name, path in scripts(ws).items()}
    if not any(contents.values()):
        return
    findings = [*_check_hooks(ws, contents), *_check_scripts(ws, contents)]
    tops = [] if findings else worktree.folders(ws.folder)
    silent = filter(None, at_once.each(lambda top: git_trial.failure(ws, top), tops))
    findings += [warning("git-hooks", why, _again(GIT)) for why in silent]
    yield from findings or [ok("git-hooks", "git hooks check what agents commit.")]


def _check_hooks(ws: Workspace, contents: Mapping[str, bytes | None]) -> Iterator[Finding]:
    if is_elsewhere(ws):
        if any(dispatch.to_put(ws)):
            text = "git does not run our hooks in front of yours: commits are not checked."
            yield warning("git-hooks", text, _again(GIT))
        return
    for hook in hook_files(ws):
        content = user_file.read(hook.path)
        if contents[hook.name] is not None and not hook_script.has_block(content or b""):
            yield warning(
                "git-hooks",
                f"Our block is missing in {hook.shown}: commits there are not checked.",
                _again(GIT),
            )


def check_aider(ws: Workspace) -> Iterator[Finding]:
    """Whether git's hooks can check what aider commits."""
    has_hooks = any(user_file.read(path) for path in scripts(ws).values())
    for text, hint in aider.advice(worktree.folders(ws.folder), ws.environ, has_hooks=has_hooks):
        yield warning("aider", text, hint)


def _check_scripts(ws: Workspace, contents: Mapping[str, bytes | None]) -> Sequence[Finding]:
    for name, content in contents.items():
        python = hook_script.python_of(content) if content else None
        if python and not _runs(python):
            text = f"The git hooks call {python}, which does not exist: commits are not checked."
            return [warning("git-hooks", text, _again(GIT))]
        if python is None or content != hook_script.script(name, python, trunk(ws) or "main"):
            text = "The git hooks are from another version."
            return [warning("git-hooks", text, _again(GIT))]
        if not _is_this(python):
            return [info("git-hooks", f"The git hooks call another installation, {python}.")]
    return []
