"""`agent-issues` and `agent-issue` as agents and people call them."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.support.ghp import CHECKOUT, Result, invoke, run_ghp, succeed
from tests.support.git import git, refs
from tests.support.thorough import count

WORKER = {"GHP_AGENT": "worker-1"}
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")


def issue(repo: Path, *args: str, env: Mapping[str, str] | None = None, stdin: str = "") -> Result:
    return invoke(["agent-issue", *args], repo, env, stdin)


def listed(repo: Path, *args: str, env: Mapping[str, str] | None = None) -> list[str]:
    """The titles that `agent-issues --json` answers."""
    code, out, err = invoke(["agent-issues", "--json", *args], repo, env)
    assert (code, err) == (0, "")
    return [issue["title"] for issue in json.loads(out)]


@pytest.fixture
def three(repo: Path) -> Path:
    """#1, #2 that waits for it, and #3 of worker-1."""
    issue(repo, "new", "Parse files", "--label", "bug", "--label", "parser", "--priority", "high")
    issue(repo, "new", "Write docs", "--blocked-by", "1", "--body", "All of them.", env=WORKER)
    issue(repo, "new", "Release", "--assign", "worker-1", "--parent", "#2", "--priority", "low")
    return repo


# ---------------------------------------------------------------------------------- listing


def test_a_fresh_repository_has_no_issues_and_nothing_is_made_in_it(repo: Path) -> None:
    assert invoke("agent-issues", repo) == (
        0,
        "",
        "No open issues. Create one with `ghp agent-issue new TITLE`.\n",
    )
    assert invoke("agent-issues --ready --json", repo) == (0, "[]\n", "")
    assert not (repo / ".git/ghp/state.git").exists()


def test_the_list_is_a_table(three: Path) -> None:
    assert invoke("agent-issues", three) == (
        0,
        """\
ISSUE  PRIORITY  STATE  HOLDER  ASSIGNED  BLOCKED BY  LABELS       TITLE
#1     high      open                                 bug, parser  Parse files
#2     medium    open                     #1                       Write docs
#3     low       open           worker-1                           Release
""",
        "",
    )


def test_a_closed_blocker_blocks_no_more(three: Path) -> None:
    issue(three, "close", "1")
    assert (
        invoke("agent-issues --all", three).out
        == """\
ISSUE  PRIORITY  STATE   HOLDER  ASSIGNED  BLOCKED BY  LABELS       TITLE
#2     medium    open                                               Write docs
#3     low       open            worker-1                           Release
#1     high      closed                                bug, parser  Parse files
"""
    )
    assert listed(three, "--ready") == ["Write docs"]
    assert listed(three, "--closed") == ["Parse files"]


def test_wishes_choose(three: Path) -> None:
    assert listed(three) == ["Parse files", "Write docs", "Release"]
    assert listed(three, "--ready") == ["Parse files"]
    assert listed(three, "--label", "bug") == ["Parse files"]
    assert listed(three, "--mine", env=WORKER) == ["Release"]
    assert listed(three, "--mine", "--ready", env=WORKER) == ["Release"]
    assert listed(three, "--mine", "--as", "worker-2") == []
    assert listed(three, "--mine") == []


def test_nothing_ready_says_where_the_rest_is(repo: Path) -> None:
    issue(repo, "new", "T", "--assign", "worker-1")
    assert invoke("agent-issues --ready", repo).err == (
        "No issue is ready. `ghp agent-issues` shows what is claimed, assigned or blocked.\n"
    )


@pytest.mark.parametrize("option", ["--closed", "--label x"])
def test_where_none_fits_it_says_how_to_see_all(repo: Path, option: str) -> None:
    issue(repo, "new", "T")
    assert invoke(f"agent-issues {option}", repo) == (
        0, "", "No issue matches. `ghp agent-issues --all` lists all.\n",
    )  # fmt: skip


