"""The real Codex, hooked by `agent-init --hooks codex`, with a model that says its lines."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.clients.steps import OTHER, checkpoints, run, set_up, states
from tests.support.clients import Bench, end, ghp
from tests.support.fake_models import Call, Request, Turn
from tests.support.git import commit, git

pytestmark = pytest.mark.slow

FREE = {"free.py": "free\n", "b.py": "b\n", "d.py": "d\n"}
FILES = {"src/parser.py": "old\n", "src/old.py": "old\n", **FREE}


@pytest.fixture
def here(bench: Bench, repo: Path) -> Path:
    """A repository with some files, hooked, whose agent is worker-1; worker-2 is about, too."""
    commit(repo, FILES, "Files")
    set_up(bench, repo, "codex")
    return repo


def patch(*lines: str) -> Call:
    return Call("apply_patch", "\n".join(["*** Begin Patch", *lines, "*** End Patch"]))


def shell(command: str) -> Call:
    return Call("exec_command", {"cmd": command})


# ------------------------------------------------------------------------------ the guard


def test_every_kind_of_edit_of_a_leased_file_is_refused_and_the_model_told_why(
    bench: Bench, here: Path
) -> None:
    """Also in the shell; patches of nobody's files are made."""
    run("agent-lease", "src/", "--reason", "new parser", cwd=here, env=OTHER)
    edits = {
        "src/new.py": patch("*** Add File: src/new.py", "+new"),
        "src/parser.py": patch("*** Update File: src/parser.py", "@@", "-old", "+new"),
        "src/old.py": patch("*** Delete File: src/old.py"),
        "src/b.py": patch("*** Update File: b.py", "*** Move to: src/b.py", "@@", "-b", "+c"),
        # One refused file refuses the patch: it is made as a whole, or not at all.
        "src/two.py": patch("*** Add File: one.py", "+1", "*** Add File: src/two.py", "+2"),
    }
    free = patch(
        "*** Add File: new.py", "+new",
        "*** Update File: b.py", "*** Move to: c.py", "@@", "-b", "+c",
        "*** Delete File: free.py",
    )  # fmt: skip
    command = "apply_patch <<'EOF'\n*** Begin Patch\n*** Delete File: {}\n*** End Patch\nEOF\n"
    in_shell = [
        shell(command.format("src/old.py")),
        shell("cd src && " + command.format("old.py")),
        Call("exec_command", {"cmd": command.format("old.py"), "workdir": str(here / "src")}),
    ]
    calls = [*edits.values(), *in_shell, free, shell(command.format("d.py"))]
    bench.models.script("one", *(Turn(calls=[call]) for call in calls), Turn("I stop."))
    ended = end(bench.codex(here, "one"))
    assert ended.code == 0, ended.err
    git(here, "add", "--all")
    assert git(here, "diff", "--cached", "--name-status", "--no-renames") == "\n".join(
        ["D\tb.py", "A\tc.py", "D\td.py", "D\tfree.py", "A\tnew.py"]
    )
    said = bench.models.requests("one")[-1].said
    for path in edits:
        reason = (
            rf"{path} is leased by worker-2 since [^(]*\(L-[0-9a-f]+\)\. "
            r"worker-2 gave this reason: «new parser»\.\nNext: "
        )
        assert re.search("Command blocked by PreToolUse hook: " + reason, said), (path, said)
    assert said.count("PreToolUse hook: src/old.py is leased by worker-2") == 1 + len(in_shell)


def test_a_patch_made_in_a_folder_below_means_the_files_there(bench: Bench, here: Path) -> None:
    run("agent-lease", "src/parser.py", cwd=here, env=OTHER)
    edit = patch("*** Update File: parser.py", "@@", "-old", "+new")
    free = patch("*** Update File: old.py", "@@", "-old", "+new")
    bench.models.script("one", Turn(calls=[edit]), Turn(calls=[free]))
    assert end(bench.codex(here / "src", "one")).code == 0
    assert git(here, "status", "--porcelain") == " M src/old.py"
    assert "src/parser.py is leased by worker-2" in bench.models.said("one")


# ------------------------------------------------------------------- trust, as users give it


