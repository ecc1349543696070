"""The block for agents in AGENTS.md and CLAUDE.md: put between two markers, updated, taken out.

The first marker says how the file was before, so that taking the block out restores its bytes.
"""

from collections.abc import Callable
from functools import partial
from pathlib import Path

from ghp_agents.core import user_file
from ghp_agents.core.errors import GhpError, RefusedError
from ghp_agents.state.admin_port import Step

FILES = ("AGENTS.md", "CLAUDE.md")  # without one, the first is created
IMPORT = b"@AGENTS.md"  # a line of CLAUDE.md that includes the other file
BEGIN, END = b"<!-- ghp-agents: begin", b"<!-- ghp-agents: end -->"
AFTER_NEWLINE, AFTER_TEXT, NEW_FILE = b" -->", b" (no newline before) -->", b" (new file) -->"
Change = Callable[[Path, bytes | None], bytes | None]
TEXT = """\
## Other agents

Other agents work on this repository at the same time. `ghp agent-…` commands coordinate all of you.

- Claim: `ghp agent-start --next` claims an issue and creates its worktree. Work only there.
- If an edit is refused, do what the message says. `ghp agent-status` shows who does what.
- If main moved: `ghp agent-update` updates your branch and keeps uncommitted work.
- Ask a person: `ghp agent-escalate 'QUESTION'`. You get the answer at a later step.
- Hand over: `ghp agent-handoff --note 'TEXT'`. Continue such work: `ghp agent-resume`.
- Save what later agents should know: `ghp agent-remember 'FACT'`.
- Finish: commit, then run `ghp agent-finish`. Do not push to the main branch yourself.
"""


def to_put(top: Path) -> list[Step]:
    """Steps to put the block into the files of a worktree, or to update it. Raises GhpError."""
    paths = _present(top) or [top / FILES[0]]
    return [step for path in paths for step in _step(path, _put, ("put", "Put", "into"))]


def to_take(top: Path) -> list[Step]:
    """Steps to take the block out again. Raises GhpError."""
    return [
        step for path in _present(top) for step in _step(path, _take, ("remove", "Removed", "from"))
    ]


def _present(top: Path) -> list[Path]:
    """The files of the worktree, each once: one may be a link to the other, or include it."""
    files: dict[Path, Path] = {}
    for name in FILES:
        content = user_file.read(top / name)
        if content is None:
            continue
        if not (top / name).resolve().is_relative_to(top.resolve()):
            raise RefusedError(
                f"{top / name} is a link out of the worktree, to {(top / name).resolve()}.",
                hint="Check that link, and write to its target yourself.",
            )
        if not (files and IMPORT in content.split() and BEGIN not in content):
            files.setdefault((top / name).resolve(), top / name)
    return [*files.values()]


def _step(path: Path, change: Change, words: tuple[str, str, str]) -> list[Step]:
    before = user_file.read(path)
    after = change(path, before)
    if after == before:
        return []
    doing, did, where = words
    act = partial(_write, path, before, after)
    return [Step(doing, did, f"the block for agents {where} {path.name}", act)]


def _write(path: Path, before: bytes | None, after: bytes | None) -> None:
    if after is None:
        path.unlink(missing_ok=True)
    else:
        user_file.rewrite(path, before, after)


def _block(how: bytes, newline: bytes) -> bytes:
    lines = [BEGIN + how, *TEXT.encode().splitlines(), END]
    return newline.join(lines) + newline


def _put(path: Path, before: bytes | None) -> bytes:
    newline = b"\r\n" if before and b"\r\n" in before else b"\n"
    parts = _parts(path, before or b"")
    if parts:
        start, how, rest = parts
        return start + _block(how, newline) + rest
    if not before:
        return _block(NEW_FILE if before is None else AFTER_NEWLINE, newline)
    has_end = before.endswith(b"\n")
    glue = newline if has_end else newline * 2
    return before + glue + _block(AFTER_NEWLINE if has_end else AFTER_TEXT, newline)


def _take(path: Path, before: bytes | None) -> bytes | None:
    parts = _parts(path, before or b"")
    if parts is None:
        return before
    start, how, rest = parts
    if how == NEW_FILE and not (start + rest).strip():
        return None
    has_glue = how != NEW_FILE and start.endswith((b"\n\n", b"\n\r\n"))
    for _ in range((2 if how == AFTER_TEXT else 1) if has_glue else 0):
        start = start.removesuffix(b"\n").removesuffix(b"\r")
    return start + rest


def _parts(path: Path, content: bytes) -> tuple[bytes, bytes, bytes] | None:
    """What is before the block, how its first marker ends, and what is after it. Raises GhpError if
    only one of the markers is there."""
    start, begin, inner = content.partition(BEGIN)
    _, end, rest = inner.partition(END)
    if not begin and END not in content:
        return None
    line = inner.partition(b"\n")[0].rstrip(b"\r")
    if not begin or not end or BEGIN in rest or line not in (AFTER_NEWLINE, AFTER_TEXT, NEW_FILE):
        raise GhpError(
            f"{path.name} has only a part of our block, or two of them; it was not changed.",
            hint=f"Delete the lines from `{BEGIN.decode()}` to `{END.decode()}`, and try again.",
        )
    return start, line, rest.removeprefix(b"\r").removeprefix(b"\n")
