"""The file decides, not the folder of the session; and an agent stays in its worktree."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ghp_agents.hooks.event import RAN, ToolUse
from ghp_agents.hooks.scene import other_places
from ghp_agents.integrations.clients.events import CLIENTS as SUBSCRIPTIONS
from tests.support.consent import mine
from tests.support.ghp import invoke
from tests.support.git import git
from tests.support.hooks import SILENT, Hooked, call, event, payload, set_up, write

OTHER = {"GHP_AGENT": "worker-9"}


def reason(hooked: Hooked) -> str:
    assert (hooked.code, hooked.err) == (0, b"")
    return str(hooked.said["hookSpecificOutput"]["permissionDecisionReason"])


def leased(repo: Path, name: str = "a") -> Path:
    """A repository in use, one file of which another agent has leased."""
    set_up(repo, None)
    assert invoke(f"agent-lease {name} --as worker-1", repo).code == 0
    return repo


def repository(folder: Path) -> Path:
    git(folder.parent, "init", "--quiet", folder.name)
    git(folder, "commit", "--quiet", "--allow-empty", "-m", "one")
    return folder


@pytest.mark.slow
@pytest.mark.parametrize(
    ("cwd", "path"),
    [
        ("repo/vendor/lib", "{repo}/a"),
        ("repo/vendor/lib", "../../a"),
        ("sibling", "{repo}/a"),
        ("sibling", "../repo/a"),
        ("outside", "{repo}/a"),
        ("outside", "~/repo/a"),
        ("outside", "file://{repo}/%61"),
        ("link", "../a"),
        ("gone", "{repo}/a"),
        (".", "{repo}/vendor/../a"),
    ],
)
def test_the_file_decides_wherever_the_session_stands(
    repo: Path, tmp_path: Path, cwd: str, path: str
) -> None:
    leased(repo)
    (repo / "vendor").mkdir()
    set_up(repository(repo / "vendor/lib"), None)  # with agents of its own
    repository(tmp_path / "sibling")  # where no command of ours was used
    (tmp_path / "outside").mkdir()
    (tmp_path / "link").symlink_to(repo / "vendor")
    message = write(path.format(repo=repo), tmp_path / cwd)
    refused = reason(call("claude", message, tmp_path, OTHER | {"HOME": str(tmp_path)}))
    assert refused.startswith("a is leased by worker-1 since ")
    assert not (tmp_path / "sibling/.git/ghp").exists()


@pytest.mark.slow
def test_a_nested_clone_without_agents_is_a_part_of_the_one_around_it(
    repo: Path, tmp_path: Path
) -> None:
    leased(repo, "lib")
    inner = repository(repo / "lib")
    for cwd, path in ((repo, inner / "b"), (inner, "b"), (tmp_path, inner / "new/b")):
        assert reason(call("claude", write(path, cwd), cwd, OTHER)).startswith("lib/")
    call("claude", payload("claude-SessionStart-startup", inner), inner, {"GHP_AGENT": "worker-3"})
    assert "worker-3" in json.loads(invoke("agent-status --json", repo).out)["agents"]
    set_up(inner, None)  # from now on it decides itself
    assert call("claude", write(inner / "b", repo), repo, OTHER) == SILENT


@pytest.mark.slow
def test_no_configuration_of_git_takes_the_files_from_the_guard(repo: Path, home: Path) -> None:
    (repo / "a").write_text("1\n")
    git(repo, "add", "a")  # a repository without files has no index
    leased(repo)
    for key, value in (("core.bare", "true"), ("core.worktree", str(home))):
        git(repo, "config", key, value)
        assert reason(call("claude", write(repo / "a", repo), repo, OTHER)).startswith(
            "a is leased"
        )
        git(repo, "config", "--unset", key)


@pytest.mark.slow
def test_one_refused_file_refuses_the_patch_and_leaves_no_lease_in_any_repository(
    repo: Path, tmp_path: Path
) -> None:
    leased(repo)
    other = set_up(repository(tmp_path / "other"), None)
    patch = f"*** Begin Patch\n*** Add File: {other}/b\n+x\n*** Add File: {repo}/a\n+x\n"
    message = payload("codex-PreToolUse-apply_patch", other, cwd=str(other))
    message["tool_input"] = {"command": patch + "*** End Patch\n"}
    assert reason(call("codex", message, other, OTHER)).startswith("a is leased by worker-1 ")
    assert [*(other / ".git/ghp").glob("touched/[!.]*")] == []
    message["tool_input"] = {"command": patch.replace(f"{repo}/a", f"{repo}/c") + "*** End Patch\n"}
    assert call("codex", message, other, OTHER) == SILENT
    for place in (repo, other):  # each knows of the edit in it
        listed = json.loads(invoke("agent-leases --implicit --json", place).out)
        assert "worker-9" in json.dumps(listed)


@pytest.mark.slow
def test_a_session_in_a_submodule_has_the_name_of_the_worktree_around_it(repo: Path) -> None:
    set_up(repo)
    repository(repo / "lib")
    assert call("claude", write(repo / "a", repo / "lib"), repo) == SILENT
    assert "a is in the worktree of worker-1, which " in reason(
        call("claude", write("a", repo), repo, OTHER)
    )


@pytest.fixture
def own(repo: Path, worktree: Callable[[Path, str], Path]) -> Path:
    """The worktree of worker-1, beside the main one, which is a person's."""
    set_up(repo, None)
    return set_up(worktree(repo, "147"), "worker-1")


