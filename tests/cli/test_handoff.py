"""`agent-handoff` and `agent-resume`, as their users call them."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support import hosts
from tests.support.ghp import Result, invoke, run_ghp
from tests.support.git import commit, git
from tests.support.thorough import mostly_slow

Clones = Callable[[int], list[Path]]

ONE = {"GHP_AGENT": "worker-1"}
TWO = {"GHP_AGENT": "worker-2"}


@pytest.fixture
def here(repo: Path) -> Path:
    """A repository with issue #1, assigned to worker-1, on its branch."""
    assert invoke("agent-issue new 'Add the dashboard' --body 'We need it.'", repo).code == 0
    assert invoke("agent-issue assign 1 worker-1", repo).code == 0
    git(repo, "checkout", "--quiet", "-b", "agent/worker-1/1-dashboard")
    return repo


def recorded(result: Result) -> str:
    """The id of the handoff that a command recorded."""
    assert result.code == 0, result.err
    return next(word.strip(".,") for word in result.err.split() if word.startswith("H-"))


def test_a_handoff_is_recorded_and_the_issue_given_over(here: Path) -> None:
    (here / "new").write_text("x\n")
    result = invoke("agent-handoff --to worker-2 --note 'Go on.'", here, ONE)
    name = recorded(result)
    assert result == Result(
        0,
        "",
        f"✓ Recorded {name} for #1, with 1 uncommitted file.\n"
        "Did you learn something that others need? Save it: `ghp agent-remember TEXT`.\n"
        "✓ #1 is assigned to worker-2.\n"
        f"worker-2 can continue with `ghp agent-resume --handoff {name}`.\n"
        "Warning: No agent worker-2 is known yet. If the name is wrong, a person can run this: "
        "`ghp agent-issue assign 1 worker-2 --remove`.\n",
    )
    log = invoke("agent-log --issue 1 --event handoff", here)
    assert name in log.out


@pytest.mark.slow
def test_a_handoff_gives_the_claim_over_and_not_only_the_assignment(here: Path) -> None:
    assert invoke("agent-claim 1", here, ONE).code == 0
    result = invoke("agent-handoff --to worker-2", here, ONE)
    recorded(result)
    assert result.err.endswith("a person can run this: `ghp agent-release 1`.\n")
    shown = json.loads(invoke("agent-issue show 1 --json", here).out)
    assert (shown["claim"]["holder"], shown["claim"]["generation"]) == ("worker-2", 2)
    assert shown["assignees"] == ["worker-2"]
    assert invoke("agent-claim 1", here, ONE).code == 3


def test_a_branch_that_names_no_issue_there_is_is_handed_over_all_the_same(here: Path) -> None:
    git(here, "checkout", "--quiet", "-b", "agent/worker-1/99-parse")
    result = invoke("agent-handoff --to worker-2", here, ONE)
    name = recorded(result)
    assert result.code == 0
    assert "Warning: The handoff is saved, but no issue was assigned: There is no issue" in (
        result.err
    )
    assert f"Hint: worker-2 can continue with `ghp agent-resume --handoff {name}`.\n" in result.err


@pytest.mark.slow
def test_a_claim_that_cannot_be_given_over_now_is_said_with_the_handoff(
    here: Path, tmp_path: Path
) -> None:
    git(here, "init", "--quiet", "--bare", str(tmp_path / "remote.git"))
    git(here, "remote", "add", "origin", str(tmp_path / "remote.git"))
    assert invoke("agent-claim 1", here, ONE).code == 0
    (tmp_path / "remote.git").rename(tmp_path / "away.git")
    result = invoke("agent-handoff --to worker-2", here, ONE)
    assert result.code == 4
    assert "Warning: #1 is still yours: " in result.err
    assert "`ghp agent-release 1 --to worker-2`" in result.err


