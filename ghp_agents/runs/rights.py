"""A card's manifest for a run: in the client's own rules, and in the file that our hooks read.

Clients differ in how exactly they can be told. The hooks refuse what a client's rules let through.
"""

import hashlib
import json
import shlex
import sys
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import quote

from ghp_agents.cards import manifest
from ghp_agents.cards.card import AgentCard
from ghp_agents.cards.command_rules import GHP, GIT
from ghp_agents.cards.manifest import NETWORK, READ, RUN, WRITE
from ghp_agents.cards.permissions import VERSION
from ghp_agents.core import globs, templates
from ghp_agents.core.errors import RefusedError
from ghp_agents.handoffs.tool_files import RUNNING
from ghp_agents.integrations.clients.hook_entries import hook_command

FILE = "rights.json"
POLICY = "policy.toml"  # of Gemini CLI
PLUGIN = "rights.js"  # of OpenCode
HOOK_S = 10  # seconds after which a client goes on without our hook
# Codex runs a hook of its command line only if its hash is given as that of a trusted one.
CODEX_HOOK = "/<session-flags>/config.toml:pre_tool_use:0:0"
OWN = (
    ("ghp",), ("ghp-agents",), (sys.executable, "-P", "-m", "ghp_agents"),
)  # fmt: skip
# A repository inside the worktree, without a `.git`, would bring its own configuration.
GIT_ONLY_OURS = "'safe.bareRepository=explicit'"
# What git starts at a terminal can be told to run a program: `!` in less, `:!` in vi. No hook sees
# what is typed into a program that already runs.
NOTHING_TO_TYPE_INTO = {
    "GIT_PAGER": "cat", "PAGER": "cat", "GIT_EDITOR": "true", "EDITOR": "true", "VISUAL": "true",
    "LESSSECURE": "1",
}  # fmt: skip
CLIENTS = ("claude", "codex", "gemini", "opencode", "openai")
WEB = ("WebFetch", "WebSearch")
TOKENS = ("GH_TOKEN", "GITHUB_TOKEN")


class ClientRules(NamedTuple):
    """A manifest in a client's own terms."""

    args: tuple[str, ...] = ()
    env: Mapping[str, str] = {}
    files: Mapping[str, str] = {}  # of the run's folder, by name


def check(card: AgentCard, client: str) -> None:
    """Raise RefusedError if nothing would hold the client to the card's permissions."""
    if card.permissions is not None and client not in CLIENTS:
        raise RefusedError(
            f"{client} cannot enforce the permissions of {card.name} ({card.path} on main).",
            hint=f"Use a client with rules or hooks: --runner {', '.join(CLIENTS)}.",
        )


def kept(card: AgentCard) -> tuple[str, ...]:
    """The variables with secrets that the card gives its runs."""
    return TOKENS if card.github else ()


def gives_login(keep: Collection[str]) -> bool:
    """Whether a run that gets these variables may use the person's stored logins, too."""
    return any(name in keep for name in TOKENS)


def document(card: AgentCard, top: str) -> dict[str, Any]:
    """What our hooks read, see `cards/permissions.py`."""
    rights = card.permissions or ()
    tools = (READ, WRITE, RUN, NETWORK)
    read, write, run, network = (manifest.scope_of(rights, tool) for tool in tools)
    return {
        "version": VERSION,
        "top": top,
        "card": card.path,
        "autonomous": card.autonomous or "ask",
        "read": _sources(read or ()),  # without a word about it, all in the worktree
        "write": None if write is None else _sources(write),
        "run": run,
        "network": network,
        "tools": [right.tool for right in rights if right.tool not in tools],
        "guarded": [name for name in sorted(RUNNING) if not _names(write or (), name)],
        "own": OWN,
    }


def _names(patterns: Sequence[str], folder: str) -> bool:
    return any(folder in pattern.split("/") for pattern in patterns)


def _sources(patterns: Sequence[str]) -> list[str]:
    return [globs.rule(pattern).source for pattern in patterns]


def render(card: AgentCard, client: str, place: str, python: str = sys.executable) -> ClientRules:
    """The manifest for a client whose run has the folder `place`; empty where only our hooks
    know it. `python` is what our hooks are called with."""
    rights = card.permissions or ()
    read, write, run, network = (manifest.scope_of(rights, x) for x in (READ, WRITE, RUN, NETWORK))
    others = tuple(right.tool for right in rights if right.tool not in (READ, WRITE, RUN, NETWORK))
    given = _Scopes(read, write, run, network, others)
    if client == "claude":
        return _claude(given, python)
    if client == "codex":
        return _codex(given, python)
    if client == "gemini":
        return _gemini(given, place)
    return _opencode(given, place, python) if client == "opencode" else ClientRules()


Scope = tuple[str, ...] | None


class _Scopes(NamedTuple):
    """What each kind of tool may be used on, and the other tools by name."""

    read: Scope
    write: Scope
    run: Scope
    network: Scope
    others: tuple[str, ...]


def _commands(run: Scope) -> list[str]:
    """The beginnings of allowed commands."""
    implied = [f"git {verb}" for verb in GIT] + [f"ghp {verb}" for verb in GHP]
    return [*dict.fromkeys([*implied, *(run or ())])]


def _is_all(scope: Scope) -> bool:
    return scope is not None and (not scope or manifest.ALL in scope)


