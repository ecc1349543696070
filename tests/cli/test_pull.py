"""`agent-pulls` and `agent-pull`: whole outputs; and what `agent-issue show` says of the work."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.ghp import Result, invoke
from tests.support.git import commit, git
from tests.support.repos import Restored, Site
from tests.support.road import Road, merged, sent_back

OID = re.compile(r"\b[0-9a-f]{12}\b")
BRANCH = "agent/worker-1/1-parse-files"
THEN = "2025-06-15T15:06:40Z"
EVIL = "x\x1b]0;title\x07\r\n"


@pytest.fixture(autouse=True)
def quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    """No background process."""
    monkeypatch.setenv("GHP_BACKGROUND", "0")


def opened(site: Site) -> None:
    """Issue #1 with pull request #2, which changes one file."""
    road = Road(site.make_repo())
    road.issue("Parse files", body="## Goal\nRead all <!-- of --> files")
    road.done("worker-1", 1, {"a.txt": "mine\n"})


@pytest.fixture
def road(restored: Restored) -> Road:
    return Road(restored(opened).repo)


def ghp(road: Road, args: str) -> Result:
    result = invoke(args, road.folder, clock=road.clock)
    return Result(result.code, *(OID.sub("<commit>", text) for text in result[1:]))


# ---------------------------------------------------------------------------------- the list


def test_a_repository_without_pull_requests_says_how_one_is_opened(repo: Path) -> None:
    none = "No open pull requests. `ghp agent-pulls --all` lists merged and closed ones, too.\n"
    assert invoke("agent-pulls", repo) == Result(0, "", none)
    assert invoke("agent-pulls --all", repo) == Result(
        0, "", "No pull requests. `ghp agent-finish` opens one.\n"
    )
    assert invoke("agent-pulls --all --json", repo) == Result(0, "[]\n", "")


@pytest.mark.slow
def test_open_pull_requests_are_listed_and_with_all_merged_ones(road: Road) -> None:
    road.issue("Write docs")
    place = road.start("worker-2", 3).path
    commit(place, {"b.txt": "one\n"})
    road.finish("worker-2", place, draft=True)
    merged(road.merge(2))
    assert ghp(road, "agent-pulls") == Result(
        0,
        """\
PULL  STATE  ISSUE  BRANCH                       AUTHOR    TITLE
#4    draft  #3     agent/worker-2/3-write-docs  worker-2  Write docs
""",
        "",
    )
    assert ghp(road, "agent-pulls --all") == Result(
        0,
        """\
PULL  STATE   ISSUE  BRANCH                        AUTHOR    TITLE
#2    merged  #1     agent/worker-1/1-parse-files  worker-1  Parse files
#4    draft   #3     agent/worker-2/3-write-docs   worker-2  Write docs
""",
        "",
    )


def test_scripts_get_every_pull_request(road: Road) -> None:
    (pull,) = json.loads(invoke("agent-pulls --json", road.folder).out)
    assert pull == {
        "schemaVersion": 1,
        "number": 2,
        "state": "open",
        "draft": False,
        "issue": 1,
        "branch": BRANCH,
        "base": "main",
        "head": git(road.folder, "rev-parse", BRANCH),
        "author": "worker-1",
        "title": "Parse files",
        "createdAt": THEN,
        "updatedAt": THEN,
        "mergedAs": None,
        "url": None,
    }


@pytest.mark.slow
def test_the_list_is_known_as_it_was_at_a_time(road: Road) -> None:
    then, as_of = invoke("agent-pulls", road.folder).out, f"As of {THEN} (2 h ago).\n"
    road.clock.wait(3_600)
    merged(road.merge(2))
    road.clock.wait(3_600)
    assert ghp(road, f"agent-pulls --all --at {THEN}") == Result(0, then, as_of)
    assert ghp(road, "agent-pulls --at 3h") == Result(
        0,
        "",
        "As of 2025-06-15T14:06:40Z (3 h ago).\nNo pull request matched at that time.\n",
    )


# -------------------------------------------------------------------------------------- one


def test_a_pull_request_is_a_page_with_its_body_quoted(road: Road) -> None:
    shown = ghp(road, "agent-pull show 2")
    assert (shown.code, shown.err) == (0, "")
    page, body = shown.out.split("\n\n", 1)
    assert (
        page
        == f"""\
#2 «Parse files»
open · by «worker-1», {THEN}
branch: {BRANCH}, into main
head: <commit>
issue: #1
fits main: yes"""
    )
    assert body.startswith("── «worker-1»\n> ## What\n>\n> Work of worker-1 on #1 «Parse files».\n")
    assert "&lt;!-- of -->" in body
    assert all(line.startswith(">") for line in body.splitlines()[1:])