def main_of(own: Path) -> Path:
    return own.parent / own.name.removesuffix("-147")


@pytest.mark.slow
def test_an_agent_in_its_worktree_does_not_edit_the_main_one(own: Path) -> None:
    main = main_of(own)
    refused = reason(call("claude", write(main / "src/a.py", own), own))
    assert refused == (
        f"This src/a.py is outside of your worktree {own}.\nNext: Edit {own}/src/a.py instead."
    )
    assert not [*(main / ".git/ghp").glob("touched/[!.]*")]
    sub_agent = write(main / "src/a.py", own, agent_id="sub-1")
    assert reason(call("claude", sub_agent, own)) == refused
    stray = write(main / "src/a.py", main, session_id="s")  # after `cd`
    assert reason(call("claude", stray, main, {"GHP_AGENT": "worker-1"})) == refused
    assert call("claude", write(own / "src/a.py", own), own) == SILENT
    assert call("claude", write(own.parent / "notes.txt", own), own) == SILENT


def patch_of(path: Path) -> dict[str, str]:
    return {"command": f"*** Begin Patch\n*** Add File: {path}\n+x\n*** End Patch\n"}


# Of each client a tool that edits, and its arguments for a path.
EDITS: dict[str, tuple[str, Callable[[Path], dict[str, Any]]]] = {
    "claude": ("NotebookEdit", lambda x: {"notebook_path": str(x), "new_source": "x"}),
    "codex": ("apply_patch", patch_of),
    "copilot": ("Edit", lambda x: {"path": str(x), "old_str": "a", "new_str": "b"}),
    "cursor": ("Write", lambda x: {"file_path": str(x), "content": "x"}),
    "gemini": ("replace", lambda x: {"file_path": str(x), "old_string": "a", "new_string": "b"}),
    "opencode": ("edit", lambda x: {"filePath": str(x), "oldString": "a", "newString": "b"}),
    "pi": ("write", lambda x: {"path": str(x), "content": "x"}),
    "qwen": ("edit", lambda x: {"file_path": str(x), "old_string": "a", "new_string": "b"}),
}