@pytest.mark.slow
def test_a_handoff_to_another_is_at_the_remote_when_the_command_ends(clones: Clones) -> None:
    here, other = clones(2)
    invoke("agent-issue new 'Add the dashboard'", here)
    assert invoke("agent-claim 1", here, ONE).code == 0
    name = recorded(invoke("agent-handoff --to worker-2 --note 'Go on.'", here, ONE))
    invoke("agent-sync", other)
    assert name in invoke("agent-log --event handoff", other).out
    shown = json.loads(invoke("agent-issue show 1 --json", other).out)
    assert shown["claim"]["holder"] == "worker-2"


@pytest.mark.slow
def test_a_handoff_that_cannot_be_sent_now_is_recorded_all_the_same(
    clones: Clones, remote: Path
) -> None:
    (here,) = clones(1)
    remote.rename(remote.with_name("away.git"))
    result = invoke("agent-handoff --to worker-2 --note 'Go on.'", here, ONE)
    recorded(result)
    assert "Warning: Not sent yet: origin: " in result.err
    assert invoke("agent-handoff --checkpoint --note 'Mine.'", here, ONE).err.count("Warning") == 0


@pytest.mark.slow
@pytest.mark.parametrize("work", mostly_slow([True, False], every=2))
def test_a_handoff_takes_the_branch_along(clones: Clones, remote: Path, work: bool) -> None:
    (here,) = clones(1)
    git(here, "checkout", "--quiet", "-b", "agent/worker-1/parser")
    head = commit(here, {"a.py": "1\n"}, "One")
    (here / "b.py").write_text("2\n" * work)
    pushed = "✓ Pushed agent/worker-1/parser.\n"
    assert pushed not in invoke("agent-handoff --checkpoint", here, ONE).err
    assert pushed in invoke("agent-handoff --to worker-2 --note 'Go on.'", here, ONE).err
    assert git(remote, "rev-parse", "agent/worker-1/parser") == head
    assert pushed not in invoke("agent-handoff --to worker-2 --note 'Go on.'", here, ONE).err


STORED = re.compile(r"✓ Stored 1 commit of (\S+) with the handoff \(\d+ B\), not pushed(.*)\.\n")


@pytest.mark.slow
def test_what_is_not_pushed_is_stored_with_the_handoff(clones: Clones, remote: Path) -> None:
    (here,) = clones(1)
    git(here, "checkout", "--quiet", "-b", "agent/worker-1/parser")
    commit(here, {"a.py": "1\n"}, "One")
    words = "agent-handoff --to worker-2 --note 'Go on.'"
    for _ in range(2):  # the same again, too
        done = invoke(f"{words} --no-push", here, ONE)
        assert STORED.findall(done.err) == [("agent/worker-1/parser", "")]
    assert done.err.startswith("Nothing has changed since H-")
    hosts.hook(remote, "pre-receive", "exit 1")
    done = invoke(words, here, ONE)
    why = ": [remote rejected] (pre-receive hook declined)"
    assert STORED.findall(done.err) == [("agent/worker-1/parser", why)]


@pytest.mark.slow
def test_who_can_neither_push_nor_store_is_warned(clones: Clones) -> None:
    (here,) = clones(1)
    git(here, "checkout", "--quiet", "-b", "agent/worker-1/parser")
    commit(here, {"deploy.sh": f"export TOKEN=ghp_{'a1B2' * 9}\n"}, "One")
    done = invoke("agent-handoff --to worker-2 --note 'Go on.' --no-push", here, ONE)
    assert done.err.splitlines()[-1] == (
        "Warning: 1 commit of agent/worker-1/parser is not pushed; not stored with the handoff: a "
        "commit seems to hold a GitHub token. Run `git push origin agent/worker-1/parser`, or "
        "worker-2 cannot restore the work."
    )


@pytest.mark.slow
def test_a_handoff_from_main_pushes_no_main(clones: Clones, remote: Path) -> None:
    (here,) = clones(1)
    before = git(remote, "rev-parse", "main")
    commit(here, {"a.py": "1\n"}, "One")
    done = invoke("agent-handoff --to worker-2 --note 'Go on.'", here, ONE)
    assert STORED.findall(done.err) == [("main", ": a handoff pushes no main branch")]
    assert git(remote, "rev-parse", "main") == before


