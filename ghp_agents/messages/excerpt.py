"""What answers a request for context: lines of a file at a commit, and a range of commits.

Only what is committed can be shown, so no uncommitted file leaves the machine.
"""

import re
from pathlib import Path
from typing import NamedTuple

from ghp_agents.core.errors import NotFoundError, RefusedError, UsageError
from ghp_agents.core.ids import count, one_line
from ghp_agents.core.secret_scan import is_made_for_secrets
from ghp_agents.git import process as git
from ghp_agents.hotpath.quoting import fence, file

LINES, CHARACTERS, COMMITS = 200, 16_000, 50  # of one excerpt; of one range
LARGEST = 5_000_000  # bytes of a file
_SPEC = re.compile(
    r"(?:(?P<commit>[0-9A-Za-z][\w./~^-]{0,200}):)?(?P<path>[^:#]{1,400})"
    r"(?:#L(?P<first>[1-9]\d{0,6})(?:-L?(?P<last>[1-9]\d{0,6}))?)?"
)
_RANGE = re.compile(r"([0-9A-Za-z][\w/~^-]{0,200})\.\.([0-9A-Za-z][\w/~^-]{0,200})")


class Excerpt(NamedTuple):
    """A text for the body of a reply, and the name of what it shows."""

    text: str
    artifact: str


def of_file(folder: Path, spec: str) -> Excerpt:
    """Lines of a file: `src/a.py#L1-20`, `2907e5b:src/a.py#L7`, `src/a.py`. Without a commit, HEAD
    is meant. Raises UsageError, NotFoundError, RefusedError for a file made for secrets."""
    match = _SPEC.fullmatch(spec)
    path = match["path"] if match else ""
    if match is None or not path.isprintable() or {"", ".", ".."} & {*path.split("/")}:
        raise UsageError(
            f"{one_line(spec, 80)!r} is not a place in a file.",
            hint="Name it from the root of the repository: src/a.py#L1-20, or 2907e5b:src/a.py#L7.",
        )
    if is_made_for_secrets(path):
        raise RefusedError(
            f"{file(path)} is a file for secrets.", hint="Say in your own words what is needed."
        )
    oid = _commit(folder, match["commit"] or "HEAD")
    lines = _lines(folder, oid, path)
    first = int(match["first"] or 1)
    last = int(match["last"] or match["first"] or len(lines))
    shown = lines[first - 1 : last]
    if not shown:
        raise UsageError(
            f"{file(path)} has {count(len(lines), 'line')}; there is no line {first}.",
            hint="Name lines that it has.",
        )
    cut = _bounded(shown)
    last = first + len(cut) - 1
    place = f"{path}#L{first}-{last}" if last > first else f"{path}#L{first}"
    left = len(shown) - len(cut)
    more = f"\n… {count(left, 'more line')} of {file(path)}" if left else ""
    text = f"{file(path)}, lines {first} to {last}, at {oid[:12]}:\n\n{fence(chr(10).join(cut))}"
    return Excerpt(f"{text}{more}", f"{oid[:12]}:{place}")


def of_commits(folder: Path, spec: str) -> Excerpt:
    """The commits of a range `A..B`, newest first. Raises UsageError, NotFoundError."""
    match = _RANGE.fullmatch(spec)
    if match is None:
        raise UsageError(
            f"{one_line(spec, 80)!r} is not a range of commits.", hint="Name two: main..HEAD."
        )
    first, last = _commit(folder, match[1]), _commit(folder, match[2])
    between = f"{first}..{last}"
    number = int(git.check(["rev-list", "--count", between], cwd=folder).text)
    log = ["log", "--no-color", "--format=%h %s", f"--max-count={COMMITS}", between]
    lines = [one_line(line, 200) for line in git.check(log, cwd=folder).text.splitlines()]
    left = f"\n… {count(number - len(lines), 'older commit')}" if number > len(lines) else ""
    name = f"{first[:12]}..{last[:12]}"
    text = f"{count(number, 'commit')} in {name}:\n\n{fence(chr(10).join(lines))}{left}"
    return Excerpt(text, name)


def _commit(folder: Path, name: str) -> str:
    args = ["rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}"]
    shown = git.run(args, cwd=folder)
    if shown.code:
        raise NotFoundError(
            f"There is no commit {one_line(name, 60)} here.", hint="`git log` lists commits."
        )
    return shown.text


def _lines(folder: Path, commit: str, path: str) -> list[str]:
    spec = f"{commit}:{path}"
    kind = git.run(["cat-file", "-t", spec], cwd=folder)
    if kind.code or kind.text != "blob":
        raise NotFoundError(
            f"There is no file {file(path)} at {commit[:12]}.",
            hint="Commit it first, or name another commit: COMMIT:PATH.",
        )
    size = int(git.check(["cat-file", "-s", spec], cwd=folder).text)
    data = b"" if size > LARGEST else git.check(["cat-file", "blob", spec], cwd=folder).out
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        text = "\0"
    if size > LARGEST or "\0" in text:
        raise UsageError(
            f"{file(path)} is not text, or is too long.", hint="Name it with --artifact."
        )
    return [line.rstrip("\r") for line in text.removesuffix("\n").split("\n")] if text else []


def _bounded(lines: list[str]) -> list[str]:
    """The first lines that fit; a longer first line is cut."""
    room, kept = CHARACTERS, list[str]()
    for line in lines[:LINES]:
        room -= len(line) + 1
        if room < 0:
            break
        kept.append(line)
    return kept or [lines[0][:CHARACTERS]]