def test_ready_and_closed_contradict_each_other(repo: Path) -> None:
    code, out, err = invoke("agent-issues --ready --closed", repo)
    assert (code, out) == (2, "")
    assert err.startswith("Error: Closed issues are never ready.\nHint: ")


def test_the_list_runs_as_a_process_of_its_own(three: Path) -> None:
    assert run_ghp("agent-issues --ready", three).out.splitlines()[1:] == [
        "#1     high      open                                 bug, parser  Parse files"
    ]


@pytest.mark.slow
def test_a_list_and_a_view_import_nothing_heavy(three: Path) -> None:
    for words in ("agent-issues", "agent-issues --ready --json", "agent-issue show 2"):
        done = subprocess.run(
            [sys.executable, "-X", "importtime", "-m", "ghp_agents", *words.split()],
            cwd=three,
            env={**os.environ, "PYTHONPATH": str(CHECKOUT)},
            capture_output=True,
            text=True,
            check=True,
        )
        loaded = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
        heavy = {"filelock", "git", "github", "jinja2", "pathspec", "pydantic", "rich", "yaml"}
        assert "click" in loaded
        assert loaded & heavy == set()


# ------------------------------------------------------------------------------------ making


def test_new_prints_the_number_alone_and_says_the_rest_aside(repo: Path) -> None:
    assert issue(repo, "new", "Parse  files") == (0, "1\n", "✓ Created #1 «Parse files».\n")
    assert issue(repo, "new", "Next") == (0, "2\n", "✓ Created #2 «Next».\n")


def test_new_again_makes_no_second_one(repo: Path) -> None:
    issue(repo, "new", "T", "--body", "B")
    assert issue(repo, "new", "T", "--body", "B") == (
        0,
        "1\n",
        "#1 «T» already exists; use --again to create another one.\n",
    )
    assert issue(repo, "new", "T", "--body", "B", "--again").out == "2\n"


def test_the_body_can_come_from_standard_input(repo: Path) -> None:
    issue(repo, "new", "T", "--body", "-", stdin="Zeile 1: Grüße\nLine 2\n")
    assert json.loads(issue(repo, "show", "1", "--json").out)["body"] == "Zeile 1: Grüße\nLine 2"


@pytest.mark.parametrize(
    ("args", "code", "error"),
    [
        (["new"], 2, "`ghp agent-issue new` needs a title."),
        (["new", " "], 2, "The title is empty."),
        (["new", "x" * 300], 2, "The title has 300 characters; it needs 1 to 256."),
        (["new", "T", "--priority", "urgent"], 2, "'urgent' is not one of"),
        (["new", "T", "--assign", "../../x"], 2, "'../../x' is not a valid agent name."),
        (["new", "T", "--blocked-by", "9"], 1, "There is no issue 9."),
        (["new", "T", "--as", "../../x"], 2, "'../../x' is not a valid agent name."),
        (["show", "9"], 1, "There is no issue 9."),
        (["edit", "1"], 2, "No change was given."),
        (["comment", "1", ""], 2, "The comment is empty."),
        (["comment", "1", "x" * 70_000], 2, "The comment has 70000 characters"),
        (["close", "I-zz"], 1, "There is no issue I-zz."),
        (["block", "1"], 2, "`ghp agent-issue block` needs --by."),
        (["block", "1", "--by", "1"], 2, "#1 cannot be blocked by itself."),
        (["assign", "1"], 2, "`ghp agent-issue assign` needs a name."),
        (["take", "1"], 2, "ghp agent-issue has no command 'take'."),
    ],
)
def test_wrong_words_change_nothing(repo: Path, args: list[str], code: int, error: str) -> None:
    issue(repo, "new", "Here")
    before = refs(repo / ".git/ghp/state.git")
    ended, out, err = issue(repo, *args)
    assert (ended, out) == (code, "")
    assert error in err
    assert "Hint: " in err
    assert refs(repo / ".git/ghp/state.git") == before