@pytest.mark.slow
def test_no_client_edits_the_main_worktree_from_an_agents_own(own: Path) -> None:
    main = main_of(own)
    told = f"This n.ipynb is outside of your worktree {own}."
    foreign = "mcp__fs__write_file", EDITS["pi"][1]
    for client, (tool, arguments) in [*EDITS.items(), ("claude", foreign)]:
        hook = next(hook for hook in SUBSCRIPTIONS[client] if hook.kind == "edit")
        for top in (main, own):
            message = {
                "hook_event_name": hook.event, "session_id": "s", "conversation_id": "s",
                "cwd": str(own), "tool_name": tool, "tool_input": arguments(top / "n.ipynb"),
            }  # fmt: skip
            said = call(client, message, own).out.decode()
            assert (told in said) is (top == main), (client, tool, said)
    by_link = own / "way"
    by_link.symlink_to(main)
    assert told in reason(call("claude", write(by_link / "n.ipynb", own), own))


@pytest.mark.slow
def test_what_git_ignores_in_the_main_worktree_is_its_persons(own: Path) -> None:
    main = main_of(own)
    (main / ".git/info/exclude").write_text(".env\n")
    assert f"Edit {own}/.env instead." in reason(call("claude", write(main / ".env", own), own))


@pytest.mark.slow
def test_the_worktree_of_nobody_is_not_edited_from_an_agents_own(
    own: Path, worktree: Callable[[Path, str], Path]
) -> None:
    third = worktree(main_of(own), "9")
    assert f"Edit {own}/a instead." in reason(call("claude", write(third / "a", own), own))


@pytest.mark.slow
def test_a_session_without_an_issue_edits_the_main_worktree_as_its_person_does(own: Path) -> None:
    main = main_of(own)
    for cwd in (main, main.parent):
        message = write(main / "src/a.py", cwd, session_id="another")
        assert call("claude", message, cwd, {"PATH": "/bin"}) == SILENT


@pytest.mark.slow
def test_a_person_may_allow_edits_in_other_worktrees(own: Path) -> None:
    mine({"agents": {"sameWorktree": "warn"}})
    assert call("claude", write(main_of(own) / "a", own), own) == SILENT


def after(own: Path, command: str) -> Any:
    message = payload("claude-PostToolBatch", own)
    call_ = {"tool_name": "Bash", "tool_input": {"command": command}, "tool_response": ""}
    message["tool_calls"] = [call_]
    return call("claude", message, own).said


@pytest.mark.slow
def test_a_command_that_wrote_to_the_main_worktree_is_told(own: Path) -> None:
    main = main_of(own)
    after(own, "true")  # registers the session
    assert after(own, "cat a.txt") is None
    (main / "new.txt").write_text("one\n")
    told = after(own, f"echo one >{main}/new.txt")["hookSpecificOutput"]["additionalContext"]
    assert f"This new.txt is outside of your worktree {own}." in told
    assert f"Next: Edit {own}/new.txt instead." in told
    assert after(own, f"cat {main}/new.txt") is None  # told once


def test_a_place_is_found_in_each_spelling_of_a_command(tmp_path: Path, home: Path) -> None:
    top = repository(tmp_path / "r")
    own = repository(home / "own")
    for line, place in (
        (f"make -C{top}", top), (f"git -C {top}/x status", top), (f"D={top}; cd $D", top),
        (f"(cd '{top}' && ls)", top), (f"echo a>{top}/b", top), ("cd $HOME/own", own),
        ("cd ${HOME}/own", own), ("cat ~/own/a", own), (f"sh -c 'cd {top}'", top),
    ):  # fmt: skip
        after_step = event("claude", "batch", tmp_path, tool_uses=[ToolUse(RAN, [line])])
        assert [x.toplevel for x in other_places(after_step, None)] == [str(place)], line


def test_a_command_is_looked_at_for_a_bounded_number_of_places(tmp_path: Path) -> None:
    tops = [repository(tmp_path / f"r{number}") for number in range(10)]
    line = "cat " + " ".join(f"'{top}/a'" for top in tops) + f" && (cd ../r1; ls>{tmp_path}/x)"
    after_step = event("claude", "batch", tops[0], tool_uses=[ToolUse(RAN, [line])])
    assert [place.toplevel for place in other_places(after_step, None)] == [
        str(x) for x in tops[:8]
    ]
