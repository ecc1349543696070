"""Completion: what a shell is told on the tab key, and that it is told by both names."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.ghp import CHECKOUT, invoke, run_ghp
from tests.support.road import Road

OURS = (
    f"#!{sys.executable}\nimport sys\nsys.path.insert(0, {str(CHECKOUT)!r})\n"
    "from ghp_agents.cli.main import main\nmain()\n"
)


def ask(folder: Path, name: str, env: dict[str, str]) -> list[str]:
    """The lines that the program answers a shell with in `folder`."""
    script = folder.parent / f"bin-{name}" / name
    script.parent.mkdir(exist_ok=True)
    script.write_text(OURS)
    script.chmod(0o755)
    done = subprocess.run(
        [script], cwd=folder, env={**os.environ, **env}, capture_output=True, text=True, check=True
    )
    assert done.stderr == ""
    return done.stdout.splitlines()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "suggestions"),
    [
        ("ghp agent-esc", ["agent-escalate", "agent-escalations"]),
        ("ghp agent-issue re", ["reopen"]),
        ("ghp agent-escalate --u", ["--urgency"]),
        ("ghp agent-escalate --urgency ", ["low", "normal", "high"]),
        ("ghp agent-heartbeat --status p", ["planning"]),
        ("ghp agent-notes list --at ", ["yesterday", "last-night", "today", "2h-ago"]),
    ],
)
def test_a_shell_is_told_what_may_come_next(
    tmp_path: Path, words: str, suggestions: list[str]
) -> None:
    count = words.count(" ")
    env = {"COMP_WORDS": words, "COMP_CWORD": str(count), "_GHP_COMPLETE": "bash_complete"}
    assert ask(tmp_path, "ghp", env) == [f"plain,{word}" for word in suggestions]


def next_words(folder: Path, words: str) -> list[str]:
    """What comes next by the answer to bash, in which each has its kind before it. The process is
    forked: it goes the same way from `main` on."""
    env = {
        "COMP_WORDS": words,
        "COMP_CWORD": str(words.count(" ")),
        "_GHP_COMPLETE": "bash_complete",
    }
    done = run_ghp("", folder, env)
    assert (done.code, done.err) == (0, "")
    return [line for line in done.out.splitlines() if line]


@pytest.mark.parametrize(
    "words",
    [
        "agent-check src/", "agent-lease ", "agent-escalate Why --context ", "start ", "foo bar ",
        "agent-check a b -- c",
    ],
)  # fmt: skip
def test_where_a_file_belongs_the_shell_completes_files(tmp_path: Path, words: str) -> None:
    assert next_words(tmp_path, f"ghp {words}") == [f"file,{words.rpartition(' ')[2]}"]


@pytest.fixture
def used(repo: Path) -> Path:
    """A repository in which two agents were at work."""
    one, two = {"GHP_AGENT": "worker-1"}, {"GHP_AGENT": "worker-2"}
    for env in (one, two):
        invoke("agent-status --set testing", repo, env)
    invoke(["agent-issue", "new", "Parser"], repo, one)
    invoke(["agent-issue", "new", "Lexer"], repo, one)
    invoke("agent-issue close 2 --reason Merged", repo, one)
    invoke("agent-lease --name staging-db", repo, one)
    invoke(["agent-escalate", "Why?"], repo, two)
    invoke(["agent-handoff", "--checkpoint", "--note", "Go on"], repo, two)
    return repo


@pytest.mark.slow
def test_what_is_known_here_is_completed(used: Path) -> None:
    def plain(words: str) -> list[str]:
        return [line.removeprefix("plain,") for line in next_words(used, f"ghp {words}")]

    agents = ["worker-1", "worker-2"]
    for words in (
        "agent-release --to ", "agent-handoff --to ", "agent-claim --as ", "agent-lease --for ",
        "agent-log --agent ", "agent-status ", "agent-issue assign 1 ", "agent-whoami --set ",
    ):  # fmt: skip
        assert plain(words) == agents, words
    assert plain("agent-claim --as worker-2") == ["worker-2"]
    for words in (
        "agent-claim ", "agent-start ", "agent-issue show ", "agent-issue edit 2 --parent ",
        "agent-log --issue ",
        "agent-issue block 1 --by ", "agent-escalate --issue ", "agent-heartbeat --issue ",
        "agent-resume --issue ", "agent-check --issue ",
    ):  # fmt: skip
        assert plain(words) == ["1"], words
    assert plain("agent-issue reopen ") == ["2"]
    assert plain("agent-issue show 9") == []
    questions = json.loads(invoke("agent-escalations --json", used).out)
    assert plain("agent-answer ") == [question["id"] for question in questions]
    assert plain("agent-escalations E-") == plain("agent-answer ")
    assert plain("agent-release 1 --name ") == ["staging-db"]
    number, lease = plain("agent-release ")
    assert (number, lease[:2]) == ("1", "L-")
    assert plain("agent-release sr") == ["file,sr"]
    (handoff,) = plain("agent-resume --handoff ")
    assert handoff.startswith("H-")
    assert plain("agent-log --event an") == ["answer"]
    assert plain("agent-init --hooks cu") == ["cursor"]
    assert plain("agent-init --hooks claude,co") == ["claude,codex", "claude,copilot"]


@pytest.mark.slow
def test_open_pull_requests_are_completed(repo: Path) -> None:
    road = Road(repo)
    road.issue("Parse files")
    road.done("worker-1", 1, {"a.txt": "one\n"})
    assert next_words(repo, "ghp agent-pull show ") == ["plain,2"]


@pytest.mark.slow
def test_shells_that_show_it_are_told_what_a_name_is(used: Path) -> None:
    env = {"COMP_WORDS": "ghp agent-claim ", "COMP_CWORD": "2", "_GHP_COMPLETE": "zsh_complete"}
    assert ask(used, "ghp", env) == ["plain", "1", "Parser"]


@pytest.mark.slow
def test_where_something_is_wrong_there_is_nothing_and_no_error(used: Path, tmp_path: Path) -> None:
    assert next_words(tmp_path, "ghp agent-claim ") == [], "there is no repository"
    shutil.rmtree(used / ".git/ghp/state.git/objects")
    assert next_words(used, "ghp agent-claim --as ") == []
    (used / ".ghp/config.json").write_text("{")
    assert next_words(used, "ghp agent-claim ") == []


@pytest.mark.slow
@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_name_completes_itself(tmp_path: Path, shell: str) -> None:
    for name, variable in (("ghp", "_GHP_COMPLETE"), ("ghp-agents", "_GHP_AGENTS_COMPLETE")):
        script = "\n".join(ask(tmp_path, name, {variable: f"{shell}_source"}))
        assert f"{variable}={shell}_complete" in script
        assert f" {name}" in script
