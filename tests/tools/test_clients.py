"""Getting the real clients: once for all test workers, and never from anywhere but npm."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.house import CHECKOUT
from tools import clients

PROGRAMS = {
    "claude": "node_modules/@anthropic-ai/claude-code-linux-x64/claude",
    "codex": "node_modules/@openai/codex-linux-x64/vendor/some-system/bin/codex",
    "opencode": "node_modules/opencode-linux-x64/bin/opencode",
    "gemini": "node_modules/@google/gemini-cli/bundle/gemini.js",
}
INSTALLS = f"""\
while [ "$1" != --prefix ]; do shift; done
cd "$2" && for program in {" ".join(PROGRAMS.values())} {PROGRAMS["opencode"]}; do
    mkdir -p "$(dirname $program)" && touch $program
done
mkdir -p node_modules/opencode-linux-x64-baseline/bin
touch node_modules/opencode-linux-x64-baseline/bin/opencode
"""


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where clients would be installed."""
    folder = tmp_path / "clients"
    monkeypatch.setattr(clients, "PLACE", folder)
    return folder


@pytest.fixture
def calls(tmp_path: Path) -> Path:
    """A file with one line for each call of npm."""
    return tmp_path / "calls"


def npm(calls: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    """Put a program called npm on PATH."""
    program = calls.parent / "bin/npm"
    program.parent.mkdir(exist_ok=True)
    program.write_text(f'#!/bin/sh\necho "$@" >> "{calls}"\n{script}')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")


def test_each_is_installed_once_when_it_is_asked_for_pinned_and_without_scripts(
    place: Path, calls: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    npm(calls, monkeypatch, INSTALLS)
    for name in ("claude", "claude", "opencode"):
        folder = place / f"{name}-{clients.CLIENTS[name].version}"
        assert clients.ready(name) == [str(folder / PROGRAMS[name])]
    claude, opencode = calls.read_text().splitlines()
    assert "--ignore-scripts" in claude
    assert claude.endswith(" @anthropic-ai/claude-code@2.1.329")
    assert opencode.endswith(" opencode-ai@1.18.33")


def test_a_script_is_run_by_node_itself(
    place: Path, calls: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    npm(calls, monkeypatch, INSTALLS)
    node = calls.parent / "bin/node"
    node.touch(0o755)
    program = place / f"gemini-{clients.CLIENTS['gemini'].version}" / PROGRAMS["gemini"]
    assert clients.ready("gemini") == [str(node), str(program)]


@pytest.mark.slow
def test_test_workers_that_start_together_install_once(
    place: Path, calls: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    npm(calls, monkeypatch, INSTALLS)
    code = (
        "import pathlib, sys; from tools import clients; "
        "clients.PLACE = pathlib.Path(sys.argv[1]); clients.ready('codex')"
    )
    command = [sys.executable, "-c", code, str(place)]
    workers = [subprocess.Popen(command, cwd=CHECKOUT) for _ in range(4)]
    assert [worker.wait(timeout=60) for worker in workers] == [0] * 4
    assert len(calls.read_text().splitlines()) == 1


def test_what_was_left_half_way_and_older_clients_are_replaced(
    place: Path, calls: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    npm(calls, monkeypatch, INSTALLS)
    for name in ("unfinished/node_modules", "claude-1.0.0", "codex-0.1.0"):
        (place / name).mkdir(parents=True)
    clients.ready("claude")
    assert {path.name for path in place.iterdir()} == {"claude-2.1.329", "codex-0.1.0", "lock"}


def test_a_registry_out_of_reach_is_told_from_everything_else(
    calls: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    said = {
        "npm error code ENOTFOUND": clients.UnreachableError,
        "npm error network ETIMEDOUT": clients.UnreachableError,
        "npm error code E404": clients.BrokenError,
        "npm error code ENOSPC": clients.BrokenError,
    }
    for text, kind in said.items():
        npm(calls, monkeypatch, f"echo {text} >&2; exit 1\n")
        with pytest.raises(kind, match=text):
            clients.ready("claude")
        assert clients.main() == (kind is clients.BrokenError)
        assert text in capsys.readouterr().err


def test_a_registry_that_never_answers_counts_as_out_of_reach(
    calls: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clients, "INSTALL_S", 0.2)
    npm(calls, monkeypatch, "exec sleep 60\n")
    with pytest.raises(clients.UnreachableError, match=r"npm did not finish within 0\.2 s"):
        clients.ready("claude")


def test_an_npm_that_installs_nothing_for_this_system_is_a_failure(
    place: Path, calls: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    npm(calls, monkeypatch, "exit 0\n")
    with pytest.raises(clients.BrokenError, match="there may be none for this system"):
        clients.ready("claude")
    assert not (place / "claude-2.1.329").exists()


def test_without_npm_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(clients.BrokenError, match=r"Install Node\.js with npm"):
        clients.ready("claude")


def test_the_pinned_versions_are_whole() -> None:
    """A range or a tag would be another program tomorrow."""
    assert all(version.replace(".", "").isdigit() for (_, version, *_) in clients.CLIENTS.values())
