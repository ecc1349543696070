"""What of an agent's doings everybody may read: never what could be a secret, or a name."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ghp_agents.hooks.action import action, command
from ghp_agents.hooks.event import EDITED, RAN, READ, SEARCHED, USED, ToolUse


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("make test", "make test"),
        ("make", "make"),
        ("git commit -m 'the password is hunter2'", "git commit"),
        ("git -C /home/ada/secret push", "git"),
        ("/usr/local/bin/pytest tests/unit -k token", "pytest"),
        ("python3 -m pytest -q", "python3 -m pytest"),
        ("python -c 'print(1)'", "python"),
        ("GITHUB_TOKEN=ghp_abcdefghijklmnop gh pr create", "gh pr"),
        ("export TOKEN=abc", "export"),
        ("mysql -phunter2 db", "mysql"),
        ("curl -H 'Authorization: Bearer abc' https://ada:pw@example.com", "curl"),
        ("echo hunter2 | docker login --password-stdin", "echo"),
        ("docker login -u ada", "docker login"),
        ("cd /home/ada/work && npm run build", "npm run"),
        ("cd src; cd ../lib\nls", "ls"),
        ("(cd src && make)", "make"),
        ("git add -A && git commit -m 'x' && ghp agent-finish", "ghp agent-finish"),
        ("git commit -m 'a && go secret'", "git commit"),
        ('git add . && git commit -m "one\ngo secret" && make', "git commit"),
        ("cat > x <<E\ngo secret\nE", "cat"),
        ("pytest -q; echo done", "pytest"),
        ("sudo timeout 30 cargo build", "cargo build"),
        ("cat > .env <<'EOF'\nPASSWORD=hunter2\nEOF", "cat"),
        ("make VERSION=1.2", "make"),
        ("ghp agent-escalate 'Which key?'", "ghp agent-escalate"),
        ("\x1b[31mrm\x1b[0m x", ""),
        ("", ""),
        ("   ", ""),
        ("cd /tmp", ""),
        ("A=1", ""),
        ("eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9abcdefgh", ""),
    ],
)
def test_of_a_command_the_program_and_its_verb_are_told(line: str, text: str) -> None:
    assert command(line) == text


@given(st.text())
def test_any_command_is_told_in_plain_words(line: str) -> None:
    text = command(line)
    assert text.isascii()
    assert text.isprintable()
    assert len(text) <= 100


WORK = [
    ([ToolUse(EDITED, ["src/a.py"])], "Edited src/a.py"),
    ([ToolUse(EDITED, ["src/a.py"]), ToolUse(EDITED, ["src/b.py"])], "Edited src/b.py and 1 more"),
    ([ToolUse(EDITED, ["a", "b", "a", "c"])], "Edited c and 2 more"),
    ([ToolUse(RAN, ["make test"]), ToolUse(READ, ["a"])], "Ran make test"),
    ([ToolUse(RAN, ["ls"]), ToolUse(RAN, ["git status"])], "Ran git status"),
    ([ToolUse(READ, ["a"]), ToolUse(EDITED, ["b"]), ToolUse(RAN, ["make"])], "Edited b"),
    ([ToolUse(READ, ["docs/x.md"])], "Read docs/x.md"),
    ([ToolUse(SEARCHED, [])], "Searched"),
    ([ToolUse(USED, ["mcp__github__create_issue"])], "Used github create_issue"),
    ([ToolUse(USED, ["WebFetch"])], "Used WebFetch"),
    ([ToolUse(USED, ["a\nb"])], ""),
    ([ToolUse(EDITED, ["../elsewhere/a"]), ToolUse(RAN, ["make"])], "Ran make"),
    ([ToolUse(READ, ["/etc/passwd"])], ""),
    ([ToolUse(EDITED, [""])], ""),
    ([ToolUse(EDITED, ["a\0b"])], ""),
    ([ToolUse(RAN, [""])], ""),
    ([ToolUse(RAN, [])], ""),
    ([], ""),
]


@pytest.mark.parametrize(("tool_uses", "text"), WORK)
def test_the_most_informative_use_is_described(
    tool_uses: list[ToolUse], text: str, tmp_path: Path
) -> None:
    assert action(tool_uses, str(tmp_path), str(tmp_path)) == text


def test_paths_count_from_the_top_of_the_worktree_wherever_the_agent_is(tmp_path: Path) -> None:
    (tmp_path / "repo/src").mkdir(parents=True)
    (tmp_path / "link").symlink_to("repo")
    tool_uses = [ToolUse(EDITED, ["a.py"])]
    for top in ("repo", "link"):
        text = action(tool_uses, str(tmp_path / "link/src"), str(tmp_path / top))
        assert text == "Edited src/a.py"
    assert action(tool_uses, None, str(tmp_path / "repo")) == ""
    assert action(tool_uses, str(tmp_path / "repo"), None) == ""