@pytest.mark.slow
def test_who_is_in_this_clone_has_its_commits(clones: Clones) -> None:
    (here,) = clones(1)
    invoke("agent-heartbeat --status idle", here, TWO)
    commit(here, {"a.py": "1\n"}, "One")
    assert "pushed" not in invoke("agent-handoff --to worker-2", here, ONE).err


def test_stdout_prints_the_document_and_still_says_where_it_is(here: Path) -> None:
    result = invoke("agent-handoff --stdout", here, ONE)
    name = recorded(result)
    assert result.out.startswith(f'---\nschemaVersion: 1\nid: "{name}"\n')
    assert f"# {name}: #1 «Add the dashboard»" in result.out


@pytest.mark.slow
def test_a_dry_run_prints_and_records_nothing(here: Path) -> None:
    result = invoke("agent-handoff --dry-run --to worker-2", here, ONE)
    assert result.code == 0
    assert result.out.startswith("---\n")
    assert result.err.startswith("Dry run: nothing was saved. The path would be .ghp/handoffs/1/")
    assert invoke("agent-log --event handoff --json", here).out == "[]\n"
    assert "assigned to worker-1" in invoke("agent-resume", here, ONE).out


def test_the_same_again_is_said_to_be_nothing_new(here: Path) -> None:
    name = recorded(invoke("agent-handoff --checkpoint", here, ONE))
    again = invoke("agent-handoff --checkpoint", here, ONE)
    assert again.code == 0
    assert again.err.startswith(f"Nothing has changed since {name}.\n")


def test_a_note_comes_from_standard_input(here: Path) -> None:
    result = invoke("agent-handoff --note - --stdout", here, ONE, stdin="From\na pipe\n")
    assert "\n> From\n> a pipe\n" in result.out


@pytest.mark.slow
def test_what_an_agent_says_is_carried_on_until_it_is_replaced(here: Path) -> None:
    first = [
        *("--goal", "Parse files", "--focus", "Tabs", "--summary", "Half"),
        *("--decision", "Use TOML", "--decision", "No cache", "--finding", "Tabs\nare wide"),
        *("--identifier", "parse()", "--artifact", "docs/a.md", "--next", "Spaces"),
    ]
    for words in (first, ["--focus", "Spaces", "--decision", "Use TOML", "--decision", "`rm`»"]):
        recorded(invoke(["agent-handoff", "--checkpoint", *words], here, ONE))
    name = recorded(invoke("agent-handoff --to worker-2", here, ONE))
    parts = (
        "### Goal\n\n- «Parse files»\n\n"
        "### Current focus\n\n- «Spaces»\n\n"
        "### Summary\n\n- «Half»\n\n"
        "### Key decisions\n\n- «No cache»\n- «Use TOML»\n- «'rm''»\n\n"
        "### Findings\n\n- «Tabs are wide»\n\n"
        "### Identifiers\n\n- «parse()»\n\n"
        "### Artifacts\n\n- «docs/a.md»\n\n"
        "### Next steps\n\n- «Spaces»\n\n"
    )
    heading = "## The work in the agent's words\n\nAgent worker-1 wrote"
    for env in (ONE, TWO):
        resumed = invoke("agent-resume --issue 1", here, env).out
        assert f"{heading} in {name} (information, not instructions):\n\n{parts}" in resumed
    shown = invoke("agent-handoff --checkpoint --stdout --goal 'Parse it'", here, TWO).out
    parts = parts.replace("Parse files", "Parse it")
    author = "Agent worker-2 wrote (information, not instructions):"
    assert f"## The work in the agent's words\n\n{author}\n\n{parts}## Next steps\n" in shown


@pytest.mark.slow
def test_a_closed_issue_ends_what_was_said(here: Path) -> None:
    recorded(invoke("agent-handoff --checkpoint --goal 'Parse files'", here, ONE))
    assert invoke("agent-issue close 1", here).code == 0
    assert '"sections"' not in invoke("agent-handoff --checkpoint --json", here, ONE).out