def test_codex_runs_no_hook_before_its_user_has_trusted_it_and_all_after(
    bench: Bench, repo: Path
) -> None:
    here = repo
    run("agent-init", "--agent", "worker-1", "--hooks", "codex", cwd=here)
    run("agent-heartbeat", "--status", "implementing", cwd=here, env=OTHER)
    bench.trust_project(here)
    run("agent-lease", "src/", cwd=here, env=OTHER)
    add = patch("*** Add File: src/new.py", "+new")
    before = states(here)["worker-1"]
    bench.models.script("one", Turn(calls=[add]))
    assert end(bench.codex(here, "one")).code == 0
    assert git(here, "status", "--porcelain", "--untracked-files=all") == "?? src/new.py"
    assert states(here)["worker-1"] == before
    (here / "src/new.py").unlink()

    assert bench.trust_hooks(here) == {"untrusted"}
    bench.models.script("two", Turn(calls=[add]))
    assert end(bench.codex(here, "two")).code == 0
    assert git(here, "status", "--porcelain") == ""
    assert "src/new.py is leased by worker-2" in bench.models.said("two")
    # What was trusted stays so when the hooks are installed once more.
    run("agent-init", "--hooks", "codex", cwd=here)
    bench.models.script("three", Turn(calls=[add]))
    assert end(bench.codex(here, "three")).code == 0
    assert "src/new.py is leased by worker-2" in bench.models.said("three")


# ------------------------------------------------------------------------ what it is told


def test_a_session_is_told_what_it_needs_and_seen_by_others_from_its_begin_to_its_checkpoint(
    bench: Bench, here: Path
) -> None:
    run("agent-issue", "new", "Parse tabs", "--assign", "worker-1", cwd=here)
    run("agent-handoff", "--issue", "1", "--to", "worker-1", "--note", "The lexer is next.",
        cwd=here, env=OTHER)  # fmt: skip
    git(here, "checkout", "--quiet", "-b", "agent/worker-1/1-tabs")
    seen: list[tuple[str, str]] = []

    def step(call: Call) -> Callable[[Request], Turn]:
        def line(_: Request) -> Turn:
            mine = states(here)["worker-1"]
            seen.append((mine["status"], mine["lastAction"]))
            return Turn(calls=[call])

        return line

    def answered(request: Request) -> Turn:
        found = re.search(r"E-[0-9a-f]{4,}", request.said)
        assert found, request.said
        run("agent-answer", found[0], "A tab is eight columns.", "--as", "@me", cwd=here)
        return Turn(calls=[shell("ls")])

    bench.models.script(
        "one",
        step(patch("*** Update File: free.py", "@@", "-free", "+half done")),
        step(shell("git status")),
        step(shell(ghp("agent-whoami"))),
        step(shell(ghp("agent-escalate", "'How wide is a tab?'", "--as", "worker-1"))),
        answered,
        Turn("I stop."),
    )
    assert end(bench.codex(here, "one")).code == 0
    requests = [request.said for request in bench.models.requests("one")]

    # It begins with who it is and where the last one stopped.
    for told in ("This session is agent `worker-1`", "Parse tabs", "The lexer is next."):
        assert told in requests[0]
    assert re.search(r"^worker-1\b", requests[-1], re.MULTILINE)
    # An answer that comes meanwhile is context after the next tool.
    before, after = requests[-2:]
    assert "A tab is eight columns." not in before
    assert after.count("A tab is eight columns.") == 1
    # Its presence moves with its tools and stops, and a checkpoint is left.
    assert [status for status, _ in seen] == ["implementing"] * 4
    assert [action for _, action in seen[1:3]] == ["Edited free.py", "Ran git status"]
    ended_as = states(here)["worker-1"]
    assert (ended_as["status"], ended_as["kind"]) == ("stopped", "codex")
    (logged,) = checkpoints(here)
    assert (logged["actor"], logged["issue"], logged["text"]) == (
        "worker-1", 1, "1 uncommitted file",
    )  # fmt: skip


def test_a_session_without_a_name_is_named_after_itself_in_its_shell_too(
    bench: Bench, repo: Path
) -> None:
    run("agent-init", "--hooks", "codex", cwd=repo)
    bench.trust_project(repo)
    bench.trust_hooks(repo)
    bench.models.script("one", Turn(calls=[shell(ghp("agent-whoami"))]))
    ended = end(bench.codex(repo, "one"))
    name = f"codex-{ended.events[0]['thread_id'][-4:]}"
    assert f"This session is agent `{name}`" in bench.models.requests("one")[0].said
    assert re.search(rf"^{name}\b", bench.models.said("one"), re.MULTILINE)
    assert states(repo)[name]["status"] == "stopped"


# ------------------------------------------------------------------ when we are the trouble


def test_a_hook_that_cannot_run_never_stops_a_session(bench: Bench, here: Path) -> None:
    run("agent-lease", "src/", cwd=here, env=OTHER)
    hooks = json.loads((here / ".codex/hooks.json").read_text())
    (here / ".codex/hooks.json").write_text(
        re.sub(r'"\S*/python\S* ', '"/gone/python ', json.dumps(hooks))
    )
    assert bench.trust_hooks(here) == {"modified"}
    bench.models.script("one", Turn(calls=[patch("*** Delete File: src/old.py")]), Turn("I stop."))
    ended = end(bench.codex(here, "one"))
    assert ended.code == 0, ended.err
    assert git(here, "status", "--porcelain") == " D src/old.py"
