"""`agent-escalate`, `agent-escalations`, `agent-answer` as agents, people and scripts call them."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ghp_agents.core.clock import SystemClock
from tests.support.clock import ManualClock
from tests.support.ghp import CHECKOUT, Result, invoke, run_ghp, succeed
from tests.support.git import git

AS = {"GHP_AGENT": "worker-1"}


def ask(repo: Path, *args: str, env: dict[str, str] = AS, stdin: str = "") -> str:
    """Ask, and answer the id."""
    code, out, err = invoke(["agent-escalate", *args], repo, env, stdin)
    assert code == 0, err
    return out.rstrip("\n")


def listed(repo: Path, *args: str, env: dict[str, str] | None = None) -> list[dict[str, Any]]:
    code, out, err = invoke(["agent-escalations", "--json", *args], repo, env)
    assert (code, err) == (0, "")
    questions: list[dict[str, Any]] = json.loads(out)
    return questions


def environ(**more: str) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(CHECKOUT), **more}


# -------------------------------------------------------------------------------- asking


def test_asking_prints_the_id_and_says_how_it_is_answered(repo: Path) -> None:
    code, out, err = invoke(["agent-escalate", "Which database?"], repo, AS)
    name = out.rstrip("\n")
    assert (code, out) == (0, f"{name}\n")
    assert name.startswith("E-")
    assert err == f"✓ Asked {name}. To answer: ghp agent-answer {name} TEXT\n"
    again = invoke(["agent-escalate", "Which database?"], repo, AS)
    assert again == (0, out, f"Already asked as {name}; nobody has answered yet.\n")


def test_an_issue_shows_its_question_and_its_answer_once_each(repo: Path) -> None:
    invoke(["agent-issue", "new", "Storage"], repo)
    name = ask(repo, "Which database?", "--issue", "1")
    ask(repo, "Which database?", "--issue", "#1")
    for _ in range(2):
        assert invoke(["agent-answer", name, "SQLite"], repo).code == 0
    code, out, _ = invoke("agent-issue show 1 --json", repo)
    assert code == 0
    bodies = [comment["body"] for comment in json.loads(out)["comments"]]
    (answer,) = listed(repo)[0]["answers"]
    assert bodies == [
        f"worker-1 asks ({name}):\n\n> Which database?\n\n"
        f'Answer with `ghp agent-answer {name} "…"`.\n\n<!-- ghp:escalation {name} -->',
        f"Test Person answers {name}:\n\n> SQLite\n\n<!-- ghp:answer {answer['id']} -->",
    ]
    shown = invoke("agent-issue show 1", repo).out
    assert shown.endswith(f"> Test Person answers {name}:\n>\n> > SQLite\n")
    assert "<!--" not in shown, "what programs find a comment by is nothing for people"


def test_the_issue_in_hand_needs_no_naming(repo: Path) -> None:
    invoke(["agent-issue", "new", "Storage"], repo)
    invoke("agent-heartbeat --issue 1", repo, AS)
    ask(repo, "Which database?")
    assert [question["issue"] for question in listed(repo)] == [1]
    assert [question["issue"] for question in listed(repo, "--issue", "#1")] == [1]


def test_question_and_context_come_from_files_and_pipes(repo: Path) -> None:
    (repo / "build.log").write_text("error: ---\n```\nline 3\n")
    ask(repo, "-", "--context", "build.log", stdin="Why?\n---\nreally\n")
    ask(repo, "And this?", "--context", "-", stdin="from a pipe\n")
    assert [(question["question"], question["context"]) for question in listed(repo)] == [
        ("Why?\n---\nreally", "error: ---\n```\nline 3"),
        ("And this?", "from a pipe"),
    ]


def test_a_context_that_is_too_long_is_cut_and_both_sides_are_told(repo: Path) -> None:
    (repo / "build.log").write_text("é" * 100_000)
    code, _, err = invoke(["agent-escalate", "Why?", "--context", "build.log"], repo, AS)
    assert code == 0
    assert err.startswith("Warning: Attached only the first 64 kB of build.log.\n")
    context = listed(repo)[0]["context"]
    assert context == "é" * 32_768 + "\n… (cut: only the first 64 kB attached)"


@pytest.mark.parametrize(
    ("args", "env", "code", "message"),
    [
        (["Why?", "--context", "none.log"], AS, 2, "Cannot read none.log: No such file or dir"),
        (["Why?", "--context", "."], AS, 2, "Cannot read .: Is a directory."),
        (["Why?", "--context", "a.bin"], AS, 2, "a.bin is not UTF-8 text (byte 1)."),
        (["-", "--context", "-"], AS, 2, "The question and --context cannot both be read from"),
        (["Why?", "--timeout", "5"], AS, 2, "--timeout needs --wait."),
        (["Why?", "--option", ""], AS, 2, "An option has 0 characters; it needs 1 to 500."),
        ([""], AS, 2, "The question is empty."),
        (["Why?", "--issue", "99"], AS, 1, "There is no issue 99."),
        (["Why?"], {}, 5, "This command acts as an agent, but no agent is named here."),
        (["Why?"], {"GHP_AGENT": "../x"}, 2, "'../x' is not a valid agent name."),
    ],
)
def test_what_cannot_be_asked_says_why_and_what_next(
    repo: Path, args: list[str], env: dict[str, str], code: int, message: str
) -> None:
    (repo / "a.bin").write_bytes(b"a\xff")
    ended, out, err = invoke(["agent-escalate", *args], repo, env)
    assert (ended, out) == (code, "")
    error, hint = err.splitlines()
    assert error.startswith(f"Error: {message}")
    assert hint.startswith("Hint: ")
    assert listed(repo) == []


@pytest.mark.slow
def test_standard_input_that_is_not_text_is_refused(repo: Path) -> None:
    command = [sys.executable, "-m", "ghp_agents", "agent-escalate", "-", "--as", "worker-1"]
    done = subprocess.run(
        command, cwd=repo, input=b"ab\xff", capture_output=True, env=environ(), check=False
    )
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"Error: The question on standard input is not UTF-8 text (byte 2)." in done.stderr


# ------------------------------------------------------------------------------- waiting


@pytest.mark.slow
def test_who_waits_gets_the_answer_on_stdout_and_is_not_told_again(repo: Path) -> None:
    invoke("agent-heartbeat --status implementing", repo, AS)
    command = [sys.executable, "-m", "ghp_agents", "agent-escalate", "Which database?", "--wait"]
    with subprocess.Popen(
        command, cwd=repo, env=environ(**AS), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        encoding="utf-8",
    ) as waiting:  # fmt: skip
        assert waiting.stderr is not None
        name = waiting.stderr.readline().split()[2].rstrip(".")
        answered = invoke(["agent-answer", name, "-"], repo, stdin="SQLite,\n\x1b[2Jfor now.\n")
        out, err = waiting.communicate(timeout=60)
    done = f"✓ Answered {name}. worker-1 sees it at its next status, resume or hook.\n"
    assert answered == (0, "", done)
    assert (waiting.returncode, out) == (0, "SQLite,\n�[2Jfor now.\n")
    assert err == f"{name} was answered by person «Test Person»:\n"
    status = json.loads(invoke("agent-status --json", repo).out)
    assert status["agents"]["worker-1"]["status"] == "implementing"
    assert "Which database?" not in invoke("agent-status", repo, AS).err


def test_who_waits_too_long_is_told_how_to_go_on_and_the_question_stays(repo: Path) -> None:
    code, out, err = invoke('agent-escalate "Why?" --wait --timeout 0', repo, AS)
    (question,) = listed(repo, "--open")
    name = question["id"]
    assert (code, out) == (1, "")
    assert err.splitlines()[1:] == [
        f"Error: No answer to {name} within 0 s.",
        f"Hint: The question stays open. Show it with `ghp agent-escalations {name}`, or run the "
        "same command to wait again. `ghp agent-status` reports the answer.",
    ]
    invoke(["agent-answer", str(name), "Because."], repo)
    again = invoke('agent-escalate "Why?" --wait --timeout 0', repo, AS)
    assert again == (
        0,
        "Because.\n",
        f"Already asked as {name}; it has an answer now.\n"
        f"{name} was answered by person «Test Person»:\n",
    )


def test_who_stops_waiting_is_told_how_to_go_on(
    repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(SystemClock, "wait", interrupted)
    code, out, err = invoke('agent-escalate "Why?" --wait', repo, AS)
    (question,) = listed(repo, "--open")
    name = question["id"]
    assert (code, out) == (130, "")
    assert err.splitlines()[1:] == [
        f"The question stays open. Show it with `ghp agent-escalations {name}`, or run the same "
        "command to wait again. `ghp agent-status` reports the answer.",
        "",  # after the ^C of the terminal
        "Aborted.",
    ]


@pytest.mark.slow
def test_an_answer_in_another_clone_reaches_the_one_that_asked(
    clones: Callable[[int], list[Path]],
) -> None:
    one, two = clones(2)
    name = ask(one, "Which database?")
    for clone in (one, two):
        assert invoke("agent-sync", clone).code == 0
    assert invoke(["agent-answer", name, "SQLite"], two).code == 0
    for clone in (two, one):
        assert invoke("agent-sync", clone).code == 0
    code, out, _ = invoke("agent-status", one, AS)
    assert code == 0
    assert f"{name}, by person «Test Person»" in out
    assert "```\nSQLite\n```\nEnd of the answer by person «Test Person».\n" in out
    assert "SQLite" not in invoke("agent-status", one, AS).out


@pytest.mark.no_background
@pytest.mark.slow
def test_where_there_is_no_background_it_is_sent_before_the_command_ends(
    clones: Callable[[int], list[Path]], remote: Path
) -> None:
    here, other = clones(2)
    name = ask(here, "Which?")
    invoke("agent-sync", other)
    assert invoke(["agent-answer", name, "SQLite"], other).code == 0
    invoke("agent-sync", here)
    assert "SQLite" in invoke(["agent-escalations", name], here).out
    remote.rename(remote.with_name("away.git"))
    code, out, err = invoke(["agent-escalate", "And now?"], here, {"GHP_AGENT": "worker-1"})
    assert (code, out[:2]) == (0, "E-")
    assert "Warning: Not sent yet: origin: " in err


# ------------------------------------------------------------------------------- listing


def test_a_fresh_repository_has_no_questions(repo: Path) -> None:
    assert invoke("agent-escalations", repo) == (0, "", "No questions.\n")
    assert invoke("agent-escalations --json", repo) == (0, "[]\n", "")


def test_the_list_puts_first_what_waits_and_is_urgent(repo: Path) -> None:
    ids = [
        ask(repo, "Answered?"),
        ask(repo, "Small?", "--urgency", "low"),
        ask(repo, "Usual?\nwith more"),
        ask(repo, "Burning?", "--urgency", "high", env={"GHP_AGENT": "worker-2"}),
    ]
    invoke(["agent-answer", ids[0], "Yes"], repo)
    code, out, err = invoke("agent-escalations", repo)
    assert (code, err) == (0, "")
    head, *rows = [line.split() for line in out.splitlines()]
    assert head == ["ID", "STATE", "URGENCY", "AGENT", "ISSUE", "ASKED", "QUESTION"]
    assert [(row[1], row[2], row[3], row[4], row[-1]) for row in rows] == [
        ("open", "high", "worker-2", "-", "Burning?"),
        ("open", "normal", "worker-1", "-", "Usual?"),
        ("open", "low", "worker-1", "-", "Small?"),
        ("answered", "normal", "worker-1", "-", "Answered?"),
    ]
    assert all(ids[3 - index].startswith(row[0]) for index, row in enumerate(rows))
    assert len(listed(repo, "--open")) == 3
    assert [question["id"] for question in listed(repo, "--mine", env=AS)] == ids[:3]
    assert [question["id"] for question in listed(repo, "--mine", "--open", env=AS)] == ids[1:3]
    assert invoke("agent-escalations --mine", repo).code == 5


def test_json_has_all_there_is(repo: Path) -> None:
    name = ask(repo, "Which?", "--option", "SQLite", "--option", "Postgres", "--urgency", "high")
    invoke(["agent-answer", name, "SQLite"], repo)
    (question,) = listed(repo, name)
    (answer,) = question["answers"]
    assert question == {
        "schemaVersion": 1,
        "id": name,
        "state": "answered",
        "agent": "worker-1",
        "issue": None,
        "urgency": "high",
        "question": "Which?",
        "options": ["SQLite", "Postgres"],
        "context": "",
        "askedAt": question["askedAt"],
        "branch": "main",
        "commit": git(repo, "rev-parse", "HEAD"),
        "answers": [
            {
                "id": answer["id"],
                "by": "Test Person",
                "person": True,
                "at": answer["at"],
                "text": "SQLite",
            }
        ],
        "outcome": None,
        "advice": [],
    }


def test_one_question_is_shown_in_full_with_its_answers(repo: Path) -> None:
    (repo / "a.txt").write_text("line 1\nline 2\x1b[31m\n")
    name = ask(repo, "Which?\nSay \x1b[2J.", "--option", "SQLite", "--context", "a.txt")
    head = git(repo, "rev-parse", "HEAD")[:12]
    asked_at = listed(repo)[0]["askedAt"]
    open_part = (
        f"{name}\nAsked by: worker-1, {asked_at}\nUrgency: normal\nBranch: main {head}\n\n"
        "Which?\nSay �[2J.\n\nOptions:\n1. SQLite\n\nContext:\nline 1\nline 2�[31m\n\n"
    )
    shown = invoke(["agent-escalations", name[:6].lower()], repo)
    assert shown == (
        0, f"{open_part}Nobody has answered yet. To answer: ghp agent-answer {name} TEXT\n", "",
    )  # fmt: skip
    for env, text in (({}, "SQLite"), ({"GHP_AGENT": "worker-2"}, "No:\nPostgres")):
        invoke(["agent-answer", name, text], repo, env)
    (question,) = listed(repo)
    one, two = (reply["at"] for reply in (*question["answers"], *question["advice"]))
    assert invoke(["agent-escalations", name], repo).out == (
        f"{open_part}Answer by person «Test Person», {one}:\n"
        "SQLite\n"
        "\n"
        f"Advice by agent worker-2, {two} (not an answer):\n"
        "No:\n"
        "Postgres\n"
    )


# ------------------------------------------------------------------------------ answering


def test_a_second_answer_is_added_and_a_repeated_one_is_not(repo: Path) -> None:
    name = ask(repo, "Which?")
    invoke(["agent-answer", name, "SQLite"], repo)
    more = invoke(["agent-answer", name, "No, Postgres"], repo)
    assert more == (
        0, "",
        f"✓ Changed the answer to {name} (was: «SQLite», by person «Test Person»).\n",
    )  # fmt: skip
    again = invoke(["agent-answer", name, "No, Postgres"], repo)
    assert again == (0, "", f"{name} already has this answer.\n")


def test_who_goes_back_to_what_was_said_before_has_the_last_word(repo: Path) -> None:
    name = ask(repo, "Which?")
    for text in ("SQLite", "Postgres", "SQLite", "SQLite"):
        assert invoke(["agent-answer", name, text], repo).code == 0
    (question,) = listed(repo)
    assert [answer["text"] for answer in question["answers"]] == ["SQLite", "Postgres", "SQLite"]
    status = invoke("agent-status", repo, {"GHP_AGENT": "worker-1"}).out
    assert status.count("The last of 3 answers to your question") == 1
    assert status.count("End of the answer") == status.count("It replaces the earlier ones.") == 1


def test_an_answer_that_is_no_option_is_taken_with_a_warning(repo: Path) -> None:
    name = ask(repo, "How many?", "--option", "one", "--option", "eight")
    code, _, err = invoke(["agent-answer", name, "tow"], repo)
    assert code == 0
    assert err.splitlines()[1:] == [
        "Warning: 'tow' is not one of the options: one, eight.",
        f"Hint: To pick an option, run `ghp agent-answer {name} 1` (its number or text). The last "
        "answer counts.",
    ]
    for text in ("2", "One"):
        assert "Warning" not in invoke(["agent-answer", name, text], repo).err


@pytest.mark.parametrize(
    ("args", "code", "message"),
    [
        (["E-zz", "x"], 1, "There is no question E-zz."),
        (["", "x"], 1, "There is no question (nothing)."),
        (["$(reboot)\x1b[2J", "x"], 1, "There is no question $(reboot) [2J."),
        (["E-1", " "], 2, "The answer is empty."),
    ],
)
def test_what_cannot_be_answered_says_why_and_what_next(
    repo: Path, args: list[str], code: int, message: str
) -> None:
    ask(repo, "Which?")
    ended, out, err = invoke(["agent-answer", *args], repo)
    assert (ended, out) == (code, "")
    assert err.startswith(f"Error: {message}\nHint: ")


@pytest.mark.slow
def test_an_id_that_fits_several_lists_them(repo: Path) -> None:
    ids = [ask(repo, f"Question {number}?") for number in range(17)]  # two begin alike
    firsts = [name[2] for name in ids]
    shared = next(first for first in firsts if firsts.count(first) > 1)
    code, out, err = invoke(["agent-answer", shared, "x"], repo)
    assert (code, out) == (2, "")
    error, hint = err.splitlines()
    assert error.startswith(f"Error: '{shared}' matches {firsts.count(shared)} questions.")
    assert all(name in hint for name in ids if name[2] == shared)


# ----------------------------------------------------------------------- cost and hostility


@pytest.mark.slow
def test_listing_imports_nothing_heavy(repo: Path) -> None:
    ask(repo, "Which?", "--context", str(CHECKOUT / "LICENSE"))
    command = [sys.executable, "-X", "importtime", "-m", "ghp_agents", "agent-escalations"]
    done = subprocess.run(command, cwd=repo, env=environ(), capture_output=True, text=True)
    assert done.returncode == 0
    assert "Which?" in done.stdout
    imported = {
        line.rpartition("|")[2].strip().partition(".")[0] for line in done.stderr.splitlines()
    }
    assert "click" in imported
    heavy = {"filelock", "git", "github", "jinja2", "mem0", "pathspec", "pydantic", "rich", "yaml"}
    assert imported & heavy == set()


def test_a_question_like_an_option_or_a_terminal_command_stays_a_question(repo: Path) -> None:
    text = "--wait \x1b]0;owned\x07 $(touch owned) `touch owned` {0} %s"
    code, out, err = invoke(["agent-escalate", "--", text], repo, AS)
    assert code == 0
    assert "\x1b" not in out + err
    shown = invoke("agent-escalations", repo)
    assert "--wait ]0;owned $(touch owned)" in shown.out
    assert "\x1b" not in shown.out + shown.err
    assert listed(repo)[0]["question"] == text
    assert not (repo / "owned").exists()


@pytest.mark.slow
def test_a_broken_record_of_another_clone_is_reported_and_hides_nothing(
    clones: Callable[[int], list[Path]],
) -> None:
    one, two = clones(2)
    name = ask(one, "Which?")
    ask(two, "Broken?")
    state = two / ".git/ghp/state.git"
    ref = git(state, "for-each-ref", "--format=%(refname)", "refs/ghp/clone/")
    path = git(state, "ls-tree", "-r", "--name-only", ref, ".ghp/escalations/")
    stream = (
        f"commit {ref}\ncommitter x <x@x> 1750000000 +0000\ndata 0\n\nfrom {ref}^0\n"
        f"M 100644 inline {path}\ndata 7\n\0\x1b[2J\0\n\n"
    )
    git(state, "fast-import", "--quiet", "--force", stdin=stream)
    for clone in (two, one):
        assert invoke("agent-sync", clone).code == 0
    code, out, err = invoke("agent-escalations", one)
    assert code == 0
    assert [line.split()[0] for line in out.splitlines()][1:] == [name[:6]]
    reason = "no front matter: the first line is not `---`"
    assert err == f"Warning: Cannot read {path}: {reason}.\n"


@pytest.mark.parametrize("command", ["agent-escalate", "agent-escalations", "agent-answer"])
def test_help_has_an_example_and_needs_no_repository(tmp_path: Path, command: str) -> None:
    result: Result = run_ghp(f"{command} --help", tmp_path)
    assert (result.code, result.err) == (0, "")
    assert f"Example: ghp {command} " in result.out


def test_outside_of_a_repository_it_says_so(tmp_path: Path) -> None:
    for args in (["agent-escalate", "x"], ["agent-escalations"], ["agent-answer", "E-1", "x"]):
        code, out, err = invoke(args, tmp_path, AS)
        assert (code, out) == (5, "")
        assert "is not inside a git repository." in err


TOKEN = "ghp_" + "x" * 36  # of the shape of a token, and none


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (["agent-escalate", f"May I use {TOKEN}?"], "argument QUESTION"),
        (["agent-escalate", "Which?", "--option", TOKEN], "option --option"),
        (["agent-issue", "new", f"Use {TOKEN}"], "argument TITLE"),
        (["agent-issue", "new", "Use it", "--body", f"The token is {TOKEN}."], "option --body"),
    ],
)
def test_a_secret_is_refused_and_not_shown(repo: Path, words: list[str], what: str) -> None:
    code, out, err = invoke(words, repo, {"GHP_AGENT": "worker-1"})
    assert (code, out) == (2, "")
    assert err == (
        f"Error: The {what} seems to contain a GitHub token. What commands store is shared, and "
        "cannot be withdrawn.\n"
        "Hint: Remove it, and say where it is stored instead. Nothing was saved.\n"
    )
    assert invoke("agent-log", repo).out == ""


def test_a_secret_in_an_action_is_taken_out_before_anybody_sees_it(repo: Path) -> None:
    agent = {"GHP_AGENT": "worker-1"}
    invoke(["agent-heartbeat", "--action", f"Tried {TOKEN}"], repo, agent)
    invoke("agent-status --set testing", repo, agent)
    shown = invoke("agent-status --json", repo).out + invoke("agent-log", repo).out
    assert "[a GitHub token removed]" in shown
    assert TOKEN not in shown


def test_a_person_answers_as_themselves_in_an_agents_worktree(repo: Path) -> None:
    agent = {"GHP_AGENT": "worker-1"}
    name = invoke(
        ["agent-escalate", "Which?", "--option", "json", "--option", "yaml"], repo, agent
    ).out.strip()
    assert invoke(["agent-answer", name, "json"], repo, agent) == (
        3,
        "",
        "Error: worker-1 asked this question, and you act for worker-1 here.\n"
        "Hint: Only a person or an orchestrator answers it.\n",
    )
    assert invoke(["agent-answer", name, "2", "--as", "@me"], repo).code == 0
    (question,) = json.loads(invoke("agent-escalations --json", repo).out)
    (answer,) = question["answers"]
    assert (answer["by"], answer["text"]) == ("Test Person", "yaml")


@pytest.mark.parametrize(("text", "stored"), [("1", "json"), ("3", "3"), ("0", "0"), ("12", "12")])
def test_only_the_number_of_an_option_stands_for_it(repo: Path, text: str, stored: str) -> None:
    words = ["agent-escalate", "Which?", "--option", "json", "--option", "12"]
    name = invoke(words, repo, {"GHP_AGENT": "worker-1"}).out.strip()
    invoke(["agent-answer", name, text], repo)
    (question,) = json.loads(invoke("agent-escalations --json", repo).out)
    assert [answer["text"] for answer in question["answers"]] == [stored]


@pytest.mark.slow
def test_an_answer_for_another_clone_is_there_when_the_command_ends(
    clones: Callable[[int], list[Path]],
) -> None:
    one, other = clones(2)
    succeed(one, "agent-init", "agent-heartbeat --as worker-1")
    name = invoke("agent-escalate Which?", one, {"GHP_AGENT": "worker-1"}).out.strip()
    succeed(one, "agent-sync")
    succeed(other, "agent-init", "agent-sync")
    done = invoke(f"agent-answer {name} eight", other, {"GHP_BACKGROUND": "1"})
    assert (done.code, done.err) == (
        0, f"✓ Answered {name}. worker-1 sees it after the next sync of its clone.\n",
    )  # fmt: skip
    succeed(one, "agent-sync")
    assert "eight" in invoke(f"agent-escalations {name}", one).out


@pytest.mark.no_background
@pytest.mark.slow
def test_who_waits_for_an_answer_gets_it_by_resume(
    clones: Callable[[int], list[Path]],
) -> None:
    one, other = clones(2)
    clock = ManualClock()
    succeed(one, "agent-init", "agent-heartbeat --as worker-1", clock=clock)
    name = invoke("agent-escalate Which?", one, AS, clock=clock).out.strip()
    succeed(one, "agent-sync", clock=clock)
    succeed(other, "agent-init", "agent-sync", f"agent-answer {name} eight", clock=clock)
    assert f"{name}, asked by worker-1" in invoke("agent-resume", one, AS, clock=clock).out
    clock.wait(16)
    assert "> eight" in invoke("agent-resume", one, AS, clock=clock).out
