"""The environment in which tests run: nothing of the user's gets in, nothing of theirs gets out.

A coding agent runs these tests as often as a person does, inside its own session, with its own
variables set, in a repository that is coordinated by this very tool.
"""

import contextlib
import os
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

# Variables that would change what git, our program or the libraries behind its doors do.
FOREIGN = (
    "AGENT", "AIDER", "ANTHROPIC_", "CI", "CLAUDE", "CLICOLOR", "CODEX", "COLUMNS", "COPILOT_",
    "CURSOR",
    "EDITOR", "EMAIL", "FORCE_COLOR", "GEMINI", "GH_", "GHP_", "GIT_", "GITHUB_", "GOOSE", "LINES",
    "MEM0", "NO_COLOR", "OPENAI_", "OPENCODE", "PAGER", "PI_CODING_AGENT",
    "PYTHONDONTWRITEBYTECODE", "QWEN", "SSH_", "VISUAL",
    "XDG_",
)  # fmt: skip

# Programs that the package, git or a test would start where a machine has them.
HIDDEN = (
    "bwrap", "claude", "codex", "cursor-agent", "direnv", "docker", "gemini", "gh", "ghp",
    "ghp-agents", "git-lfs", "node", "npm", "npx", "opencode", "podman",
)  # fmt: skip
# The PATH as it was before `shield`, also for the processes that it starts.
ORIGINAL = "TESTS_MACHINE_PATH"
# The folder of this run, also for its workers.
RUN = "TESTS_RUN"
MACHINE_PATH = os.environ.get(ORIGINAL) or os.environ.get("PATH", os.defpath)

GIT_CONFIG = """\
[user]
\tname = Test Person
\temail = person@example.invalid
[init]
\tdefaultBranch = main
[gc]
\tauto = 0
[maintenance]
\tauto = false
[receive]
\tautogc = false
"""  # no repository of a test lives long enough to be packed by git itself

MEMORY = Path("/dev/shm")  # a file system in memory: fast, and a `sync` costs nothing
ROOM = 4 * 2**30  # bytes; a run with four workers takes less than a tenth


def scrubbed(environ: Mapping[str, str]) -> dict[str, str]:
    """`environ` without what is foreign."""
    return {name: value for name, value in environ.items() if not name.startswith(FOREIGN)}


def at_home(home: Path) -> dict[str, str]:
    """The variables that make `home` the user's home."""
    return {
        "HOME": str(home),
        "XDG_CACHE_HOME": str(home / ".cache"),
        "XDG_CONFIG_HOME": str(home / ".config"),
        "XDG_DATA_HOME": str(home / ".local/share"),
        "XDG_RUNTIME_DIR": str(home / ".run"),
        "XDG_STATE_HOME": str(home / ".local/state"),
        "GIT_CONFIG_GLOBAL": str(home / ".gitconfig"),
    }


def furnish(home: Path) -> None:
    """Put into a new home what git needs there."""
    home.mkdir(parents=True, exist_ok=True)
    (home / ".gitconfig").write_text(GIT_CONFIG)


def without_hidden(path: str, folder: Path) -> str:
    """`path` without the programs in HIDDEN: a folder that has one is replaced by a folder of
    links, below `folder`, to all its other programs."""
    shown = []
    for number, place in enumerate(filter(os.path.isdir, path.split(os.pathsep))):
        programs = {program.name: program for program in Path(place).absolute().iterdir()}
        if programs.keys().isdisjoint(HIDDEN):
            shown.append(place)
            continue
        links = folder / str(number)
        links.mkdir(parents=True)
        for name in programs.keys() - set(HIDDEN):
            (links / name).symlink_to(programs[name])
        shown.append(str(links))
    return os.pathsep.join(shown)


@contextlib.contextmanager
def machine_path() -> Iterator[None]:
    """Show the machine's own programs, for what installs a stand-in or a client."""
    shown = os.environ["PATH"]
    os.environ["PATH"] = MACHINE_PATH
    try:
        yield
    finally:
        os.environ["PATH"] = shown


def machine_program(name: str) -> str | None:
    """Where the machine has a program that is hidden from the tests; None if it has none."""
    return shutil.which(name, path=MACHINE_PATH)


def temporary() -> None:
    """Put temporary folders into memory where that has room and lets programs be started.

    A TMPDIR that somebody chose stays.
    """
    with contextlib.suppress(OSError):
        disk = os.statvfs(MEMORY)
        has_room = disk.f_bavail * disk.f_frsize >= ROOM and not disk.f_flag & os.ST_NOEXEC
        if has_room and os.access(MEMORY, os.W_OK):
            os.environ.setdefault("TMPDIR", str(MEMORY))
            tempfile.tempdir = None  # what was found before


def shield(home: Path) -> None:
    """Give this process, and so all it starts, an environment of its own."""
    furnish(home)
    # Without bytecode on the disk each process would compile the package, which takes longer than
    # most commands, and each worker all tests.
    sys.dont_write_bytecode = False
    is_worker = RUN in os.environ  # it has the path from the process that started it
    shown = os.environ["PATH"] if is_worker else without_hidden(MACHINE_PATH, home.with_name("bin"))
    clean = scrubbed(os.environ) | at_home(home)
    clean |= {
        "GHP_ANCESTORS": "0",  # the tests may run in a client's shell
        "GHP_BACKGROUND": "0",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "LC_ALL": "C.UTF-8",
        "PATH": shown,
        ORIGINAL: MACHINE_PATH,
        RUN: os.environ.get(RUN, str(home.parent)),
        "TZ": "ODD-05:45",  # whoever mixes local time into a record is found out
    }
    os.environ.clear()
    os.environ.update(clean)
    time.tzset()
    # A shell that starts the tests in the background makes them, and all they start, deaf to
    # interrupts; `nohup` to the end of the session.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