@pytest.mark.slow
def test_it_says_how_often_and_why_it_was_sent_back(road: Road) -> None:
    head = git(road.folder, "rev-parse", BRANCH)
    trunk = road.put({"a.txt": "theirs\n"})
    sent_back(road.merge(2))
    listed = ghp(road, "agent-pulls")
    assert "sent back" in listed.out.splitlines()[1]
    assert listed.err == (
        "#2 was sent back: conflict with main in `a.txt`. `ghp agent-pull show 2` shows the "
        "output.\n"
    )
    before = git(road.folder, "count-objects")
    assert ghp(road, "agent-pull show #2").out.split("\n\n")[0].splitlines()[5:] == [
        "fits main: no, it conflicts in a.txt",
        f"sent back: round 1, {THEN}, by agent lead: conflict with main in `a.txt`",
    ]
    assert git(road.folder, "count-objects") == before
    shown = json.loads(invoke("agent-pull show 2 --json", road.folder).out)
    assert (shown["fits"], shown["conflicts"]) == (False, ["a.txt"])
    assert shown["body"].startswith("## What\n")
    assert shown["returns"] == [
        {
            "round": 1, "reason": "conflict", "text": "a.txt", "agent": "worker-1", "head": head,
            "trunk": trunk, "at": THEN, "by": "lead", "byPerson": False,
        }
    ]  # fmt: skip


def test_it_names_its_reviews(road: Road) -> None:
    head = git(road.folder, "rev-parse", BRANCH)
    ghp(road, "agent-review 2 --request-changes 'Add a test' --as worker-2")
    ghp(road, "agent-review 2 --approve --as @me")
    assert ghp(road, "agent-pull show 2").out.split("\n\n")[0].splitlines()[6:] == [
        "review: requested changes at <commit>, by agent worker-2: «Add a test»",
        "review: approved at <commit>, by person «Test Person»",
    ]
    assert json.loads(invoke("agent-pull show 2 --json", road.folder).out)["reviews"] == [
        {"by": "worker-2", "byPerson": False, "head": head, "approves": False,
         "text": "Add a test"},
        {"by": "Test Person", "byPerson": True, "head": head, "approves": True,
         "text": ""},
    ]  # fmt: skip


def test_the_list_says_who_requested_changes_until_the_reviewer_approves(road: Road) -> None:
    before = ghp(road, "agent-pulls")
    ghp(road, "agent-review 2 --request-changes 'Add a test\nof tabs' --as worker-2")
    listed = ghp(road, "agent-pulls")
    assert "changes" in listed.out.splitlines()[1].split()
    assert listed.err == (
        "worker-2 requested changes to #2: «Add a test». `ghp agent-pull show 2` shows its "
        "reviews.\n"
    )
    ghp(road, "agent-review 2 --approve --as worker-2")
    assert ghp(road, "agent-pulls") == before


@pytest.mark.slow
def test_a_merged_one_says_as_which_commit(road: Road) -> None:
    merged(road.merge(2))
    lines = ghp(road, "agent-pull show 2").out.splitlines()
    assert lines[1] == f"merged · by «worker-1», {THEN}"
    assert lines[3:6] == ["head: <commit>", "merged as: <commit>", "issue: #1"]
    assert json.loads(invoke("agent-pull show 2 --json", road.folder).out)["fits"] is None


@pytest.mark.slow
def test_the_diff_is_gits_own_without_terminal_escapes(road: Road) -> None:
    for key, value in (("noprefix", "true"), ("external", "false"), ("mnemonicPrefix", "true")):
        git(road.folder, "config", f"diff.{key}", value)
    git(road.folder, "config", "color.ui", "always")
    place = road.start("worker-1").path
    commit(place, {"a.txt": EVIL, "b/ü.txt": "new\n"})
    road.finish("worker-1", place)
    road.put({"c.txt": "of main\n"})
    expected = """\
diff --git a/a.txt b/a.txt
new file mode 100644
index 0000000..<blob>
--- /dev/null
+++ b/a.txt
@@ -0,0 +1 @@
+x�]0;title��
diff --git "a/b/\\303\\274.txt" "b/b/\\303\\274.txt"
new file mode 100644
index 0000000..<blob>
--- /dev/null
+++ "b/b/\\303\\274.txt"
@@ -0,0 +1 @@
+new
"""

    def diff() -> Result:
        shown = invoke("agent-pull show 2 --diff", road.folder)
        return shown._replace(out=re.sub(r"\.\.[0-9a-f]{7}\n", "..<blob>\n", shown.out))

    assert diff() == Result(0, expected, "")
    both = json.loads(invoke("agent-pull show 2 --diff --json", road.folder).out)
    assert EVIL.splitlines()[0] in both["diff"]
    merged(road.merge(2))
    assert diff() == Result(0, expected, "")