@pytest.mark.slow
def test_standard_input_that_is_not_text_is_refused(repo: Path) -> None:
    issue(repo, "new", "Here")
    done = subprocess.run(
        [sys.executable, "-m", "ghp_agents", "agent-issue", "comment", "1", "-"],
        cwd=repo,
        env={**os.environ, "PYTHONPATH": str(CHECKOUT)},
        input=b"good \xff bad",
        capture_output=True,
    )
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.startswith(b"Error: Standard input is not UTF-8 text (byte 5).\nHint: ")


def test_a_repository_without_a_name_to_act_under_is_not_set_up(repo: Path, home: Path) -> None:
    (home / ".gitconfig").write_text("")
    code, out, err = issue(repo, "new", "T")
    assert (code, out) == (5, "")
    assert err.startswith("Error: No identity found")


def test_outside_of_a_repository_nothing_is_set_up(tmp_path: Path) -> None:
    assert issue(tmp_path, "new", "T").code == 5
    assert invoke("agent-issues", tmp_path).code == 5


# ---------------------------------------------------------------------------------- changing


@pytest.mark.slow
def test_an_issue_goes_through_its_life(three: Path) -> None:
    steps: list[tuple[list[str], str, str]] = [
        (["comment", "2", "Found it"], "✓ Commented on #2 «Write docs».",
         "#2 «Write docs» already ends with this comment."),
        (["edit", "2", "--title", "Docs", "--label", "d", "--no-parent"], "✓ Changed #2 «Docs».",
         "#2 «Docs» is already like that."),
        (["assign", "2", "worker-2", "Ann Example"],
         "✓ #2 «Docs» is assigned to Ann Example, worker-2.\n"
         "Warning: There is no agent worker-2 yet. It finds the issue when it starts.\n"
         "Hint: `ghp agent-status` lists agents.",
         "#2 «Docs» is assigned to Ann Example, worker-2 already."),
        (["assign", "2", "worker-2", "--remove"], "✓ #2 «Docs» is assigned to Ann Example.",
         "#2 «Docs» is assigned to Ann Example already."),
        (["block", "2", "--by", "3"], "✓ #2 «Docs» is blocked by #1, #3.",
         "#2 «Docs» is blocked by #1, #3 already."),
        (["block", "2", "--by", "1", "--by", "#3", "--remove"],
         "✓ #2 «Docs» is blocked by nothing.",
         "#2 «Docs» is blocked by nothing already."),
        (["close", "2", "--message", "Merged"], "✓ Closed #2 «Docs».",
         "#2 «Docs» is already closed."),
        (["reopen", "2"], "✓ Reopened #2 «Docs».", "#2 «Docs» is already open."),
    ]  # fmt: skip
    for words, first, again in steps:
        assert issue(three, *words, env=WORKER) == (0, "", f"{first}\n")
        assert issue(three, *words, env=WORKER) == (0, "", f"{again}\n")
    log = json.loads(invoke("agent-log --issue 2 --json", three).out)
    assert [entry["event"] for entry in log] == [
        "issue-new",
        "issue-comment",
        "issue-edit",
        "issue-assign",
        "issue-assign",
        "issue-block",
        "issue-block",
        "issue-comment",
        "issue-close",
        "issue-reopen",
    ]


def test_who_says_it_is_me(three: Path) -> None:
    issue(three, "assign", "1", "@me")
    issue(three, "assign", "1", "@me", env=WORKER)
    assert listed(three, "--mine") == ["Parse files"]
    assert listed(three, "--mine", env=WORKER) == ["Parse files", "Release"]
    assert json.loads(issue(three, "show", "1", "--json").out)["assignees"] == [
        "Test Person",
        "worker-1",
    ]


def test_a_circle_is_refused_with_the_way_round(three: Path) -> None:
    assert issue(three, "block", "1", "--by", "2") == (
        2,
        "",
        "Error: That would be a cycle: #1 would be blocked by #2, which is blocked by "
        "#1.\nHint: If this is intended, first remove the opposite link: `ghp agent-issue "
        "block 2 --by 1 --remove`.\n",
    )


# ----------------------------------------------------------------------------------- showing


