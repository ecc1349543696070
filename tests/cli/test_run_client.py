"""`agent-start --run` starts a client in the worktree, as the agent, with what it must know."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ghp_agents.presence import client_process
from ghp_agents.presence.service import list_agents
from ghp_agents.wiring import App
from tests.support import hosts
from tests.support.ghp import Result, invoke, run_ghp, succeed

REPORT = (
    'printf "%s\\n" "$(basename "$0")" "$PWD" "$GHP_AGENT" "$#"; for word; do echo "$word"; done'
)

WAITS = "The handoff {} waits for you: `ghp agent-resume --issue 1`.\n"


@pytest.fixture
def repo(repo: Path) -> Path:
    """A repository with an issue."""
    assert invoke("agent-issue new Parse", repo).code == 0
    return repo


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    """Where the programs are that report how they were started."""
    for name in ("claude", "gemini", "mine"):
        hosts.executable(tmp_path / "bin" / name, f'{REPORT}; echo "prompt: ${{GHP_PROMPT%%.*}}"')
    return {"PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}", "GHP_BACKGROUND": "0"}


def start(repo: Path, words: str, env: dict[str, str]) -> Result:
    return run_ghp(f"agent-start {words} --as worker-1", repo, env)


def place(repo: Path) -> str:
    return invoke("agent-where 1", repo).out.strip()


def test_a_client_gets_the_resume_text_as_its_first_prompt(repo: Path, env: dict[str, str]) -> None:
    done = start(repo, "1 --run claude", env)
    assert done.code == 0
    program, folder, agent, count, first, *rest = done.out.splitlines()
    assert (program, folder, agent, count) == ("claude", place(repo), "worker-1", "1")
    assert first == f"You are agent worker-1. Work in {place(repo)}"
    assert "# Resume: #1 «Parse»" in rest


@pytest.mark.slow
def test_a_client_without_hooks_in_this_clone_is_started_with_a_warning(
    clones: Callable[[int], list[Path]], env: dict[str, str]
) -> None:
    first, second = clones(2)
    succeed(first, "agent-init --no-probe --hooks claude,git", "agent-issue new Parse")
    succeed(first, "agent-issue new Write", "agent-sync")
    warning = (
        "Warning: Claude Code has no hooks in this clone: its edits are not guarded, and it gets "
        "no news.\nHint: Before the next start, install them: `ghp agent-init --hooks claude`.\n"
    )
    assert warning not in start(first, "1 --run claude", env).err
    bare = run_ghp("agent-start 2 --run claude --as bee", second, env)
    assert (bare.code, warning in bare.err) == (0, True), bare.err
    assert bare.err.index(warning) < bare.err.index("Claimed #2")
    succeed(second, "agent-init --no-probe --hooks claude")
    assert warning not in run_ghp("agent-start 2 --run claude --as bee", second, env).err


def test_each_client_is_started_in_its_own_way(repo: Path, env: dict[str, str]) -> None:
    lines = start(repo, "1 --run gemini", env).out.splitlines()
    assert lines[3:5] == ["2", "--prompt-interactive"]


@pytest.mark.parametrize("words", ["1", "--next"])
def test_any_other_command_finds_the_prompt_in_a_variable(
    repo: Path, env: dict[str, str], words: str
) -> None:
    handed = invoke("agent-handoff --issue 1 --note Half --as @me", repo).err
    done = run_ghp(f"agent-start {words} --as worker-1 -- mine --fast", repo, env)
    waits = WAITS.format(re.findall("H-[0-9a-f]+", handed)[0])
    assert waits in done.err
    assert waits in invoke("agent-start 1 --as worker-1", repo).err
    assert done.out.splitlines()[:5] == ["mine", place(repo), "worker-1", "1", "--fast"]
    assert "prompt: You are agent worker-1" in done.out


def test_without_it_the_line_to_type_is_printed(repo: Path) -> None:
    done = invoke("agent-start 1 --as worker-1", repo)
    assert done.err.endswith(f"Start your agent there: cd {place(repo)} && claude\n")


def test_a_program_that_is_missing_is_said_before_anything_is_claimed(repo: Path) -> None:
    done = run_ghp("agent-start 1 --as worker-1 -- nowhere", repo)
    assert (done.code, done.out) == (5, "")
    assert done.err == (
        "Error: `nowhere` is not installed, or not on PATH; nothing was started.\n"
        "Hint: Install it, or start your agent by hand: `ghp agent-start` prints where.\n"
    )
    assert "worker-1" not in invoke("agent-issues", repo).out


@pytest.mark.parametrize(
    "words", ["1 --run claude --json", "1 --tmux", "1 --run claude -- mine", "1 --next"]
)
def test_words_that_do_not_fit_are_wrong_usage(repo: Path, env: dict[str, str], words: str) -> None:
    done = run_ghp(f"agent-start --as worker-1 {words}", repo, env)
    assert (done.code, done.out) == (2, "")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "lives", "then", "need"),
    [("--run claude", "active", "dead", "ended"), ("-- mine", "active", "active", "ended")],
)
def test_when_the_client_has_ended_its_agent_is_dead_at_once(
    repo: Path, env: dict[str, str], tmp_path: Path, words: str, lives: str, then: str, need: str
) -> None:
    for name in ("claude", "mine"):
        hosts.executable(tmp_path / "bin" / name, "echo begun; read -r line")
    command = [sys.executable, "-m", "ghp_agents", "agent-start", "1", "--as", "worker-1"]
    client = subprocess.Popen(
        [*command, *words.split()], cwd=repo, env={**os.environ, **env}, text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    assert client.stdout is not None
    assert client.stdout.readline() == "begun\n"
    assert liveness(repo) == lives
    client.communicate("end\n", timeout=60)
    assert liveness(repo) == then, "what another command starts may go on elsewhere"
    shown = json.loads(invoke("agent-status --json", repo).out)["agents"]["worker-1"]
    assert (shown["group"], [x["kind"] for x in shown["needs"]]) == ("needs-you", [need])


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells the variables of a process")
def test_all_screens_say_that_the_client_has_ended_and_a_stop_ends_the_agent(
    repo: Path, env: dict[str, str]
) -> None:
    assert invoke("agent-issue new Print", repo).code == 0
    assert run_ghp("agent-start 1 --as worker-1 -- mine", repo, env).code == 0
    assert invoke("agent-explain worker-1", repo).out == (
        "worker-1: its client has ended. It could claim 1 more issue; the next is #2 «Print».\n"
        "✗ No process works for it.\n"
        "  → ghp agent-start 1 --as worker-1\n"
        "✓ Nobody told it to stop.\n"
        "✓ It has claimed #1.\n"
        "✗ A dispatch gives it nothing: its client has ended.\n"
    )
    other = invoke("agent-explain 2", repo).out.splitlines()
    assert other[1] == "Nobody works on it, because no agent can."
    assert other[-2:] == [
        "✗ worker-1: its client has ended.", "  → ghp agent-start 2 --as worker-1",
    ]  # fmt: skip
    assert "Agents: 1 client ended." in invoke("agent-sweep --dry-run", repo).err
    assert invoke("agent-dispatch --dry-run", repo).err == (
        "1 is waiting for an agent: none is at work.\n"
    )
    assert invoke("agent-status worker-1", repo).out.startswith("worker-1: client ended, planning")
    assert "client ended" in invoke("agent-status --plain", repo).out
    lines = invoke("agent-stop worker-1", repo).err.splitlines()
    assert lines[1:] == ["✓ worker-1 has stopped."]
    assert liveness(repo) == "stopped"


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells the variables of a process")
@pytest.mark.parametrize("words", ["1 --run claude", "1 -- mine"])
def test_how_the_client_was_started_changes_nothing_about_what_its_end_looks_like(
    repo: Path, env: dict[str, str], words: str
) -> None:
    env |= {"GHP_AGENT": "worker-1"}
    assert run_ghp(f"agent-start {words}", repo, env).code == 0
    shown = invoke("agent-status", repo).out
    assert ("client ended" in shown, "dead" in shown) == (True, False)
    page = invoke("agent-status worker-1", repo).out
    assert page.startswith("worker-1: client ended, planning\n")
    assert "its client has ended" in page
    assert "ghp agent-start 1 --as worker-1" in page
    assert "agent-sweep" not in shown + page + invoke("agent-report", repo).out
    explained = invoke("agent-explain 1", repo).out.splitlines()
    assert "✗ worker-1: its client has ended." in explained
    run = " --run claude" if "claude" in words else ""  # any other command is unknown
    assert f"  → ghp agent-start 1 --as worker-1{run}" in explained


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells the variables of a process")
def test_one_that_another_client_works_for_again_has_not_lost_its_client(
    repo: Path, env: dict[str, str]
) -> None:
    run_ghp("agent-start 1 --as worker-1 -- mine", repo, env)
    app = App(repo, os.environ)
    assert [view.state for view in list_agents(app, app.store.snapshot())] == ["client ended"]
    client_process.tie(app.ws, "worker-1", os.getpid())  # as the hooks of a client by hand
    assert [view.state for view in list_agents(app, app.store.snapshot())] == ["active"]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells the variables of a process")
def test_all_commands_of_two_clones_say_the_same_of_an_agent_that_ended_unfinished(
    clones: Callable[[int], list[Path]], env: dict[str, str], tmp_path: Path
) -> None:
    finish = f"exec {sys.executable} -m ghp_agents agent-finish"
    hosts.executable(tmp_path / "bin/mine", finish)
    first, second = clones(2)
    succeed(first, "agent-issue new Parse")
    assert run_ghp("agent-start 1 --as worker-1 -- mine", first, env).code == 3
    succeed(first, "agent-sync")
    succeed(second, "agent-sync")
    why = "There is nothing to finish: agent/worker-1/1-parse has no commits since main."
    starts, frees = "ghp agent-start 1 --as worker-1", "ghp agent-release 1"
    for clone, command in ((first, starts), (second, frees)):  # its worktree is in the first
        shown = json.loads(invoke("agent-status --json", clone).out)["agents"]["worker-1"]
        (need,) = shown["needs"]
        assert (need["kind"], need["text"], need["command"]) == ("unfinished", why, command)
        assert (shown["group"], shown["clientEnded"]) == ("needs-you", True)
        for said in ("agent-claim 1 --as worker-2", "agent-start 1 --as worker-2"):
            assert "; its client has ended, last: «Not finished" in invoke(said, clone).err
        assert "✗ worker-1: its client has ended." in invoke("agent-explain 1", clone).out
        assert invoke("agent-explain worker-1", clone).out.startswith(
            "worker-1: its client has ended."
        )
        waiting = json.loads(invoke("agent-report --json", clone).out)["waiting"]
        assert [(x["id"], x["text"], x["command"]) for x in waiting] == [("worker-1", why, command)]
        assert command in invoke("agent-status --plain", clone).out
    succeed(first, "agent-release 1 --to worker-2", "agent-sync")
    succeed(second, "agent-sync")
    for clone in (first, second):
        shown = invoke("agent-status --plain", clone).out
        assert starts not in shown, "another has it"
        assert frees not in shown
        assert invoke("agent-report --json", clone).out.count(why) == 0


@pytest.fixture
def client() -> Iterator["subprocess.Popen[bytes]"]:
    """A process that stands for a client at work."""
    popen = subprocess.Popen(["sleep", "60"])
    yield popen
    popen.kill()
    popen.wait()


@pytest.mark.slow
@pytest.mark.parametrize("words", ["2 -- mine", "1 --run claude", "1 --run claude --tmux"])
def test_while_a_client_that_was_started_for_the_agent_runs_no_second_starts(
    repo: Path, tmux: dict[str, str], client: "subprocess.Popen[bytes]", words: str
) -> None:
    env = {**tmux, "GHP_AGENT": "worker-1"}
    assert invoke("agent-issue new Print", repo).code == 0
    assert invoke("agent-start 1 --as worker-1", repo).code == 0
    client_process.note(App(repo, os.environ).ws, "worker-1", client.pid, "a mark")
    refused = run_ghp(f"agent-start {words}", repo, env)
    assert (refused.code, refused.out) == (3, "")
    assert re.sub(r"\d+ s ago", "1 s ago", refused.err) == (
        f"Error: worker-1 already has a client here: process {client.pid}, started 1 s ago.\n"
        "Hint: `ghp agent-status worker-1` shows what it does. `ghp agent-stop worker-1 --now` "
        "ends it and saves its work.\n"
    )
    assert "✓ It has claimed #1.\n" in invoke("agent-explain worker-1", repo).out
    assert invoke("agent-start 1 --as worker-1", repo).code == 0, "it starts no client"
    client.kill()
    client.wait()
    assert run_ghp("agent-start 1 -- mine", repo, env).out.startswith("mine\n")


@pytest.mark.slow
def test_a_client_that_becomes_another_one_is_no_second_client(
    repo: Path, env: dict[str, str]
) -> None:
    script = f"exec {sys.executable} -m ghp_agents agent-start 1 --as worker-1 -- mine"
    done = run_ghp(["agent-start", "1", "--as", "worker-1", "--", "sh", "-c", script], repo, env)
    assert done.out.startswith("mine\n"), done.err


def liveness(repo: Path) -> str:
    shown = json.loads(invoke("agent-status --json", repo).out)
    return str(shown["agents"]["worker-1"]["liveness"])


def test_one_that_cannot_be_started_leaves_its_agent_alive(
    repo: Path, env: dict[str, str], tmp_path: Path
) -> None:
    hosts.executable(tmp_path / "bin/claude", "").write_text("#!/nowhere/at/all\n")
    done = start(repo, "1 --run claude", env)
    assert done.code == 1
    assert "Cannot start `claude`" in done.err
    assert liveness(repo) == "active"


@pytest.fixture
def tmux(tmp_path: Path, env: dict[str, str]) -> Iterator[dict[str, str]]:
    """A tmux server of its own."""
    if shutil.which("tmux") is None:
        pytest.skip("tmux is not installed")
    folder = tmp_path / "tmux"
    folder.mkdir()
    yield {**env, "TMUX_TMPDIR": str(folder), "TMUX": ""}
    subprocess.run(
        ["tmux", "kill-server"], env={**os.environ, "TMUX_TMPDIR": str(folder)}, check=False,
        capture_output=True,
    )  # fmt: skip


@pytest.mark.slow
def test_in_tmux_each_agent_gets_a_window_of_the_repositorys_session(
    repo: Path, tmux: dict[str, str], tmp_path: Path
) -> None:
    long = "\N{SNOWMAN} " * 9_000  # tmux takes no command of more than 16 kB
    assert invoke(["agent-issue", "new", "Write", "--body", long], repo).code == 0
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    hosts.executable(tmp_path / "bin/claude", f"{{ {REPORT}; }} > {pipe}; exec sleep 1000")
    for number, agent in ((1, "worker-1"), (2, "worker-2")):
        done = run_ghp(f"agent-start {number} --run claude --tmux --as {agent}", repo, tmux)
        assert done.code == 0, done.err
        assert done.err.endswith(
            f"✓ Started claude in window {agent} of the tmux session repo. "
            "To see it: tmux attach -t repo\n"
        )
        heard = subprocess.run(["cat", pipe], capture_output=True, text=True, timeout=60).stdout
        where = invoke(f"agent-where {number}", repo).out.strip()
        assert heard.splitlines()[:3] == ["claude", where, agent]
    windows = subprocess.run(
        ["tmux", "list-windows", "-t", "=repo", "-F", "#W"], env={**os.environ, **tmux},
        capture_output=True, text=True,
    )  # fmt: skip
    assert windows.stdout.split() == ["worker-1", "worker-2"]
