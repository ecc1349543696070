"""Getting the real clients: once for all test workers, and never from anywhere but npm."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.house import CHECKOUT
from tools import clients

CLAUDE = "node_modules/@anthropic-ai/claude-code-some-system/claude"
CODEX = "node_modules/@openai/codex-some-system/vendor/some-system/bin/codex"
INSTALLS = f"""\
while [ "$1" != --prefix ]; do shift; done
cd "$2" && mkdir -p "$(dirname {CLAUDE})" "$(dirname {CODEX})" && touch {CLAUDE} {CODEX}
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


def test_they_are_installed_once_pinned_and_without_scripts(
    place: Path, calls: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    npm(calls, monkeypatch, INSTALLS)
    found = [clients.ready(), clients.ready()]
    folder = place / "2.1.329-0.169.0"
    assert found == [clients.Clients(folder / CLAUDE, folder / CODEX)] * 2
    (call,) = calls.read_text().splitlines()
    assert "--ignore-scripts" in call
    assert call.endswith("@anthropic-ai/claude-code@2.1.329 @openai/codex@0.169.0")


@pytest.mark.slow
def test_test_workers_that_start_together_install_once(
    place: Path, calls: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    npm(calls, monkeypatch, INSTALLS)
    code = (
        "import pathlib, sys; from tools import clients; "
        "clients.PLACE = pathlib.Path(sys.argv[1]); clients.ready()"
    )
    command = [sys.executable, "-c", code, str(place)]
    workers = [subprocess.Popen(command, cwd=CHECKOUT) for _ in range(4)]
    assert [worker.wait(timeout=60) for worker in workers] == [0] * 4
    assert len(calls.read_text().splitlines()) == 1


def test_what_was_left_half_way_and_older_clients_are_replaced(
    place: Path, calls: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    npm(calls, monkeypatch, INSTALLS)
    for name in ("unfinished/node_modules", "1.0.0-0.1.0"):
        (place / name).mkdir(parents=True)
    clients.ready()
    assert {path.name for path in place.iterdir()} == {"2.1.329-0.169.0", "lock"}


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
            clients.ready()
        assert clients.main() == (kind is clients.BrokenError)
        assert text in capsys.readouterr().err


def test_an_npm_that_installs_nothing_for_this_system_is_a_failure(
    place: Path, calls: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    npm(calls, monkeypatch, "exit 0\n")
    with pytest.raises(clients.BrokenError, match="there may be none for this system"):
        clients.ready()
    assert not (place / "2.1.329-0.169.0").exists()


def test_without_npm_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(clients.BrokenError, match=r"Install Node\.js with npm"):
        clients.ready()


@pytest.mark.parametrize(
    ("page", "package"), [*zip(["claude", "codex"], clients.PACKAGES, strict=True)]
)
def test_the_page_of_a_client_names_the_version_that_is_tested(page: str, package: str) -> None:
    said = (CHECKOUT / f"docs/clients/{page}.md").read_text()
    assert re.search(rf"^Run for real: .* {re.escape(clients.PACKAGES[package])} ", said, re.M)


def test_the_pinned_versions_are_whole() -> None:
    """A range or a tag would be another program tomorrow."""
    assert all(version.replace(".", "").isdigit() for version in clients.PACKAGES.values())