@pytest.mark.slow
def test_show_is_a_page_for_people(three: Path) -> None:
    issue(three, "comment", "2", "Which ones?\nAll?", env=WORKER)
    issue(three, "comment", "2", "All.")
    assert (
        TIME.sub("TIME", issue(three, "show", "2").out)
        == """\
#2 «Write docs»
open · medium · by «worker-1», TIME
parts: #3 «Release»
blocked by: #1 «Parse files»

> All of them.

── agent worker-1, TIME
> Which ones?
> All?

── person «Test Person», TIME
> All.
"""
    )
    issue(three, "close", "2")
    assert (
        TIME.sub("TIME", issue(three, "show", "3").out)
        == """\
#3 «Release»
open · low · by «Test Person», TIME
assigned to: worker-1
part of: #2 (closed)
"""
    )
    assert "blocks:" not in issue(three, "show", "1").out
    issue(three, "close", "3")
    assert "\nparts: #3 «Release» (closed)\n" in issue(three, "show", "2").out
    parts = json.loads(issue(three, "show", "2", "--json").out)["parts"]
    assert parts == [{"number": 3, "title": "Release", "state": "closed"}]


def test_show_has_the_whole_title(repo: Path) -> None:
    title = "Parse the input " * 15
    issue(repo, "new", title)
    assert issue(repo, "show", "1").out.splitlines()[0] == f"#1 «{title.strip()}»"


def test_show_as_json_has_every_field(three: Path) -> None:
    issue(three, "comment", "3", "Soon", env=WORKER)
    issue(three, "block", "3", "--by", "1")
    issue(three, "edit", "3", "--metadata", '{"ticket": "X-1"}')
    assert 'metadata: «{"ticket": "X-1"}»' in issue(three, "show", "3").out
    shown = json.loads(issue(three, "show", "I-" + _id(three, 3), "--json").out)
    comment = shown["comments"][0]
    assert shown.pop("parts") == []
    assert shown == {
        "schemaVersion": 1,
        "number": 3,
        "id": _id(three, 3),
        "title": "Release",
        "body": "",
        "state": "open",
        "labels": [],
        "assignees": ["worker-1"],
        "claim": None,
        "blockedBy": [1],
        "parent": 2,
        "priority": "low",
        "author": "Test Person",
        "byWriter": True,
        "offered": True,
        "bodyEditedAt": None,
        "createdAt": shown["createdAt"],
        "updatedAt": shown["updatedAt"],
        "metadata": {"ticket": "X-1"},
        "commentsLeftOut": 0,
        "comments": [
            {
                "id": comment["id"],
                "author": "worker-1",
                "byPerson": False,
                "byWriter": True,
                "createdAt": comment["createdAt"],
                "body": "Soon",
            }
        ],
    }
    assert shown in json.loads(invoke("agent-issues --json", three).out)
    assert all(TIME.fullmatch(shown[field]) for field in ("createdAt", "updatedAt"))


def _id(repo: Path, number: int) -> str:
    issues = json.loads(invoke("agent-issues --all --json", repo).out)
    return str(next(issue["id"] for issue in issues if issue["number"] == number))


def test_text_of_others_cannot_move_the_cursor(repo: Path) -> None:
    issue(repo, "new", "T\x1b]0;title\x07", "--body", "a\x1b[2Jb\nnext")
    issue(repo, "comment", "1", "\x1b[31mred")
    shown = issue(repo, "show", "1").out
    assert "\x1b" not in shown + invoke("agent-issues", repo).out
    assert "> a�[2Jb\n> next" in shown


@pytest.mark.parametrize(
    "command", ["new", "show", "edit", "comment", "close", "reopen", "assign", "block"]
)
def test_every_help_has_an_example(repo: Path, command: str) -> None:
    code, out, _ = issue(repo, command, "--help")
    assert code == 0
    assert re.search(rf"Example: ghp agent-issue {command} ", " ".join(out.split()))


# ------------------------------------------------------------------------------- many clones


