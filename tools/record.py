"""Record what commands print and which records they leave, or play a recording again.

`python -m tools.record [CHECKOUT]` writes `tests/recorded/*.txt` with the package in CHECKOUT and
its `.venv` (default: here). A recording is a script with its outputs. `who@folder $ command` runs a
command in that folder as that agent; `me` is the person. `+60` lets 60 seconds pass. The command
`state` prints the records of a clone. Only standard output and exit codes such as `[3]` are kept.
"""

import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
import tarfile
import time
from collections.abc import Callable
from pathlib import Path

HERE = Path(__file__).parents[1]
RECORDED = HERE / "tests/recorded"
START = 1_750_000_000.0  # seconds since the epoch; the clock moves by one second a command
_COMMAND = re.compile(r"(?P<who>\S+)@(?P<folder>\S+) \$ (?P<line>.+)|\+(?P<seconds>\d+)")
_RANDOM = re.compile(r"\b(?:[0-9a-f]{12}|[0-9a-f]{16}|[0-9a-f]{24}|[0-9a-f]{32}|[0-9a-f]{40})\b")
_START = re.compile(r"(?<=^\.ghp/)(notes|messages)/[0-9a-f]{2}(?=/)")  # of a random id
_SHORT = re.compile(r"\b([ELN])-[0-9a-f]{4,11}\b")  # an id as people read it
# The keys of each command whose values are sentences for people, and so not recorded.
WORDS = {
    "agent-check": "why|next",
    "agent-dashboard": "title|summary|beat",
    "agent-doctor": "text|remedy",
    "agent-sweep": "text",
}
REFS = ("refs/ghp/clone", "refs/ghp/lease", "refs/ghp/published")
DOCUMENTS = ("agent-resume", "agent-init", "agent-sync")
_NAMED = re.compile(r"<(?:id|commit) \d+>")


class Names:
    """A placeholder for each random id and each path of this machine, the same for the same."""

    def __init__(self, root: Path) -> None:
        self._root = str(root)
        self._known: dict[str, str] = {}

    def hide(self, text: str) -> str:
        """The text with placeholders, numbered in the order of their first appearance."""
        text = _RANDOM.sub(self._name, text.replace(self._root, "<root>"))
        return _SHORT.sub(r"\1-<short>", text)

    def show(self, text: str) -> str:
        """The text with the real ids again."""
        real = {name: text for text, name in self._known.items()}
        return _NAMED.sub(lambda match: real.get(match[0], match[0]), text).replace(
            "<root>", self._root
        )

    def _name(self, match: re.Match[str]) -> str:
        kind = "commit" if len(match[0]) == 40 else "id"
        count = sum(name.startswith(f"<{kind}") for name in self._known.values())
        return self._known.setdefault(match[0], f"<{kind} {count + 1}>")


