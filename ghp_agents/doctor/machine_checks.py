"""The doctor's checks of this machine: git, Python, the repository, settings, the log."""

import platform
import shlex
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from ghp_agents.consent import service as trust
from ghp_agents.core.clock import ago
from ghp_agents.core.finding import Check, Finding, error, info, ok, warning
from ghp_agents.core.ids import Timestamp, count, one_line
from ghp_agents.git import process as git
from ghp_agents.hotpath import error_log, heartbeat, own_name
from ghp_agents.hotpath.locate import is_owned, locate
from ghp_agents.state.codec import seconds
from ghp_agents.workspace import Workspace

LATELY = 7 * 86_400.0  # seconds; older errors in the log are ignored
LAST_VALUES = "Fix the file; until then the last values that could be read stay in force."


def checks(ws: Workspace) -> dict[str, Check]:
    """Return the checks by code, in order."""
    return {
        "git": check_git,
        "python": check_python,
        "repository": partial(check_repository, ws),
        "config": partial(check_config, ws),
        "consent": partial(trust.check, ws),
        "agent": partial(check_agent, ws),
        "background": partial(check_background, ws),
        "log": partial(check_log, ws),
    }


def check_git() -> Iterator[Finding]:
    """Check that git is new enough."""
    version = git.version()
    shown, needed = (".".join(map(str, numbers)) for numbers in (version, git.MINIMUM_VERSION))
    if version < git.MINIMUM_VERSION:
        yield error("git", f"git {shown} is too old.", f"Install git {needed} or newer.")
    else:
        yield ok("git", f"git {shown}")


def check_python() -> Iterator[Finding]:
    """Report the versions of Python and of this program."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        ours = version("ghp-agents")
    except PackageNotFoundError:
        ours = "not installed"
    yield ok("python", f"Python {platform.python_version()}, ghp-agents {ours}")


def check_repository(ws: Workspace) -> Iterator[Finding]:
    """Report the kind of repository."""
    args = ["rev-parse", "--is-bare-repository", "--is-shallow-repository", "--show-object-format"]
    shown = git.run(args, cwd=ws.folder)
    if shown.code != 0:
        raise git.failure(args, shown)
    bare, shallow, form = shown.text.splitlines()
    kinds = [
        "bare" if bare == "true" else "main worktree" if ws.place.git_dir == ws.place.common_dir
        else "linked worktree",
        *([] if form == "sha1" else [form]),
        *(["shallow"] if shallow == "true" else []),
        *(["partial"] if _is_partial(ws) else []),
    ]  # fmt: skip
    yield ok("repository", f"{ws.folder}: {', '.join(kinds)}")
    top = ws.place.toplevel
    if top and locate(top, ws.environ) is None:
        yield _hooks_finding(ws, top)


def _hooks_finding(ws: Workspace, top: str) -> Finding:
    """Explain why hooks ignore a repository that git accepts."""
    code, text = "hooks-silent", "Hooks do nothing in this worktree, so edits are not guarded: "
    if is_owned(ws.place, ws.environ):
        text += "its git folder names another path."
        return warning(code, text, f"cd {shlex.quote(top)} && git worktree repair")
    folders = " ".join(shlex.quote(path) for path in dict.fromkeys([top, ws.place.common_dir]))
    text += "a part of the repository belongs to another user."
    return warning(code, text, f'sudo chown -R "$(id -un)" {folders}')


def _is_partial(ws: Workspace) -> bool:
    args = ["config", "--get-regexp", r"^remote\..*\.(promisor|partialclonefilter)$"]
    return bool(git.run(args, cwd=ws.folder).text)


def check_config(ws: Workspace) -> Iterator[Finding]:
    """Report errors in the configuration files, with their lines, and unknown keys."""
    from ghp_agents.settings import schema, unknown_keys

    existing = [path for path in ws.config_files() if path.is_file()]
    reported: list[str] = []
    for path in existing:
        if path.stat().st_size > schema.LONGEST:
            continue
        text = path.read_bytes().decode("utf-8", "replace")
        for fault in schema.faults(text):
            place = f"{path}, line {fault.line}: {fault.reason}."
            reported.append(place)
            yield error("config", place, LAST_VALUES)
        for key in unknown_keys.unknown_keys(text):
            meant = f"Did you mean `{key.meant}`?" if key.meant else "Is it from a newer version?"
            place = f"{path}, line {key.line}: unknown setting `{key.key}`."
            yield warning("config-key", place, meant)
    settings = ws.settings
    for trouble in settings.unreadable:
        if trouble not in reported:
            yield error("config", trouble, LAST_VALUES)
    if settings.unreadable:
        return
    if not settings.stale_after <= settings.dead_after <= settings.gone_after:
        order = "Set `agents.staleAfter` ≤ `deadAfter` ≤ `goneAfter`"
        yield warning(
            "config",
            f"{order}, or agents are dead before they are stale.",
            "Change them in .ghp/config.json.",
        )
    names = " and ".join(map(str, existing)) or "the defaults (there is no .ghp/config.json)"
    yield ok("config", f"Settings: {names}")


def check_background(ws: Workspace) -> Iterator[Finding]:
    """Report whether heartbeats may start a fold and a sync."""
    by_hand = "only commands save and send heartbeats."
    if ws.environ.get("GHP_BACKGROUND") == "0":
        text = f"Background work is off in this environment: {by_hand}"
        yield info("background", text, "Unset GHP_BACKGROUND to turn it on.")
    elif not ws.settings.background:
        text = f"Background work is off in the configuration: {by_hand}"
        yield info("background", text, "Run `ghp agent-sync` now and then.")


def check_agent(ws: Workspace) -> Iterator[Finding]:
    """Report the agent for which commands act here."""
    name = ws.chosen_name or own_name.whoami(ws.place, ws.environ)
    if not name:
        how = "If an agent works here, name it: ghp agent-whoami --set worker-1"
        yield info("agent", "This worktree has no agent name.", how)
    elif not heartbeat.is_name(name):
        text = f"{one_line(name, 80)!r} is not a valid agent name, so no command can use it."
        yield error("agent", text, "Set another: ghp agent-whoami --set worker-1 (or GHP_AGENT).")
    else:
        yield ok("agent", f"Commands here act as {name}.")


def check_log(ws: Workspace) -> Iterator[Finding]:
    """Report recent errors that no command has shown: of heartbeats, hooks and background work."""
    now = ws.clock.now()
    for folder in ws.folders:
        errors = [(seconds(Timestamp(at)), text) for at, _, text in error_log.read([folder])]
        recent = [entry for entry in errors if entry[0] > now - LATELY]
        if not recent:
            continue
        at, latest = max(recent, key=lambda entry: entry[0])
        many, message = count(len(recent), "error"), one_line(latest, 160)
        yield warning(
            "log",
            f"{many} in the background in the last 7 days; latest, {ago(now - at)} ago: {message}",
            f"See {Path(folder, error_log.LOG)}. If it is a bug of ghp-agents, please report it.",
        )