@pytest.mark.parametrize(
    ("args", "code", "error"),
    [
        (
            "show 9",
            1,
            "There is no pull request #9.\nHint: Open one with `ghp agent-finish`, or fetch "
            "those of other clones with `ghp agent-sync`.",
        ),
        (
            "show 1",
            1,
            "#1 is an issue.\nHint: `ghp agent-issue show 1` shows it and its pull requests.",
        ),
        (
            "show parser",
            2,
            "'parser' is not a pull request's number.\nHint: Example: `ghp agent-pull show 3`.",
        ),
        (
            "shwo 1",
            2,
            "ghp agent-pull has no command 'shwo'.\nHint: Did you mean `ghp agent-pull show`? "
            "`ghp agent-pull --help` lists them all.",
        ),
    ],
)
def test_wrong_words_say_what_and_what_next(road: Road, args: str, code: int, error: str) -> None:
    assert ghp(road, f"agent-pull {args}") == Result(code, "", f"Error: {error}\n")


def test_outside_of_a_repository_nothing_is_set_up(tmp_path: Path) -> None:
    assert invoke("agent-pulls", tmp_path).code == 5
    assert invoke("agent-pull show 1", tmp_path).code == 5


@pytest.mark.slow
def test_another_clone_fetches_the_commits_of_a_diff(clones: Callable[[int], list[Path]]) -> None:
    one, two = (Road(folder) for folder in clones(2))
    one.issue("Parse files")
    one.done("worker-1", 1, {"a.txt": "mine\n"})
    one.sync()
    two.sync()
    assert "fits main" not in ghp(two, "agent-pull show 2").out
    shown = ghp(two, "agent-pull show 2 --diff")
    assert (shown.code, shown.out.splitlines()[-1]) == (0, "+mine")
    assert "fits main: yes" in ghp(two, "agent-pull show 2").out
    git(two.folder, "remote", "set-url", "origin", "/nowhere")
    assert ghp(two, "agent-pull show 2 --diff").out == shown.out


# ------------------------------------------------------------------------- what an issue shows


def test_an_issue_shows_its_worktree_its_pull_requests_and_its_last_handoff(
    road: Road,
) -> None:
    place = road.work
    invoke(
        ["agent-handoff", "--note", "The \x1b[1mparser is next", "--as", "worker-1"],
        place,
        clock=road.clock,
    )
    lines = ghp(road, "agent-issue show 1").out.split("\n\n")[0].splitlines()[4:]
    assert "\n".join(lines) == (
        f"""\
branch: {BRANCH}
worktree: {place}
pull request: #2 (open) «Parse files»
last handoff: H-<commit>, {THEN}: agent worker-1 handed over, «The �[1mparser is next»"""
    )


def test_an_issue_without_work_shows_none_and_json_has_no_more_than_before(road: Road) -> None:
    road.issue("Write docs")
    assert ghp(road, "agent-issue show 3") == Result(
        0, f"#3 «Write docs»\nopen · medium · by «Ann Example», {THEN}\n", ""
    )
    fields = json.loads(invoke("agent-issue show 1 --json", road.folder).out)
    assert fields.pop("parts") == []
    assert fields in json.loads(invoke("agent-issues --json", road.folder).out)


@pytest.mark.parametrize(
    "line",
    ["issue show #2", "issue show #2 --json", "claim 2", "start #2 --as worker-2", "where 2"],
)
def test_a_number_of_a_pull_request_names_the_command_for_it(road: Road, line: str) -> None:
    error = "Error: #2 is a pull request.\nHint: Show it: `ghp agent-pull show 2`.\n"
    assert ghp(road, f"agent-{line}") == Result(1, "", error)
