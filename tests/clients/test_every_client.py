"""What holds in every client that has hooks: it is told, guarded, known in its shell, and ended."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ghp_agents.integrations.clients.hook_entries import HOMES
from tests.clients.steps import (
    OTHER,
    checkpoints,
    edit,
    look,
    replace,
    run,
    set_up,
    shell,
    start,
    states,
)
from tests.support.clients import Bench, end, ghp
from tests.support.fake_models import Call, Request, Turn
from tests.support.git import commit, git

pytestmark = pytest.mark.slow

CLIENTS = ("copilot", "gemini", "opencode", "pi", "qwen")
# How a session without a person ends: Qwen Code does not tell of its end.
ENDS = dict.fromkeys(CLIENTS, "stopped") | {"qwen": "waiting"}
SWITCHES_OFF = "gemini"  # in its shell no hook of git runs
ANSWER = "A tab is eight columns."
each_client = pytest.mark.parametrize("client", CLIENTS)


@pytest.fixture
def here(repo: Path) -> Path:
    """A repository with a free file and one below src/, which worker-2 leases."""
    commit(repo, {"free.py": "free\n", "src/parser.py": "old\n"}, "Files")
    run("agent-lease", "src/", "--reason", "new parser", cwd=repo, env=OTHER)
    return repo


def session(bench: Bench, client: str, repo: Path, *turns: Turn | Callable[[Request], Turn]) -> str:
    """A whole session; what the model read last."""
    bench.models.script("one", *turns, Turn("I stop."))
    ended = end(start(bench, client, repo, "one"))
    assert ended.code == 0, ended.err
    return bench.models.requests("one")[-1].said


def changed(repo: Path) -> list[str]:
    """The files that differ from the last commit."""
    return git(repo, "status", "--porcelain", "--untracked-files=all").splitlines()


class Day:
    """A session in which all is asked, for its start costs more than its steps."""

    def __init__(self, bench: Bench, client: str, repo: Path) -> None:
        self.bench, self.client, self.repo = bench, client, repo
        self.presence: list[dict[str, Any]] = []  # its own, at each request
        self.edited: list[str] = []  # by its tools
        self.before_answer = ""

    def play(self) -> str:
        """All steps; what the model read last."""
        steps: list[Callable[[], list[Call]]] = [
            self.shell(ghp("agent-whoami", "> who.txt")),
            self.reads,  # some clients edit only what they have read
            lambda: [edit(self.client, self.repo / "src/new.py")],
            lambda: [replace(self.client, self.repo / "src/parser.py", "old", "new")],
            lambda: [replace(self.client, self.repo / "free.py", "free", "mine")],
            lambda: [edit(self.client, self.repo / "new.py")],
            self.shell("git status"),
            self.shell(ghp("agent-escalate", "'How wide is a tab?'")),
            self.answered,
        ]
        if self.client != SWITCHES_OFF:
            write = "echo mine >> src/parser.py; git commit --quiet --all --message Mine"
            steps.append(self.shell(write))
        lines = [self.line(step) for step in steps]
        return session(self.bench, self.client, self.repo, *lines)

    def line(self, step: Callable[[], list[Call]]) -> Callable[[Request], Turn]:
        def answer(_: Request) -> Turn:
            (mine,) = (each for name, each in states(self.repo).items() if name != "worker-2")
            self.presence.append(mine)
            return Turn(calls=step())

        return answer

    def shell(self, command: str) -> Callable[[], list[Call]]:
        return lambda: [shell(self.client, command)]

    def reads(self) -> list[Call]:
        call = look(self.client, self.repo)
        assert isinstance(call.input, dict)
        names = ("src/parser.py", "free.py")
        return [
            call._replace(input=call.input | {key: str(self.repo / name)})
            for key in call.input
            for name in names
        ]

    def answered(self) -> list[Call]:
        """A person answers its question, and it takes one more step."""
        self.edited = changed(self.repo)
        self.before_answer = self.bench.models.requests("one")[-1].said
        (question,) = {*re.findall(r"E-[0-9a-f]{4,}", self.before_answer)}
        run("agent-answer", question, ANSWER, "--as", "@me", cwd=self.repo)
        return [look(self.client, self.repo)]


@each_client
def test_a_session_is_named_told_guarded_seen_and_ended(
    bench: Bench, here: Path, client: str
) -> None:
    run("agent-init", "--hooks", f"{client},git", cwd=here)
    day = Day(bench, client, here)
    said = day.play()

    # It is named after its client, is told so, and has the name in its shell.
    (name,) = states(here).keys() - {"worker-2"}
    assert re.fullmatch(rf"{client}-[0-9a-f]{{4}}", name)
    assert (here / "who.txt").read_text().split()[0] == name
    main = next(each for each in bench.models.requests("one") if each.body.get("tools"))
    assert main.said.count(f"This session is agent `{name}`") == 1

    # Edits of a leased file are refused, and the model is told why.
    assert day.edited == [" M free.py", "?? new.py", "?? who.txt"]
    for path in ("src/new.py", "src/parser.py"):
        reason = rf"{path} is leased by worker-2 since [^(]*\(L-[0-9a-f]+\)\. "
        assert re.search(reason + r"worker-2 gave this reason: «new parser»\.\s+Next: ", said), path

    # An answer that comes meanwhile is context after the next tool.
    assert ANSWER not in day.before_answer
    assert said.count(ANSWER) == 1

    # A leased file that its shell writes is named, and not committed.
    if client != SWITCHES_OFF:
        assert f"Checked 2 files for {name}: 1 refused." in said
        title = "Your command changed files that others hold or have changed:"
        assert f"{title}\nsrc/parser.py is" in said
    assert git(here, "log", "-1", "--format=%s") == "Files"

    # Its presence moves with its tools, and it ends stopped, with a checkpoint.
    assert {mine["status"] for mine in day.presence} == {"implementing"}
    actions = [mine["lastAction"] for mine in day.presence]
    assert actions[6:8] == ["Edited new.py", "Ran git status"]
    assert (states(here)[name]["status"], states(here)[name]["kind"]) == (ENDS[client], client)
    assert len(checkpoints(here)) == 1


@pytest.mark.cases(2)
@each_client
def test_a_hook_that_cannot_run_never_stops_a_session(
    bench: Bench, here: Path, client: str
) -> None:
    set_up(bench, here, client)
    file = here / HOMES[client].project
    file.write_text(re.sub(r"/[^\s\"]*/python\w*", "/gone/python", file.read_text()))
    session(bench, client, here, Turn(calls=[edit(client, here / "src/new.py")]))
    assert (here / "src/new.py").exists()