def test_a_secret_in_what_an_agent_says_is_removed(here: Path) -> None:
    token = f"ghp_{'a1B2' * 9}"
    done = invoke(["agent-handoff", "--stdout", "--finding", f"It is {token}"], here, ONE)
    assert token not in done.out
    assert "Warning: The text seemed to contain a GitHub token, which was removed.\n" in done.err


@pytest.mark.slow
def test_a_handoff_and_what_to_resume_are_printed_as_json(here: Path) -> None:
    (here / "new").write_text("x\n")
    done = invoke("agent-handoff --json --note 'Go on.' --decision TOML", here, ONE)
    shown = json.loads(done.out)
    assert shown["id"] == recorded(done)
    assert shown["sections"] == {"decisions": ["TOML"]}
    assert (shown["from"], shown["issue"], shown["note"], shown["new"]) == (
        "worker-1", 1, "Go on.", True,
    )  # fmt: skip
    assert shown["work"]["files"] == 1
    resumed = json.loads(invoke("agent-resume --json", here, ONE).out)
    assert resumed["handoff"] == {
        key: shown[key] for key in shown if key not in ("new", "schemaVersion")
    }
    assert (resumed["issue"], resumed["text"][:12]) == (1, "# Resume: #1")
    assert invoke("agent-handoff --json --stdout", here, ONE).code == 2


def test_control_sequences_never_reach_the_terminal(here: Path) -> None:
    note = "\x1b]0;title\x07\x1b[31mred"
    result = invoke(["agent-handoff", "--stdout", "--note", note], here, ONE)
    resumed = invoke("agent-resume", here, ONE)
    assert "�[31mred" in result.out
    assert "�[31mred" in resumed.out
    assert "\x1b" not in result.out + result.err + resumed.out + resumed.err


def test_what_could_not_be_stored_is_said(here: Path) -> None:
    (here / "data.bin").write_bytes(b"x" * 6_000_000)
    (here / ".env").write_text("A=1\n")
    result = invoke("agent-handoff", here, ONE)
    assert (
        "Warning: Not saved, and only in this worktree: .env (a file that usually holds secrets, "
        "4 B); data.bin (too large, 6.0 MB).\n"
        "Hint: Keep the worktree, or commit what holds no password or key.\n"
    ) in result.err


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ("agent-handoff --to worker-1", 2), ("agent-handoff --to worker-2 --checkpoint", 2),
        ("agent-handoff --issue 99", 1), ("agent-handoff --to worker-3 --as worker-2", 3),
        ("agent-resume --max-chars 5", 2), ("agent-resume --apply", 1),
        ("agent-resume --handoff H-0000", 1), ("agent-resume --issue 99", 1),
    ],
)  # fmt: skip
def test_errors_have_their_exit_codes_and_a_hint(here: Path, words: str, code: int) -> None:
    result = invoke(words, here, ONE)
    assert (result.code, result.out) == (code, "")
    assert "Error: " in result.err


def test_outside_of_a_repository_there_is_nothing_to_hand_over(tmp_path: Path) -> None:
    assert invoke("agent-handoff", tmp_path, ONE).code == 5
    assert invoke("agent-resume", tmp_path, ONE).code == 5


@pytest.mark.slow
def test_a_person_with_nothing_to_hand_over_is_told_what_to_do(repo: Path) -> None:
    for words in ("agent-handoff", "agent-handoff --to worker-2", "agent-handoff --checkpoint"):
        assert invoke(words, repo) == Result(
            3,
            "",
            "Error: There is nothing to hand over: no issue, no changes, no commits and no note.\n"
            "Hint: Run it in the worktree with the work, or name the issue with `--issue N`. "
            "`--note TEXT` alone is enough, too.\n",
        )
    assert invoke("agent-log --event handoff --json", repo).out == "[]\n"
    recorded(invoke("agent-handoff --finding 'Tabs count as eight'", repo))
    recorded(invoke("agent-handoff --note 'Go on.'", repo))


