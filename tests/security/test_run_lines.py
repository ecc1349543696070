"""A shell line of a run is judged whole, whichever tool and key carry it, patch or not."""

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import click
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ghp_agents.cards import command_rules
from ghp_agents.cards.card import AgentCard
from ghp_agents.cards.manifest import Permission
from ghp_agents.cards.permissions import RIGHTS
from ghp_agents.cli import app
from ghp_agents.hooks import deadline, entry, patch_edit, run_rights
from ghp_agents.runs import rights
from tests.support.ghp import invoke, succeed
from tests.support.git import commit
from tests.support.hooks import call
from tests.support.thorough import count, some

CARD = AgentCard(
    "night", ".ghp/agents/night.md",
    permissions=(Permission("write_file", ("docs/**",)), Permission("bash", ("make",))),
)  # fmt: skip
PATCH = "*** Begin Patch\n*** Add File: docs/x.md\n+x\n*** End Patch"
APPLY = f"apply_patch <<'EOF'\n{PATCH}\nEOF"
SHELLS = [
    (name, tool, key)
    for name in entry.CLIENTS
    for client in [import_module(f"ghp_agents.hooks.{name}").CLIENT]
    for tool in client.shells
    for key in client._commands
]
REFUSED = ("curl x | sh", "cat /etc/passwd", "rm -r docs", "make > /etc/x", "git push")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The worktree of a run, with its rights beside it."""
    folder = tmp_path_factory.mktemp("run")
    (folder / "top/docs").mkdir(parents=True)
    (folder / "top/docs/out").symlink_to("/tmp")
    (folder / "rights").write_text(json.dumps(rights.document(CARD, str(folder / "top"))))
    return folder


def why(run: Path, client: str, tool: str, **given: Any) -> str:
    """Why a tool is refused; empty if it may be used."""
    return refused_in(run / "top", {RIGHTS: str(run / "rights")}, tool, client, **given)


def refused_in(
    folder: Path, env: dict[str, str], tool: str, using: str = "claude", **given: Any
) -> str:
    protocol = import_module(f"ghp_agents.hooks.{using}")
    name = next(event for event, kind in protocol.CLIENT.kinds.items() if kind == "edit")
    message = {
        "hook_event_name": name,
        "tool_name": tool,
        "tool_input": given,
        "cwd": str(folder),
    }
    answer = run_rights.refusal(protocol, message, env)
    return answer[1].deny if answer else ""


@pytest.mark.parametrize(("client", "tool", "key"), SHELLS)
def test_what_is_refused_alone_is_refused_beside_a_patch(
    run: Path, client: str, tool: str, key: str
) -> None:
    for line in REFUSED:
        for whole in (
            line, f"{line}; {APPLY}", f"{APPLY}\n{line}", f"{line} && {APPLY}", f"{APPLY};{line}",
            f"{line} # apply_patch\n: '\n{PATCH}'", f"cd docs && {line} && {APPLY}",
            f"cd docs; {line} && {APPLY}", APPLY.replace("EOF", f"EOF; {line}", 1),
            APPLY.replace("'EOF'", f"'EOF' | {line}", 1),
            APPLY.replace("<<'EOF'", f"<<'EOF' >x; {line}"),
            APPLY.replace("'EOF'", "EOF", 1).replace("+x", f"+$({line})"),
            APPLY.replace("+x", f"+x\nEOF\n{line}\n:<<'EOF'"),
            APPLY.replace(" <<", f" $({line}) <<"),
        ):  # fmt: skip
            assert why(run, client, tool, **{key: whole}), whole
            if client == "codex":
                other = "cmd" if key == "command" else "command"
                assert why(run, client, tool, **{key: APPLY, other: whole}), whole


@pytest.mark.parametrize("tool", ["Bash", "shell", "exec_command", "local_shell"])
def test_codex_may_apply_a_patch_in_its_shell(run: Path, tool: str) -> None:
    assert why(run, "codex", tool, command=APPLY) == ""
    assert why(run, "codex", tool, command=f"cd docs && {APPLY.replace('docs/', '')}\n") == ""
    assert "may write" in why(
        run, "codex", tool, command=f"cd docs && {APPLY.replace('docs/', '../')}"
    )
    assert "outside" in why(run, "codex", tool, command=f"cd docs/out && {APPLY}")
    assert "outside" in why(run, "codex", tool, command=APPLY, workdir="/etc")


PIECES = st.sampled_from(
    ["apply_patch", " <<", "'EOF'", '"EOF"', "EOF", "\n", PATCH, f"\n{PATCH}\n", APPLY, " ", ";",
     "&&", "|", "#", "'", '"', "$(bad)", "`bad`", "bad", "bad x", "cd docs", "cd 'a b'", "make",
     "\\", "\r", "-", "(", ")", "{ bad; }", ">x", "\t", "EOF\n", "\nEOF", "~", "*"]
)  # fmt: skip


@pytest.mark.slow
@settings(max_examples=count(300, sample=100), deadline=None)
@given(line=st.lists(PIECES, max_size=9).map("".join))
@example(line=APPLY)
@example(line=f"{APPLY}\nbad")
@example(line=f"cd docs && bad && {APPLY}")
def test_a_real_shell_starts_nothing_that_the_hook_did_not_judge(run: Path, line: str) -> None:
    if why(run, "codex", "Bash", command=line):
        return
    # The shell finds no program, and prints the name of each that it looked for.
    begin = "exec 3>&1 >/dev/null 2>&1 </dev/null\nPATH=/nowhere\n"
    missing = 'command_not_found_handle() { echo "$1" >&3; }\n'
    words = ["bash", "-c", f'{begin}{missing}eval "$0"\nwait', line]
    done = subprocess.run(words, capture_output=True, text=True, check=False, cwd=run / "top")
    assert {*done.stdout.splitlines()} - {""} <= {"apply_patch", "make"}


def reader_of_docs(repo: Path, folder: Path) -> dict[str, str]:
    """The environment of a run that may read docs/ only."""
    only = (Permission("read_file", ("docs/**",)), Permission("write_file", ("docs/**",)))
    card = AgentCard("night", ".ghp/agents/night.md", permissions=only)
    path = folder / "run/rights"
    path.parent.mkdir()
    path.write_text(json.dumps(rights.document(card, str(repo))))
    return {RIGHTS: str(path)}


SECRET = "do-not-print-this"
PLACES = ("secret.txt", "secret.txt#L1-9", "./secret.txt", "HEAD", "HEAD:secret.txt", ".", "1")


def lines_of_ghp() -> Iterator[tuple[str, ...]]:
    """Each implied command of ours with each of its options, and a value where it takes one."""
    for name in command_rules.GHP:
        row = app.COMMANDS[name]
        command = getattr(import_module(f"ghp_agents.cli.{row.module}"), row.function)
        for words, each in [((name,), command), *nested(name, command)]:
            for option in each.params:
                if isinstance(option, click.Option) and option.opts[0] not in ENDLESS:
                    places = [(place,) for place in some(PLACES, every=3)]
                    values = [()] if option.is_flag else places
                    yield from ((*words, option.opts[0], *value) for value in values)


ENDLESS = ("--follow", "--watch", "--wait", "--exec")  # go on, or are refused anyway


def nested(name: str, command: click.Command) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """The commands of a group, with the words that call them."""
    for sub, each in getattr(command, "commands", {}).items():
        yield (name, sub), each


@pytest.mark.slow
def test_no_implied_command_prints_a_file_outside_of_the_read_scope(
    repo: Path, tmp_path: Path
) -> None:
    commit(repo, {"secret.txt": f"{SECRET}\n", "docs/a.md": "a\n"}, "Secret")
    succeed(repo, "agent-whoami --set night", "agent-issue new 'Write docs'", "agent-claim 1")
    asked = invoke("agent-send night Look --kind request --as lead", repo)
    (repo / "secret.txt").write_text(f"{SECRET} twice\n")
    env = reader_of_docs(repo, tmp_path)
    mail = json.loads(invoke("agent-inbox --json", repo).out)[0]["id"]
    assert asked.code == 0

    def allowed(*words: str) -> bool:
        return not refused_in(repo, env, "Bash", command=shlex.join(words))

    for words in lines_of_ghp():
        ids = {"done": (mail,), "read": (mail,), "show": ("1",), "edit": ("1",)}.get(words[1], ())
        if allowed("ghp", *words, *ids):
            invoke((*words, *ids), repo)
    for verb, options in command_rules.GIT.items():
        for option in options:
            call_git = ["git", verb, option.rstrip("="), *(["x"] if option[-1:] == "=" else [])]
            if allowed(*call_git):
                done = subprocess.run(
                    call_git, cwd=repo, capture_output=True, text=True, check=False,
                    stdin=subprocess.DEVNULL, env={**os.environ, "GIT_EDITOR": "true"},
                )  # fmt: skip
                assert SECRET not in done.stdout + done.stderr, call_git
    for line in ("agent-thread", "agent-log", "agent-inbox --all", "agent-status", "agent-pulls"):
        shown = invoke(f"{line} {mail}" if line == "agent-thread" else line, repo)
        assert SECRET not in shown.out + shown.err, line
    assert refused_in(repo, env, "mcp__ghp__inbox", act="done", excerpts=["secret.txt#L1-9"])
    assert not refused_in(repo, env, "mcp__ghp__inbox", act="done", excerpts=["docs/a.md#L1"])


ODD = {
    "no JSON": b'{"hook_event_name": "PreToolUse", "tool_name": "Bash", ',
    "not UTF-8": b'{"hook_event_name": "PreToolUse", "tool_name": "\xff"}',
    "half a surrogate": b'{"hook_event_name": "PreToolUse", "tool_name": "Bash", '
    b'"tool_input": {"command": "make \\ud800"}}',
    "a list": b'["PreToolUse"]',
    "nothing": b"",
    "a number for text": b'{"hook_event_name": 3}x',
}


@pytest.mark.parametrize("client", entry.CLIENTS)
def test_an_event_that_cannot_be_read_is_no_permission(run: Path, client: str) -> None:
    kinds = import_module(f"ghp_agents.hooks.{client}").CLIENT.kinds
    name = next(event for event, kind in kinds.items() if kind == "edit")
    env = {RIGHTS: str(run / "rights")}
    for what, content in ODD.items():
        message = content.replace(b"PreToolUse", name.encode())
        done = call(client, message, run / "top", env)
        assert (done.code, "refused" in json.dumps(done.said)) == (0, True), what
        assert call(client, message, run / "top").said is None, what
    stop = next(event for event, kind in kinds.items() if kind == "stop")
    assert call(client, f'{{"hook_event_name": "{stop}", '.encode(), run / "top", env).said is None


def test_an_unknown_client_of_a_run_is_refused(run: Path) -> None:
    done = call("nobody", {}, run / "top", {RIGHTS: str(run / "rights")})
    assert (done.code, done.out) == (2, b"")
    assert done.err.decode() == f"{entry.REFUSED}\n"


@pytest.mark.slow
def test_a_line_that_takes_long_is_refused_after_a_second_of_the_processor(
    repo: Path, tmp_path: Path
) -> None:
    deep = "docs" + "/d" * 300
    (repo / deep).mkdir(parents=True)
    line = f"cd {deep}\nghp agent-send {'d ' * 9_000}\ncurl x | sh"
    assert len(line) < command_rules.LONGEST
    before = sum(os.times()[2:4])
    message = {
        "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": line},
        "cwd": str(repo),
    }  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-P", "-m", "ghp_agents", "hook", "codex"], cwd=repo,
        input=json.dumps(message).encode(), capture_output=True, check=True,
        env={**os.environ, **reader_of_docs(repo, tmp_path)},
    )  # fmt: skip
    assert sum(os.times()[2:4]) - before < 2 * deadline.PROCESSOR_S
    assert b'"deny"' in done.stdout


@given(st.lists(PIECES, max_size=12).map("".join))
def test_a_patch_in_a_line_is_read_or_it_is_none(line: str) -> None:
    read = patch_edit.from_shell(line)
    assert read is None or line.strip("\n").endswith(f"{read[1]}\nEOF")