class Player:
    """Runs the lines of one script below a folder, in this process, at a time of its own."""

    def __init__(self, root: Path, run: Callable[[list[str]], int]) -> None:
        self._names = Names(root)
        self._root = root
        self._run = run
        self._now = START
        time.time = lambda: self._now
        time.monotonic = time.clock_gettime = lambda *_: self._now  # type: ignore[assignment]

    def play(self, script: str) -> str:
        """The script with the outputs of today."""
        title, *lines = script.splitlines()
        return f"{title}\n\n" + "".join(self._answer(line) for line in lines)

    def _answer(self, line: str) -> str:
        match = _COMMAND.fullmatch(line)
        if match is None:
            return ""  # an output of the time before
        if match["seconds"]:
            self._now += float(match["seconds"])
        if not match["line"]:
            return f"{line}\n"
        os.environ.pop("GHP_AGENT", None)
        if match["who"] != "me":
            os.environ["GHP_AGENT"] = match["who"]
        date = f"@{int(self._now)} +0000"
        os.environ.update(GIT_AUTHOR_DATE=date, GIT_COMMITTER_DATE=date)
        self._now += 1
        folder = self._root / self._names.show(match["folder"])
        if not folder.is_dir():
            return f"{line}\n(no such folder)\n"
        os.chdir(folder)
        shown = self._names.hide(self._output(self._names.show(match["line"])))
        return f"{line}\n{shown}" + ("" if shown.endswith("\n") or not shown else "\n")

    def _output(self, line: str) -> str:
        if line == "state":
            return self._state(Path.cwd())
        if not line.startswith("ghp "):
            done = subprocess.run(["bash", "-euc", line], capture_output=True)
            return f"[{done.returncode}]\n" if done.returncode else ""
        stdout = io.TextIOWrapper(io.BytesIO(), "utf-8")
        streams = contextlib.redirect_stdout(stdout), contextlib.redirect_stderr(io.StringIO())
        with streams[0], streams[1]:
            code = self._run(shlex.split(line)[1:])
        stdout.seek(0)
        output = _without_words(line, stdout.read())
        return output + (f"[{code}]\n" if code else "")

    def _state(self, clone: Path) -> str:
        """Each ref of the clone's private repository: its ledger, and its records in an order that
        random ids do not change."""
        parts = []
        for ref in _git("for-each-ref", "--format=%(refname)", *REFS).decode().split():
            parts.append((ref, self._ledger(ref) + self._records(ref)))
        parts.sort(key=lambda part: (_masked(part[0]), _masked(part[1])))
        parts.append(("agent-status.json", _text(clone / ".ghp/agent-status.json")))
        return "".join(f"== {name}\n{content}" for name, content in parts)

    def _ledger(self, ref: str) -> str:
        args = ["log", "--reverse", "--format=-- %an <%ae> %ad%n%B", ref]
        return _git(*args).decode()

    def _records(self, ref: str) -> str:
        with tarfile.open(fileobj=io.BytesIO(_git("archive", ref))) as archive:
            members = [member for member in archive if member.isfile()]
            files = [(_START.sub(r"\1/..", m.name), _content(archive, m)) for m in members]
        files.sort(key=lambda file: (_masked(file[0]), _masked(file[1])))
        return "".join(f"-- {path}\n{content}\n" for path, content in files)


def _content(archive: tarfile.TarFile, member: tarfile.TarInfo) -> str:
    file = archive.extractfile(member)
    assert file is not None
    return file.read().decode()


def _without_words(line: str, output: str) -> str:
    command = line.split()[1]
    if command in DOCUMENTS and "--json" not in line:
        return "<words>\n"
    keys = WORDS.get(command, "-")
    return re.sub(rf'^( *"(?:{keys})": )".*"', r'\1"<words>"', output, flags=re.M)


def _masked(text: str) -> str:
    return _RANDOM.sub("", text)


def _git(*args: str) -> bytes:
    state = Path(".git/ghp/state.git")
    return subprocess.run(
        ["git", f"--git-dir={state}", *args], capture_output=True, check=True
    ).stdout


def _text(path: Path) -> str:
    return path.read_text() if path.exists() else "(none)\n"


def play(recording: Path, root: Path, checkout: Path = HERE, python: str = sys.executable) -> str:
    """The recording as the package in `checkout` makes it today, in repositories below `root`."""
    from tests.support import guard

    home = root / "home"
    guard.furnish(home)
    done = subprocess.run(
        [python, "-P", __file__, str(recording), str(root)],
        env={**os.environ, **guard.at_home(home), "PYTHONPATH": str(checkout)},
        capture_output=True,
        encoding="utf-8",
        timeout=300,
    )
    if done.returncode:
        raise RuntimeError(done.stderr)
    return done.stdout


def main(checkout: Path) -> None:
    """Write all recordings again."""
    import tempfile

    from tests.support import guard

    with tempfile.TemporaryDirectory() as folder:
        guard.shield(Path(folder).resolve() / "home")
        for recording in sorted(RECORDED.glob("*.txt")):
            root = Path(folder).resolve() / recording.stem
            root.mkdir()
            text = play(recording, root, checkout, str(checkout / ".venv/bin/python"))
            recording.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) == 3:
        sys.modules["mem0"] = None  # type: ignore[assignment]  # the extras change no recording
        from ghp_agents.cli.app import run

        script = Path(sys.argv[1]).read_text(encoding="utf-8")
        sys.stdout.write(Player(Path(sys.argv[2]), run).play(script))
    else:
        main(Path(sys.argv[1]) if sys.argv[1:] else HERE)
