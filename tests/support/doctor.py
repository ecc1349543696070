"""The doctor, for tests: its report, its findings by code, and clones in some state."""

import json
import os
import re
from functools import partial
from pathlib import Path
from types import SimpleNamespace

from ghp_agents.core.finding import Finding
from ghp_agents.doctor import service
from ghp_agents.parts.call import call
from ghp_agents.parts.lists import CHECKS
from ghp_agents.wiring import App
from tests.support.clock import ManualClock
from tests.support.ghp import Result, invoke

AS = {"GHP_AGENT": "worker-1"}


def in_use(clone: Path) -> Path:
    """A clone that was set up, where an agent has beaten, and that was synced."""
    invoke("agent-init --agent worker-1", clone)
    invoke("agent-sync", clone)
    return clone


def doctor(clone: Path, options: str = "", env: dict[str, str] | None = None) -> Result:
    """`ghp agent-doctor OPTIONS`, however many seconds this machine takes."""
    done = invoke(f"agent-doctor {options}", clone, env)
    return done._replace(out=at_once(done.out))


def checks_made(place: str, **values: object) -> list[Finding]:
    """The findings of the checks whose place begins so, with these values."""
    source = SimpleNamespace(**values)
    chosen = {
        code: partial(call, name, source) for code, name in CHECKS.items() if name.startswith(place)
    }
    return list(service.examine(chosen))


# What is said of notes depends on what is installed here; it has tests of its own.
_NOTES = re.compile(
    r"✓ Notes are searched by meaning\.\n|• (?:mem0|The local model) is not installed.*\n.*\n"
)


def at_once(text: str) -> str:
    """A report as it would be if no second passed meanwhile, and anything or nothing were
    installed to find notes with."""
    text = _NOTES.sub("", text)
    return re.sub(r"\b\d+ s (ago|old)\b", r"0 s \1", text)


def findings(
    clone: Path, options: str = "", env: dict[str, str] | None = None
) -> dict[str, list[dict[str, object]]]:
    """What is not well, by code; the exit code has to fit."""
    done = doctor(clone, f"--json {options}", env)
    assert done.out, done
    by_code: dict[str, list[dict[str, object]]] = {}
    for one in json.loads(done.out):
        assert one.pop("schemaVersion") == 1
        if one["level"] != "ok" and one["code"] not in ("background", "knowledge"):
            by_code.setdefault(one.pop("code"), []).append(one)
    levels = {one["level"] for some in by_code.values() for one in some}
    assert done.code == (1 if "error" in levels else 0)
    assert done.err == ""
    return by_code


def finding(level: str, text: str, remedy: str, *, fixable: bool = False) -> dict[str, object]:
    """A finding as `findings` answers it."""
    return {"level": level, "text": text, "remedy": remedy, "fixable": fixable, "fixed": False}


def clone_id(clone: Path) -> str:
    """What a clone calls itself."""
    return (clone / ".git/ghp/state.git/ghp-clone").read_text().strip()


def lines(text: str, *starts: str) -> list[str]:
    """The lines of a report that start so."""
    return [line for line in text.splitlines() if line.startswith(starts)]


def old(path: Path) -> Path:
    """Make a file look like one that nobody has written for an hour."""
    before = path.stat().st_mtime - 3_600
    os.utime(path, (before, before))
    return path


def house(clone: Path, clock: ManualClock) -> App:
    """The parts of the program in a clone, at a time of the test's choosing."""
    return App(clone, dict(os.environ), clock=clock)
