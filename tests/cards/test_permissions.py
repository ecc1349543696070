"""What a run may do with paths, hosts and tools."""

import json
import os.path
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ghp_agents.cards import permissions
from ghp_agents.cards.permissions import Rights
from ghp_agents.core import globs

NOTHING: dict[str, Any] = {
    "version": 2, "top": "/top", "card": "c.md", "autonomous": "ask", "read": [], "write": None,
    "run": None, "network": None, "tools": [], "guarded": [".claude"], "own": [["ghp"]],
}  # fmt: skip


def rights(top: Path | str = "/top", **fields: Any) -> Rights:
    return Rights({**NOTHING, "top": str(top), **fields}, "/run")


def sources(*patterns: str) -> list[str]:
    return [globs.rule(pattern).source for pattern in patterns]


def test_only_files_of_its_scope_may_be_written(tmp_path: Path) -> None:
    top = tmp_path / "tree"
    (top / "docs").mkdir(parents=True)
    (top / "docs/out").symlink_to("/etc")
    (top / "docs/link.md").symlink_to(tmp_path / "elsewhere.md")
    mine = rights(top, write=sources("docs/**/*.md"))
    assert mine.writing(f"{top}/docs/a/b.md") == ""
    no = "it is not among the files that it may write"
    out = "it writes outside of its worktree"
    assert mine.writing(f"{top}/src/a.md") == no
    assert mine.writing(f"{top}/docs/../src/a.md") == no
    assert mine.writing(f"{top}/docs/out/x.md") == out
    assert mine.writing(f"{top}/docs/link.md") == out
    assert mine.writing(f"{top}/../tree2/docs/a.md") == out
    assert rights(top, write=[]).writing(f"{top}/.git/hooks/x") == "it writes in git's own folder"
    assert rights(top, write=[]).writing(f"{top}/.git") == "it writes in git's own folder"
    assert rights(top, write=[]).writing(f"{top}/any") == ""
    assert rights(top).writing(f"{top}/any") == no


@given(st.lists(st.sampled_from(["..", ".", "docs", "a.md", "", "src", "docs.md"]), max_size=6))
def test_no_spelling_of_a_path_leaves_the_scope(parts: list[str]) -> None:
    path = "/".join(["/top", *parts])
    allowed = rights(write=sources("docs/**")).writing(path) == ""
    assert allowed == os.path.normpath(path).startswith("/top/docs/")


def test_reads_stay_in_the_worktree_and_the_runs_folder() -> None:
    mine = rights(read=sources("src/"))
    assert [mine.reading(x) for x in ("/top/src/a", "/run/prompt.md")] == ["", ""]
    assert mine.reading("/etc/passwd") == "it reads outside of its worktree"
    assert mine.reading("/top/secret") == "it is not among the files that it may read"
    assert rights().reading("/top/secret") == ""


@pytest.mark.parametrize(
    ("url", "fits"),
    [
        ("https://docs.example/x", True), ("https://DOCS.example.:443/x?y#z", True),
        ("https://api.sub.example", True), ("docs.example", True),
        ("https://evil.example", False), ("https://docs.example@evil.org", False),
        ("https://docs.example.evil.org", False), ("https://evil.org/docs.example", False),
        ("https://evil.org\\docs.example", False), ("https://evil.org?docs.example", False),
        ("file://docs.example/etc", False), ("ftp://docs.example", False), ("", False),
        ("https://sub.example", False), ("https://docs%2eexample", False),
        ("https://docs.example/x and https://evil.example/y", False),
    ],
)  # fmt: skip
def test_only_named_hosts_may_be_reached(url: str, fits: bool) -> None:
    reason = rights(network=["docs.example", "*.sub.example"]).reaching(url)
    assert reason == ("" if fits else "it may not reach that host")


def test_the_network_is_all_or_nothing_without_hosts() -> None:
    assert rights().reaching("https://a.b") == "it may not use the network"
    assert rights(network=[]).reaching("https://a.b") == ""
    assert rights(network=["*"]).reaching("https://a.b") == ""


def test_other_tools_must_be_named() -> None:
    mine = rights(tools=["mcp__github__*", "Computer"])
    allowed = ("TodoWrite", "Task", "mcp__ghp__status", "mcp__github__get", "Computer")
    assert [mine.using(tool) for tool in allowed] == [""] * 5
    no = "it is not among the tools that it may use"
    assert [mine.using(tool) for tool in ("mcp__evil__x", "Computers", "mcp__ghpx__a")] == [no] * 3