@pytest.mark.slow
def test_an_issue_made_offline_gets_its_number_at_the_next_sync(
    clones: Callable[[int], list[Path]], remote: Path
) -> None:
    one, two = clones(2)
    issue(two, "new", "Before")
    away = remote.rename(remote.with_name("away.git"))
    code, out, err = issue(one, "new", "Offline")
    name = out.strip()
    number = json.loads(issue(one, "show", name, "--json").out)["number"]
    assert (code, name) == (0, f"I-{_id(one, number)[:6]}")
    assert err == (
        f"✓ Created {name} «Offline».\n"
        "Warning: The issue has no number yet, because the remote cannot be reached.\n"
        f"Hint: `ghp agent-sync` numbers it; {name} is always valid: `ghp agent-issue show "
        f"{name}`.\n"
    )
    issue(one, "new", "Waits", "--blocked-by", name)
    away.rename(remote)
    for clone in (two, one, two):
        assert invoke("agent-sync", clone).code == 0
    rows = [
        "#1     medium    open                                         Before",
        "#2     medium    open                                         Offline",
        "#3     medium    open                     #2                  Waits",
    ]
    for clone in (one, two):
        assert sorted(invoke("agent-issues", clone).out.splitlines()[1:]) == rows
        assert issue(clone, "show", name).out.startswith("#2 «Offline»\n")
    assert f"also known as: #{number}" in issue(two, "show", "2").out


def test_issues_never_touch_what_is_the_users(three: Path) -> None:
    assert git(three, "status", "--porcelain", "--ignored") == ""
    assert set(refs(three)) == {"refs/heads/main"}
    assert git(three, "rev-list", "--count", "--all") == "1"


@pytest.mark.slow
def test_a_crowd_of_processes_in_two_clones_makes_every_issue_with_a_number_of_its_own(
    clones: Callable[[int], list[Path]],
) -> None:
    places = clones(2) * count(6, sample=3)
    lines = [f"agent-issue new 'Issue {n}'" for n in range(len(places))]
    with ThreadPoolExecutor(len(places)) as pool:
        created = [*pool.map(run_ghp, lines, places)]
    assert [result.code for result in created] == [0] * len(places)
    printed = [int(result.out) for result in created]
    for place in [*places[:2], places[0]]:
        assert invoke("agent-sync", place).code == 0
    answers = [json.loads(invoke("agent-issues --json", place).out) for place in places[:2]]
    assert answers[0] == answers[1]
    assert sorted(answer["number"] for answer in answers[0]) == sorted(printed)
    assert len(set(printed)) == len(places)
    assert {answer["title"] for answer in answers[0]} == {f"Issue {n}" for n in range(len(places))}


@pytest.mark.slow
def test_a_new_clone_lists_the_issues_of_the_others_at_once(
    clones: Callable[[int], list[Path]],
) -> None:
    one, two = clones(2)
    succeed(one, "agent-issue new 'Parse it'", "agent-sync")
    assert "Parse it" in invoke("agent-issues", two).out


def test_where_nobody_uses_the_program_a_list_creates_nothing(
    clones: Callable[[int], list[Path]],
) -> None:
    (one,) = clones(1)
    assert invoke("agent-issues", one).code == 0
    assert not (one / ".git/ghp/state.git").exists()


def test_a_title_of_several_lines_is_joined_and_that_is_said(repo: Path) -> None:
    code, _, err = invoke(["agent-issue", "new", "One\ntwo"], repo)
    assert (code, err) == (
        0,
        "The title is one line; its lines were joined. Use --body for more text.\n"
        "✓ Created #1 «One two».\n",
    )


def test_issues_are_listed_where_git_knows_no_name(repo: Path) -> None:
    invoke("agent-issue new Parse", repo)
    listed = invoke("agent-issues", repo)
    git(repo, "config", "user.name", "")
    assert invoke("agent-issue new Lex", repo).err.startswith("Error: No identity found")
    assert invoke("agent-issues", repo) == listed