def _claude(given: _Scopes, python: str) -> ClientRules:
    read, write, run, network, others = given
    allowed = [f"Read({pattern})" for pattern in read or ()] or ["Read", "Glob", "Grep"]
    if write is not None:
        allowed += [f"Edit({pattern})" for pattern in write] or ["Edit", "Write", "NotebookEdit"]
    # Claude Code reads `Bash(ghp agent-finish:*)` as a beginning, and each part of a line alone.
    ours = [f"Bash({' '.join(words)}:*)" for words in OWN]
    allowed += ["Bash"] if _is_all(run) else [
        *ours, *(f"Bash({command}:*)" for command in _commands(run) if command[:4] != "ghp "),
    ]  # fmt: skip
    if _is_all(network):
        allowed += WEB
    elif network:
        allowed += [f"WebFetch(domain:{host})" for host in network]
    allowed += others
    denied = [*(() if write is not None else ("Edit", "Write", "NotebookEdit"))]
    denied += [] if _is_all(network) else ["WebSearch"] if network else WEB
    program, *words = hook_command(python, "claude")
    handler = {"type": "command", "command": program, "args": words, "timeout": HOOK_S}
    hooks = {"hooks": {"PreToolUse": [{"matcher": "*", "hooks": [handler]}]}}
    return ClientRules(
        (
            "--permission-mode", "dontAsk", f"--allowedTools={','.join(allowed)}",
            *((f"--disallowedTools={','.join(denied)}",) if denied else ()),
            f"--settings={json.dumps(hooks)}",
        )
    )  # fmt: skip


def _codex(given: _Scopes, python: str) -> ClientRules:
    """Its sandbox: the worktree or nothing, the network or none. Scopes are left to our hook, which
    it asks before each tool."""
    _, write, _, network, _ = given
    mode = "read-only" if write is None else "workspace-write"
    reaches = "true" if _is_all(network) else "false"
    return ClientRules(
        (
            "-c", f"sandbox_mode={mode}", "-c", "approval_policy=never",
            "-c", f"sandbox_workspace_write.network_access={reaches}",
            "-c", f"web_search={'live' if _is_all(network) else 'disabled'}", *codex_hook(python),
        )
    )  # fmt: skip


def codex_hook(python: str = sys.executable) -> list[str]:
    """The options with our hook for all tools, trusted by the hash that Codex makes of it."""
    command = shlex.join(hook_command(python, "codex"))
    handler = {"async": False, "command": command, "timeout": HOOK_S, "type": "command"}
    identity = {"event_name": "pre_tool_use", "hooks": [handler], "matcher": ""}
    canonical = json.dumps(identity, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    digest = hashlib.sha256(canonical.encode()).hexdigest()
    text = json.dumps(command)  # a string of JSON is one of TOML
    hook = f'{{type="command",command={text},timeout={HOOK_S}}}'
    state = f'{{"{CODEX_HOOK}"={{trusted_hash="sha256:{digest}"}}}}'
    return [
        "-c", f'hooks.PreToolUse=[{{matcher="",hooks=[{hook}]}}]', "-c", f"hooks.state={state}",
    ]  # fmt: skip


def _gemini(given: _Scopes, place: str) -> ClientRules:
    """Its policy engine: the rule with the highest priority counts. Paths are left to our hook,
    which it asks before each tool."""
    _, write, run, network, others = given
    rules = [_rule("*", "deny", 100)]
    free = ["read_file", "glob", "grep_search", "list_directory", "write_todos"]
    free += [] if write is None else ["replace", "write_file"]
    free += ["web_fetch", "google_web_search"] if _is_all(network) else []
    rules += [_rule(tool, "allow", 200) for tool in [*free, *others]]
    if _is_all(run):
        rules.append(_rule("run_shell_command", "allow", 200))
    else:
        rules += [_rule("run_shell_command", "allow", 200, command) for command in _commands(run)]
    return ClientRules(
        ("--approval-mode", "default", "--policy", f"{place}/{POLICY}"),
        files={POLICY: "\n".join(rules)},
    )


def _rule(tool: str, decision: str, priority: int, prefix: str = "") -> str:
    command = f"commandPrefix = {json.dumps(prefix)}\n" if prefix else ""
    return (
        f"[[rule]]\ntoolName = {json.dumps(tool)}\n{command}"
        f'decision = "{decision}"\npriority = {priority}\n'
    )


def _opencode(given: _Scopes, place: str, python: str) -> ClientRules:
    """Its permissions: the last pattern that matches counts. A plugin asks us before each tool."""
    read, write, run, network, _ = given
    shell: Any = {"*": "deny"} | dict.fromkeys(
        (word for command in _commands(run) for word in (command, f"{command} *")), "allow"
    )
    edits: Any = {"*": "deny"} | dict.fromkeys(map(_wildcard, write or ()), "allow")
    fetches = "allow" if _is_all(network) else "deny"
    rules: dict[str, Any] = {
        "edit": "allow" if write == () else edits,
        "bash": "allow" if _is_all(run) else shell,
        "webfetch": fetches,
        "websearch": fetches,
        "external_directory": "deny",
    }
    if read:  # what searches shows files of any name
        rules["read"] = {"*": "deny"} | dict.fromkeys(map(_wildcard, read), "allow")
        rules |= dict.fromkeys(("glob", "grep", "list"), "deny")
    plugin = {"plugin": [f"file://{quote(place)}/{PLUGIN}"]}
    command = json.dumps(hook_command(python, "opencode"))
    values = {"command": command, "seconds": str(HOOK_S)}
    return ClientRules(
        env={
            "OPENCODE_PERMISSION": json.dumps(rules), "OPENCODE_CONFIG_CONTENT": json.dumps(plugin),
        },
        files={PLUGIN: templates.render("opencode-rights.js.j2", values)},
    )  # fmt: skip


def _wildcard(pattern: str) -> str:
    """A pattern of paths in OpenCode's form, where `*` also matches `/`."""
    return (f"{pattern}*" if pattern.endswith("/") else pattern).replace("**/", "")