def test_a_folder_to_change_to_is_in_the_worktree(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "out").symlink_to("/tmp")
    mine = rights(tmp_path, run=["make"])
    assert mine.running("cd src && make", str(tmp_path)) == ""
    assert mine.running(f"cd {tmp_path}/src && make", f"{tmp_path}/src") == ""
    assert mine.running("make", "/") == "it runs outside of its worktree"
    for folder in ("out", "..", "~", "-", "/tmp"):
        assert mine.running(f"cd {folder} && make", str(tmp_path))
    assert rights(tmp_path, run=[]).running("cd / && rm -r .", "/") == ""
    (tmp_path / "src/up").symlink_to(tmp_path)
    assert mine.running("cd src/up/.. && make", str(tmp_path))
    deep = tmp_path / "src/deep"
    deep.mkdir()
    assert mine.running("cd .. && cd .. && cd .. && make", str(deep)) == (
        "it changes the folder more than once"
    )


def test_git_and_ghp_name_no_file_outside_of_what_may_be_read(tmp_path: Path) -> None:
    top = tmp_path / "tree"
    (top / "docs").mkdir(parents=True)
    for path in (tmp_path / "private", top / "secret", top / "docs/a.md"):
        path.write_text("x")
    (top / "link").symlink_to(tmp_path / "private")
    no = "it names a file that it may not read"
    free, scoped = rights(top), rights(top, read=sources("docs/"))
    for line in (
        f"git diff docs/a.md {tmp_path}/private", "git diff docs/a.md ../private",
        "git commit -F ../private", "git commit --file=../private",
        "cd docs && git commit -F ../../private", "git commit -F link",
        "ghp agent-inbox done M-3f9a --excerpt ../private#L1-9",
        "ghp agent-send bob Hello --body-file ../private",
        "ghp agent-escalate Why --context=../private",
    ):  # fmt: skip
        assert free.running(line, str(top)) == no, line
    for line in (
        "git add . && git commit -m '../private ways are /etc/x'", "git show HEAD:docs/a.md",
        "git diff HEAD~1..HEAD -- secret", "git commit -F docs/a.md", "ghp agent-send b /no-file",
    ):  # fmt: skip
        assert free.running(line, str(top)) == "", line
    assert scoped.running("git commit -F secret", str(top)) == no
    assert scoped.running("git commit -F docs/a.md", str(top)) == ""
    for words in (
        "git diff", "git log -p", "git show", "ghp agent-inbox done M-3f9a --commits HEAD",
        "ghp agent-pull show 1 --diff", "ghp agent-handoff --stdout",
    ):  # fmt: skip
        assert "is not among the commands" in scoped.running(words, str(top))
    excerpt = "ghp agent-inbox done M-3f9a --excerpt"
    assert scoped.running(f"{excerpt} secret#L1-9", str(top)) == no
    assert scoped.running(f"{excerpt}=secret#L1-9", str(top)) == no
    assert scoped.running(f"{excerpt} docs/a.md#L1-9", str(top)) == ""


def test_a_word_too_long_for_a_path_names_no_file(tmp_path: Path) -> None:
    line = f"git commit -m '{'Why. ' * 1_000}'"
    assert rights(tmp_path, read=sources("docs/")).running(line, str(tmp_path)) == ""


def test_what_changes_a_client_or_git_is_written_only_if_the_card_names_it() -> None:
    mine = rights(write=sources("**"))
    for path in ("docs/.git/config", "docs/.GIT/config", ".git"):
        assert mine.writing(f"/top/{path}") == "it writes in git's own folder"
    for path in (".claude/settings.json", "docs/.Claude/skills/x/SKILL.md"):
        assert mine.writing(f"/top/{path}") == (
            "it changes what programs run by themselves; its card must name that file or folder"
        )
    assert mine.writing("/top/.claudette/x") == ""


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"version": 1}', '{"version": 2, "top": "/"}'])
def test_rights_that_cannot_be_read_are_none(tmp_path: Path, text: str) -> None:
    path = tmp_path / "rights.json"
    path.write_text(text)
    with pytest.raises(ValueError, match="what it may do cannot be read"):
        permissions.load(str(path))
    path.write_text(json.dumps(NOTHING))
    assert permissions.load(str(path)).place == str(tmp_path)
