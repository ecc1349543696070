"""Answers to a request for context: bounded, checked, and only of what is committed."""

import json
from pathlib import Path

import pytest

from ghp_agents.core.errors import GhpError, NotFoundError, RefusedError, UsageError
from ghp_agents.messages import excerpt
from tests.support.ghp import invoke
from tests.support.git import commit, git


@pytest.fixture
def head(repo: Path) -> str:
    """The commit with the files."""
    (repo / "src").mkdir()
    (repo / "logo.png").write_bytes(b"\x89PNG\0\xff")
    long = "".join(f"line {number}\n" for number in range(1, 301))
    files = {
        "src/a.py": "one\ntwo\nthree\n",
        "src/long.py": long,
        "feed.py": "a\x0cb\r\nc",
        "empty": "",
        ".env": "A=1\n",
    }
    return commit(repo, files, "Parse")[:12]


@pytest.mark.parametrize(
    ("spec", "artifact", "shown"),
    [
        ("src/a.py#L2", "src/a.py#L2", "two"),
        ("src/a.py#L1-2", "src/a.py#L1-2", "one\ntwo"),
        ("src/a.py#L2-L9", "src/a.py#L2-3", "two\nthree"),
        ("HEAD:src/a.py", "src/a.py#L1-3", "one\ntwo\nthree"),
        ("feed.py#L2", "feed.py#L2", "c"),  # a form feed ends no line of git's
    ],
)
def test_lines_of_a_file_at_a_commit(
    repo: Path, head: str, spec: str, artifact: str, shown: str
) -> None:
    (repo / "src/a.py").write_text("not committed\n")
    result = excerpt.of_file(repo, spec)
    assert result.artifact == f"{head}:{artifact}"
    assert result.text.endswith(f", at {head}:\n\n```\n{shown}\n```")


def test_a_long_file_is_cut_and_says_so(repo: Path, head: str) -> None:
    shown = excerpt.of_file(repo, "src/long.py")
    assert shown.text.endswith("line 200\n```\n… 100 more lines of src/long.py")
    assert shown.artifact == f"{head}:src/long.py#L1-200"
    commit(repo, {"wide": "x" * 20_000})
    assert len(excerpt.of_file(repo, "wide").text) < excerpt.CHARACTERS + 200


@pytest.mark.parametrize(
    ("spec", "error", "text"),
    [
        ("../a", UsageError, "'../a' is not a place in a file."),
        ("/etc/passwd", UsageError, "is not a place in a file."),
        ("src//a.py", UsageError, "is not a place in a file."),
        ("a\nb", UsageError, "is not a place in a file."),
        ("--output=x", NotFoundError, "There is no file"),
        ("--output=x:a", UsageError, "is not a place in a file."),
        ("src", NotFoundError, "There is no file src at"),
        ("src/b.py", NotFoundError, "There is no file src/b.py at"),
        ("nowhere:src/a.py", NotFoundError, "There is no commit nowhere here."),
        ("src/a.py#L9", UsageError, "src/a.py has 3 lines; there is no line 9."),
        ("src/a.py#L3-1", UsageError, "there is no line 3."),
        ("empty", UsageError, "empty has 0 lines; there is no line 1."),
        (".env", RefusedError, ".env is a file for secrets."),
    ],
)
def test_what_is_no_text_of_the_repository_is_refused(
    repo: Path, head: str, spec: str, error: type[GhpError], text: str
) -> None:
    with pytest.raises(error) as caught:
        excerpt.of_file(repo, spec)
    assert text in str(caught.value)
    assert caught.value.hint


def test_a_binary_file_is_named_and_not_shown(repo: Path, head: str) -> None:
    git(repo, "add", "logo.png")
    git(repo, "commit", "-qm", "Logo")
    with pytest.raises(UsageError, match=r"logo.png is not text"):
        excerpt.of_file(repo, "logo.png")


def test_a_range_of_commits_is_listed_newest_first(repo: Path, head: str) -> None:
    last = commit(repo, {"b": "b\n"}, "Add b")[:12]
    shown = excerpt.of_commits(repo, "HEAD~1..HEAD")
    assert shown.artifact == f"{head}..{last}"
    assert shown.text.startswith(f"1 commit in {head}..{last}:\n\n```\n")
    assert shown.text.endswith(" Add b\n```")
    for wrong in ("HEAD", "--all..HEAD", "a..b..c"):
        with pytest.raises(UsageError, match="is not a range of commits"):
            excerpt.of_commits(repo, wrong)


@pytest.mark.slow
def test_a_request_for_context_is_answered_with_a_place_and_a_handoff(
    repo: Path, head: str
) -> None:
    def run(words: str) -> str:
        done = invoke(words, repo)
        assert done.code == 0, done.err
        return done.out

    run("agent-heartbeat --as worker-1")
    run("agent-heartbeat --as worker-2")
    handed = json.loads(run("agent-handoff --note Tabs --json --as worker-2"))
    handoff = f"H-{handed['id'].removeprefix('H-')}"
    name = run("agent-send worker-2 Tabs --kind context --as worker-1").strip()
    run(
        f"agent-inbox done {name} --result Eight --excerpt src/a.py#L1 --commits HEAD~1..HEAD "
        f"--handoff {handoff} --as worker-2"
    )
    thread = json.loads(run(f"agent-thread {name} --json"))
    assert thread[-1]["artifacts"][0] == f"{head}:src/a.py#L1"
    assert thread[-1]["artifacts"][2] == handoff
    assert thread[-1]["body"].startswith(f"Eight\n\nsrc/a.py, lines 1 to 1, at {head}:\n\n```\none")
    assert thread[-1]["body"].endswith(f"`ghp agent-resume --handoff {handoff}` shows all of it.")
    assert "> one\n" in run("agent-status --as worker-1")
