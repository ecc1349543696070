"""The block in AGENTS.md comes and goes; every byte outside of it stays."""

from pathlib import Path

import pytest

from ghp_agents.core.errors import GhpError, RefusedError
from ghp_agents.integrations.clients.instructions import BEGIN, END, TEXT, to_put, to_take
from ghp_agents.state.admin_port import Step
from tests.support.ghp import invoke
from tests.support.git import commit

CONTENTS = [
    b"", b"\n", b"# Rules\n", b"# Rules", b"# Rules\n\n", b"# Rules\n\n\n\n", b"a\r\nb\r\n",
    b"a\r\nb", b"\xff\xfe not UTF-8\n", b"\xef\xbb\xbf# BOM\n",
]  # fmt: skip


def act(steps: list[Step]) -> list[str]:
    for step in steps:
        step.act()
    return [step.what for step in steps]


@pytest.mark.parametrize("before", CONTENTS)
def test_putting_it_and_taking_it_out_restores_the_file(tmp_path: Path, before: bytes) -> None:
    file = tmp_path / "AGENTS.md"
    file.write_bytes(before)
    assert act(to_put(tmp_path)) == ["the block for agents into AGENTS.md"]
    assert file.read_bytes().startswith(before)
    assert to_put(tmp_path) == []
    assert act(to_take(tmp_path)) == ["the block for agents from AGENTS.md"]
    assert file.read_bytes() == before
    assert to_take(tmp_path) == []


def test_a_file_that_it_created_is_deleted(tmp_path: Path) -> None:
    act(to_put(tmp_path))
    assert [path.name for path in tmp_path.iterdir()] == ["AGENTS.md"]
    act(to_take(tmp_path))
    assert [*tmp_path.iterdir()] == []


def test_text_that_was_added_around_it_stays(tmp_path: Path) -> None:
    file = tmp_path / "AGENTS.md"
    act(to_put(tmp_path))
    file.write_bytes(b"Before.\n" + file.read_bytes() + b"After.\n")
    act(to_take(tmp_path))
    assert file.read_bytes() == b"Before.\nAfter.\n"


def test_an_older_block_is_replaced_where_it_is(tmp_path: Path) -> None:
    file = tmp_path / "AGENTS.md"
    file.write_bytes(b"A\n")
    act(to_put(tmp_path))
    whole = file.read_bytes() + b"Z\n"
    file.write_bytes(whole.replace(b"- Claim", b"- Old claim"))
    act(to_put(tmp_path))
    assert file.read_bytes() == whole


@pytest.mark.parametrize("part", [BEGIN + b" -->\n", END + b"\n", BEGIN + b" x -->\n" + END])
def test_a_damaged_block_is_not_touched(tmp_path: Path, part: bytes) -> None:
    (tmp_path / "AGENTS.md").write_bytes(b"A\n" + part)
    for steps in (to_put, to_take):
        with pytest.raises(GhpError, match=r"^AGENTS\.md has only a part of our block"):
            steps(tmp_path)
    assert (tmp_path / "AGENTS.md").read_bytes() == b"A\n" + part


def test_both_files_get_it_unless_one_is_or_includes_the_other(tmp_path: Path) -> None:
    agents, claude = tmp_path / "AGENTS.md", tmp_path / "CLAUDE.md"
    agents.write_text("A\n")
    claude.write_text("C\n")
    assert len(to_put(tmp_path)) == 2
    claude.write_text("C\n@AGENTS.md\n")
    assert [step.what[-9:] for step in to_put(tmp_path)] == ["AGENTS.md"]
    claude.unlink()
    claude.symlink_to("AGENTS.md")
    assert [step.what[-9:] for step in to_put(tmp_path)] == ["AGENTS.md"]


def test_a_link_out_of_the_worktree_is_refused(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("S\n")
    (tmp_path / "top").mkdir()
    (tmp_path / "top/AGENTS.md").symlink_to("../secret")
    with pytest.raises(RefusedError):
        to_put(tmp_path / "top")


def test_it_keeps_the_mode(tmp_path: Path) -> None:
    file = tmp_path / "AGENTS.md"
    file.write_text("A\n")
    file.chmod(0o640)
    act(to_put(tmp_path))
    assert file.stat().st_mode & 0o777 == 0o640


def test_it_is_short() -> None:
    assert len(TEXT.splitlines()) <= 12


def test_init_puts_it_and_takes_it_out(repo: Path) -> None:
    commit(repo, {"AGENTS.md": "# Rules\n"})
    put = (
        "✓ Put the block for agents into AGENTS.md.\n"
        "Commit AGENTS.md: agents branch from the main branch and read it there.\n"
    )
    assert invoke("agent-init --agents-md", repo).err.endswith(put)
    again = invoke("agent-init --agents-md", repo).err
    assert again == "✓ Nothing to do: this repository is set up.\n"
    took = "✓ Removed the block for agents from AGENTS.md.\n"
    assert invoke("agent-init --agents-md --remove", repo) == (0, "", took)
    nothing = "✓ Nothing to do: no file here has the block for agents.\n"
    assert invoke("agent-init --agents-md --remove", repo) == (0, "", nothing)
    assert (repo / "AGENTS.md").read_text() == "# Rules\n"


def test_removing_everything_takes_it_out(repo: Path) -> None:
    commit(repo, {"AGENTS.md": "# Rules\n"})
    invoke("agent-init --agents-md", repo)
    assert "Removed the block for agents from AGENTS.md." in (
        invoke("agent-init --remove --yes", repo).err
    )
    assert (repo / "AGENTS.md").read_text() == "# Rules\n"
