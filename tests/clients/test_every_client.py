"""What holds in every client that has hooks: it is told, guarded, known in its shell, and ended."""

import re
from collections.abc import Callable
from pathlib import Path

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
from tests.support.fake_models import Request, Turn
from tests.support.git import commit, git

pytestmark = [pytest.mark.slow, pytest.mark.cases(2)]

CLIENTS = ("copilot", "gemini", "opencode", "pi", "qwen")
# How a session without a person ends: Qwen Code does not tell of its end.
ENDS = dict.fromkeys(CLIENTS, "stopped") | {"qwen": "waiting"}
GUARDED = tuple(client for client in CLIENTS if client != "gemini")  # its shell switches hooks off
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


@each_client
def test_a_session_is_named_after_its_client_is_told_so_and_has_the_name_in_its_shell(
    bench: Bench, repo: Path, client: str
) -> None:
    run("agent-init", "--hooks", client, cwd=repo)
    session(bench, client, repo, Turn(calls=[shell(client, ghp("agent-whoami", "> who.txt"))]))
    (name,) = states(repo)
    assert re.fullmatch(rf"{client}-[0-9a-f]{{4}}", name)
    assert (repo / "who.txt").read_text().split()[0] == name
    main = next(each for each in bench.models.requests("one") if each.body.get("tools"))
    assert main.said.count(f"This session is agent `{name}`") == 1
    assert (states(repo)[name]["status"], states(repo)[name]["kind"]) == (ENDS[client], client)


@each_client
def test_edits_of_a_leased_file_are_refused_and_the_model_told_why(
    bench: Bench, here: Path, client: str
) -> None:
    set_up(bench, here, client)
    edits = [
        edit(client, here / "src/new.py"),
        replace(client, here / "src/parser.py", "old", "new"),
        replace(client, here / "free.py", "free", "mine"),
        edit(client, here / "new.py"),
    ]
    read = look(client, here).input
    assert isinstance(read, dict)
    before = [
        look(client, here)._replace(input=read | {key: str(here / name)})
        for key in read
        for name in ("src/parser.py", "free.py")
    ]  # some clients edit only what they have read
    said = session(bench, client, here, Turn(calls=before), *(Turn(calls=[each]) for each in edits))
    assert git(here, "status", "--porcelain", "--untracked-files=all").splitlines() == [
        " M free.py", "?? new.py",
    ]  # fmt: skip
    for path in ("src/new.py", "src/parser.py"):
        reason = rf"{path} is leased by worker-2 since [^(]*\(L-[0-9a-f]+\)\. "
        assert re.search(reason + r"worker-2 gave this reason: «new parser»\.\s+Next: ", said), path


@each_client
def test_an_answer_that_comes_meanwhile_is_context_after_the_next_tool(
    bench: Bench, here: Path, client: str
) -> None:
    set_up(bench, here, client)

    def answered(request: Request) -> Turn:
        found = re.search(r"E-[0-9a-f]{4,}", request.said)
        assert found, request.said
        run("agent-answer", found[0], "A tab is eight columns.", "--as", "@me", cwd=here)
        return Turn(calls=[look(client, here)])

    question = ghp("agent-escalate", "'How wide is a tab?'")
    session(bench, client, here, Turn(calls=[shell(client, question)]), answered)
    before, after = (request.said for request in bench.models.requests("one")[-2:])
    assert "A tab is eight columns." not in before
    assert after.count("A tab is eight columns.") == 1


@each_client
def test_its_presence_moves_with_its_tools_and_a_session_ends_stopped(
    bench: Bench, here: Path, client: str
) -> None:
    set_up(bench, here, client)
    seen: list[tuple[str, str]] = []

    def then(*calls: object) -> Callable[[Request], Turn]:
        def line(request: Request) -> Turn:
            mine = states(here)["worker-1"]
            seen.append((mine["status"], mine["lastAction"]))
            return Turn(calls=calls)  # type: ignore[arg-type]

        return line

    session(
        bench, client, here,
        then(edit(client, here / "new.py")), then(shell(client, "git status")), then(),
    )  # fmt: skip
    assert [status for status, _ in seen] == ["implementing"] * 3
    assert [action for _, action in seen[1:]] == ["Edited new.py", "Ran git status"]
    assert states(here)["worker-1"]["status"] == ENDS[client]
    assert len(checkpoints(here)) == 1


@each_client
def test_a_hook_that_cannot_run_never_stops_a_session(
    bench: Bench, here: Path, client: str
) -> None:
    set_up(bench, here, client)
    file = here / HOMES[client].project
    file.write_text(re.sub(r"/[^\s\"]*/python\w*", "/gone/python", file.read_text()))
    session(bench, client, here, Turn(calls=[edit(client, here / "src/new.py")]))
    assert (here / "src/new.py").exists()


@pytest.mark.parametrize("client", GUARDED)
def test_a_leased_file_that_its_shell_writes_is_named_and_not_committed(
    bench: Bench, here: Path, client: str
) -> None:
    set_up(bench, here, f"{client},git")
    command = (
        "echo mine >> src/parser.py; git commit --quiet --all --message Mine; git log --format=%s"
    )
    said = session(bench, client, here, Turn(calls=[shell(client, command)]))
    assert "Checked 1 file for worker-1: 1 refused." in said
    assert "Your command changed files that others hold or have changed:\nsrc/parser.py is" in said
    assert git(here, "log", "-1", "--format=%s") == "Files"
