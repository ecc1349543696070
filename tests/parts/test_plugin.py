"""Plug-ins: named by a person, loaded once, and never in the way."""

import asyncio
import json
import os
import re
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from ghp_agents.core.ids import Actor, Timestamp
from ghp_agents.parts.plugin import Handler, attempt, load, notes_of
from ghp_agents.state.record import Record
from ghp_agents.sync.service import sync
from ghp_agents.workspace import open_workspace
from tests.support.clock import ManualClock
from tests.support.doctor import doctor, house
from tests.support.ghp import succeed
from tests.support.house import CHECKOUT

Clones = Callable[[int], list[Path]]
PAGE = (CHECKOUT / "docs/plugins.md").read_text()
(EXAMPLE,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


def test_a_module_that_is_missing_or_no_plug_in_is_a_problem() -> None:
    loaded = load(("no_such_module", "json"))
    assert loaded.plugins == {}
    assert loaded.problems["no_such_module"].startswith("ModuleNotFoundError: ")
    assert loaded.problems["json"].startswith("AttributeError: ")


def test_a_function_gets_what_it_names_and_its_error_is_a_text() -> None:
    def divide(number: int) -> float:
        return 1 / number

    assert attempt(divide, SimpleNamespace(number=2, other=1)) == (0.5, "")
    assert attempt(divide, SimpleNamespace(number=0))[1] == "ZeroDivisionError: division by zero"


def test_an_act_that_fails_is_a_note_and_the_next_is_done() -> None:
    def fails() -> None:
        raise ValueError("no")

    acts = [("first", fails), ("second", lambda: ["done"]), ("third", lambda: None)]
    assert notes_of(acts, None) == ["The plug-in first failed: ValueError: no", "done"]


def test_a_pattern_is_of_names_of_events() -> None:
    handler = Handler("issue-*", asyncio.sleep, 1.0)
    assert handler.hears("issue-close")
    assert not handler.hears("claim")


def test_a_repository_names_no_plug_in(repo: Path) -> None:
    (repo / ".ghp").mkdir()
    (repo / ".ghp/config.json").write_text('{"agents": {"plugins": ["json"]}}')
    assert open_workspace(repo, os.environ, ManualClock()).settings.plugins == ()


@pytest.fixture
def installed(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The page's example, installed from a wheel, and named by the person."""
    wheel = tmp_path / "deploys-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as file:
        file.writestr("deploys.py", EXAMPLE)
        info = "deploys-1.0.dist-info"
        file.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: deploys\nVersion: 1.0\n")
        file.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        file.writestr(f"{info}/RECORD", "")
    place = tmp_path / "packages"
    pip = [sys.executable, "-m", "pip", "--quiet", "install", "--no-index", "--no-deps"]
    subprocess.run([*pip, "--target", str(place), str(wheel)], check=True)
    monkeypatch.syspath_prepend(str(place))
    config = home / ".config/ghp-cli/config.json"
    config.parent.mkdir(parents=True, exist_ok=True)
    config.write_text(json.dumps({"agents": {"plugins": ["deploys"]}}))
    load.cache_clear()


@pytest.mark.slow
@pytest.mark.usefixtures("installed")
def test_the_example_of_the_page_works_from_a_wheel(repo: Path, home: Path) -> None:
    assert len(EXAMPLE.splitlines()) <= 42
    assert "✓ Plug-ins: deploys." in doctor(repo).out
    assert "Nothing was deployed yet." in doctor(repo).out
    closed = home / "closed.txt"
    app = house(repo, ManualClock())
    succeed(repo, "agent-issue new Old", "agent-issue close 1 --reason not-planned")
    sync(app, paced=True)
    assert not closed.exists(), "what happened before is not new"
    succeed(repo, "agent-issue new New", "agent-issue close 2 --reason not-planned")
    sync(house(repo, ManualClock()), paced=True)
    sync(house(repo, ManualClock()), paced=True)
    (line,) = closed.read_text().splitlines()
    assert line.endswith("closed #2")
    at, by = Timestamp("2026-01-02T03:04:05Z"), Actor("worker-1")
    files = ((".ghp/deploys/0123456789ab.json", b"{}"),)
    store = house(repo, ManualClock()).store
    store.commit(
        [Record("deploy", by, "D-1", "1", at, 99, files)], expected=store.snapshot().revision
    )
    assert "not a deployment: 'commit'" in doctor(repo).out


@pytest.mark.slow
def test_a_clone_without_the_plug_in_keeps_its_records_and_passes_them_on(clones: Clones) -> None:
    first, second = (house(clone, ManualClock()) for clone in clones(2))
    files = ((".ghp/deploys/0123456789ab.json", b"{}"),)
    at, by = Timestamp("2026-01-02T03:04:05Z"), Actor("worker-1")
    record = Record("deploy", by, "D-1", "1", at, 1, files)
    first.store.commit([record], expected=first.store.snapshot().revision)
    sync(first)
    sync(second)
    assert dict(second.store.snapshot().files(".ghp/deploys/")) == dict(files)
    assert "deploy" not in doctor(second.cwd).out