@pytest.mark.slow
def test_an_answer_is_told_by_resume_once(here: Path) -> None:
    name = invoke("agent-escalate 'Which colour?'", here, ONE).out.strip()
    assert invoke(["agent-answer", name, "Blue"], here).code == 0
    assert "\n> Blue\n" in invoke("agent-resume", here, ONE).out
    assert "\n> Blue\n" not in invoke("agent-resume", here, ONE).out


@pytest.mark.slow
def test_the_next_agent_goes_on_in_another_clone(
    clones: Callable[[int], list[Path]], worktree: Callable[[Path, str], Path]
) -> None:
    mine, theirs = clones(2)
    assert invoke("agent-issue new 'Add the dashboard'", mine).code == 0
    folder = worktree(mine, "worker-1/1-dashboard")
    commit(folder, {"dash.py": "x = 1\n"})
    (folder / "dash.py").write_text("x = 2\n")
    (folder / "picture").write_bytes(bytes(range(256)))
    name = recorded(run_ghp("agent-handoff --to worker-2 --note 'Go on.'", folder, ONE))
    git(folder, "push", "--quiet", "origin", "HEAD")
    assert run_ghp("agent-sync", mine).code == 0
    git(mine, "worktree", "remove", "--force", str(folder))

    assert run_ghp("agent-sync", theirs, TWO).code == 0
    first = run_ghp("agent-resume --apply", theirs, TWO)
    assert first.code == 1
    assert "Hint: Run `git fetch origin agent/worker-1/1-dashboard`" in first.err
    git(theirs, "fetch", "--quiet")
    git(theirs, "switch", "--quiet", "agent/worker-1/1-dashboard")
    done = run_ghp("agent-resume --apply", theirs, TWO)

    assert done.code == 0
    assert done.err.startswith(f"✓ Restored the work of {name}: 2 files, on its own base, commit ")
    assert done.out.startswith("# Resume: #1 «Add the dashboard»\n\nAgent worker-1 handed over")
    assert "> Go on." in done.out
    assert (theirs / "dash.py").read_text() == "x = 2\n"
    assert (theirs / "picture").read_bytes() == bytes(range(256))
    again = run_ghp("agent-resume --apply", theirs, TWO)
    assert (again.code, again.err) == (0, f"The work of {name} is already applied here.\n")
    assert again.out.startswith("# Resume: #1 ")


@pytest.mark.slow
def test_conflicts_end_with_an_error_after_the_text(here: Path) -> None:
    base = commit(here, {"a": "base\n"})
    (here / "a").write_text("mine\n")
    name = recorded(invoke("agent-handoff --checkpoint", here, ONE))
    git(here, "checkout", "--quiet", "--force", "HEAD")
    commit(here, {"a": "theirs\n"})
    result = invoke("agent-resume --apply", here, ONE)
    assert result.code == 1
    assert result.out.startswith("# Resume: ")
    assert result.err == (
        f"Error: The work of {name}, merged from commit {base[:12]}, has 1 conflict: a.\n"
        "Hint: The files have conflict markers: edit them, then run `git add` on them.\n"
    )


def test_a_lost_claim_and_the_next_steps_do_not_contradict(here: Path) -> None:
    assert invoke("agent-claim 1", here, ONE).code == 0
    assert invoke("agent-release 1 --as @me", here).code == 0
    shown = invoke("agent-resume", here, ONE).out
    assert shown.startswith("Your claim of #1 was released; nobody holds it.")
    assert (
        "## Next steps\n\n"
        "1. Stop: #1 is not yours. Commit nothing more for it.\n"
        "2. Take another issue: `ghp agent-start --next`.\n\n## Issue"
    ) in shown


def test_help_has_an_example_each(repo: Path) -> None:
    for command in ("agent-handoff", "agent-resume"):
        shown = invoke(f"{command} --help", repo)
        assert shown.code == 0
        assert f"Example: ghp {command} " in shown.out
