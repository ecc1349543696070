"""`agent-plugin` as people call it."""

from pathlib import Path

from tests.support.ghp import invoke

INSTALL = "Install it with: claude plugin install ghp-agents --marketplace {} -y\n"


def test_it_prints_the_folder_and_says_how_to_install_it(tmp_path: Path) -> None:
    folder = tmp_path / "my plugin"
    quoted = INSTALL.format(f"'{folder}'")
    done = "✓ Wrote the plugin for Claude Code: 16 files.\n"
    assert invoke(["agent-plugin", "claude", "my plugin"], tmp_path) == (
        0,
        f"{folder}\n",
        done + quoted,
    )
    nothing = "✓ Nothing to do: the plugin is up to date.\n"
    assert invoke(["agent-plugin", "claude", str(folder)], tmp_path) == (
        0,
        f"{folder}\n",
        nothing + quoted,
    )


def test_without_a_folder_it_is_in_the_users_data(tmp_path: Path, home: Path) -> None:
    folder = home / ".local/share/ghp-agents/claude-plugin"
    assert invoke("agent-plugin claude", tmp_path).out == f"{folder}\n"
    assert (folder / "hooks/hooks.json").is_file()


def test_a_dry_run_writes_nothing(tmp_path: Path) -> None:
    done = invoke("agent-plugin claude new --dry-run", tmp_path)
    assert (done.code, done.err) == (0, "")
    assert f"Would write {tmp_path}/new/hooks/hooks.json.\n" in done.out
    assert list(tmp_path.iterdir()) == []


def test_a_folder_of_somebody_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/notes").write_text("")
    assert invoke("agent-plugin claude mine", tmp_path) == (
        3,
        "",
        f"Error: {tmp_path}/mine already exists, and ghp-agents did not create it.\n"
        "Hint: Name a new or empty folder.\n",
    )


def test_other_clients_have_no_plugin(tmp_path: Path) -> None:
    done = invoke("agent-plugin vim", tmp_path)
    assert (done.code, done.out) == (2, "")
    assert "'vim' is not 'claude'" in done.err


def test_hooks_in_the_users_own_file_beside_the_plugin_are_warned_of(tmp_path: Path) -> None:
    invoke("agent-init --hooks claude --user", tmp_path)
    assert invoke("agent-plugin claude new", tmp_path).err.splitlines()[1:3] == [
        "Warning: ~/.claude/settings.json has the hooks, too, so with the plugin each would run "
        "twice.",
        "Hint: Remove them: `ghp agent-init --hooks claude --user --remove`.",
    ]
