"""A command of ours that failed because a sandbox lets it write nothing; its session's hook, which
runs outside the sandbox, carries it out.

The command comes from the client's own message about the tool, never from a file that any process
in the worktree could write. It must be one simple command without expansions, of few kinds, and for
the session's own agent.
"""

import os
import re
import shlex
import sys

from ghp_agents.hooks.event import RAN, Reply

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from ghp_agents.hooks.scene import HookContext

LIMIT_S = 7.0  # clients wait 10 s for this hook, and Python needs some to start
LENGTH = 20_000  # characters of a command
SHOWN = 1_500  # characters of its result
# Options with a value, by command. None of them reads a file, waits, or acts for another agent.
OPTIONS = {
    "agent-escalate": ("--issue", "--option", "--urgency", "--file"),
    "agent-lease": ("--reason", "--ttl", "--name"),
    "agent-release": (),
}
# Nobody waits in a hook: the answer comes as news. The second has a value.
WAITING = ("--wait", "--timeout")

# Words as every shell reads them: plain, in single quotes, or in double quotes without expansions.
_WORD = r"""(?:[\w@%+=:,./#-]|'[^'\n\r\0]*'|"[^"$`\\!\n\r\0]*")+"""
_SIMPLE = re.compile(rf"\s*{_WORD}(?: +{_WORD})*(?: +2>&1)?\s*", re.ASCII)


def carry_out(context: "HookContext") -> Reply | None:
    """Carry out the failed command of this step; reply with the result. None if there is none."""
    commands = [what for use in context.event.tool_uses if use.verb == RAN for what in use.what]
    words = parse(commands[0], context.agent) if len(commands) == 1 else None
    return Reply(context=_result(context, words)) if words else None


def heartbeat_fields(context: "HookContext") -> "dict[str, Any]":
    """What the heartbeats of this step say. In a sandbox they are not written, and print
    nothing."""
    from ghp_agents.hotpath import heartbeat_command

    fields: dict[str, Any] = {}
    for use in context.event.tool_uses:
        words = _simple(use.what[0]) if use.verb == RAN and use.what else []
        if words[:1] == ["agent-heartbeat"]:
            beat = heartbeat_command.parse(words[1:]) or {}
            if beat.pop("agent", context.agent) == context.agent:
                fields |= beat
    fields.pop("progress", None)
    return fields


def parse(command: str, agent: str) -> "list[str] | None":
    """The words of one of OPTIONS for `agent`, options first; None for anything else."""
    words = _simple(command)
    if not words or words[0] not in OPTIONS:
        return None
    options: list[str] = []
    texts: list[str] = []
    rest = iter(words[1:])
    for word in rest:
        name, is_joined, joined = word.partition("=")
        if word == "--":
            texts += rest
        elif word == WAITING[0]:
            continue
        elif name in (*OPTIONS[words[0]], WAITING[1], "--as"):
            value = joined if is_joined else next(rest, "")
            if name == "--as" and value != agent:
                return None
            options += [f"{name}={value}"] if name in OPTIONS[words[0]] else []
        elif word.startswith("-"):  # another option, or standard input
            return None
        else:
            texts.append(word)
    return None if "-" in texts else [words[0], *options, "--", *texts]


def _simple(command: str) -> "list[str]":
    """The words of one simple command of ours; none for anything else."""
    if len(command) > LENGTH or not _SIMPLE.fullmatch(command):
        return []
    return _ours(shlex.split(command.strip().removesuffix(" 2>&1")))


def _ours(words: "list[str]") -> "list[str]":
    """The words after our program's name; none if it is another program."""
    if os.path.basename(words[0]) == "ghp":
        return words[1:]
    is_module = os.path.basename(words[0]).startswith("python") and "ghp_agents" in words[:4]
    begin = words.index("ghp_agents") if is_module else 0
    return words[begin + 1 :] if words[1:begin] in (["-m"], ["-P", "-m"]) else []


def _result(context: "HookContext", words: "Sequence[str]") -> str:
    from pathlib import Path

    from ghp_agents.core.errors import GhpError
    from ghp_agents.core.process import run
    from ghp_agents.hotpath.quoting import clean

    place = context.place
    cwd = Path(context.event.cwd or place.toplevel or place.git_dir)
    env = {**context.environ, "GHP_AGENT": context.agent}
    what = f"Your sandbox let `{words[0]}` write nothing, so this session's hook ran it outside"
    try:
        done = run(
            [sys.executable, "-P", "-m", "ghp_agents", *words], cwd=cwd, env=env, timeout=LIMIT_S
        )
    except (GhpError, OSError) as error:
        return f"{what}, and does not know the result: {clean(str(error))[:SHOWN]}"
    printed = clean(f"{done.err}\n{done.out}").strip()[:SHOWN]
    return f"{what}{'' if done.code == 0 else f'; it failed with code {done.code}'}:\n{printed}"
