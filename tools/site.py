"""Builds the docs site in an environment of its own, `.cache/docs-site/venv`: `make docs-site`.

It copies docs/ and the pages of the checkout's top to one folder, with their links changed, and
calls `mkdocs build --strict`. Only the standard library is used, so any Python 3.11 can run it.
"""

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
from tools import pages
from tools.clients import BrokenError, UnreachableError, one_at_a_time
from tools.emulate import pip

HOME = pages.CHECKOUT / ".cache/docs-site"
VENV, STAGED, SITE = HOME / "venv", HOME / "pages", HOME / "site"
DOCS_DIR = "docs_dir: .cache/docs-site/pages"  # as in mkdocs.yml
PROJECT = pages.CHECKOUT / "pyproject.toml"


def main() -> int:
    """Build the site, and say where it is. Returns an exit code."""
    try:
        ready()
    except (BrokenError, UnreachableError) as error:
        say(f"{error}\nError: pip could not install the packages of the extra `docs`.")
        say("Hint: check the network and `pip config list`, then run `make docs-site` again.")
        return 1
    stage(STAGED)
    if printed := build(SITE):
        say(f"{printed}Error: the site has broken links or pages; mkdocs names them above.")
        return 1
    say(f"The site is in {SITE.relative_to(pages.CHECKOUT)}. To look at it:")
    say(
        f"  python3 -m http.server --bind 127.0.0.1 --directory {SITE.relative_to(Path.cwd())} 8000"
    )
    return 0


def requirements() -> list[str]:
    """The packages of the extra `docs`."""
    hooks = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["tool"]["hatch"]["metadata"]["hooks"]
    return list(hooks["custom"]["extras"]["docs"])


def ready(home: str | None = None) -> None:
    """Create the environment if it is missing or has other packages; only one process does.

    `home` is the folder with pip's configuration, if it is not HOME. Raises BrokenError or
    UnreachableError with pip's words.
    """
    HOME.mkdir(parents=True, exist_ok=True)
    wanted, note = "\n".join([sys.version, str(VENV), *requirements()]), VENV / ".installed"
    with one_at_a_time(HOME):
        if note.exists() and note.read_text() == wanted:
            return
        say(f"Making {VENV.relative_to(pages.CHECKOUT)} …")
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(VENV)], check=True)
        packages = ("install", "--no-compile", *requirements())
        pip(HOME, home or os.environ.get("HOME", "/"), *packages, python=VENV / "bin/python")
        note.write_text(wanted)


def stage(folder: Path) -> None:
    """Copy all pages and what they show to a folder, with their links as they are in the site."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(pages.CHECKOUT / "docs", folder)
    for name in pages.names():
        text = (pages.CHECKOUT / name).read_text(encoding="utf-8")
        (folder / pages.place(name)).write_text(pages.for_site(name, text), encoding="utf-8")


def build(folder: Path, staged: Path = STAGED) -> str:
    """Build the site from what is staged. Returns what mkdocs prints if there is any warning."""
    text = pages.NAV.read_text(encoding="utf-8")
    config = staged.with_suffix(".yml")
    config.write_text(text.replace(DOCS_DIR, f"docs_dir: {staged}"), encoding="utf-8")
    done = subprocess.run(
        [VENV / "bin/mkdocs", "build", "--strict", "--site-dir", folder, "--config-file", config],
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"}, capture_output=True, encoding="utf-8",
    )  # fmt: skip
    return done.stdout + done.stderr if done.returncode else ""


def say(text: str) -> None:
    """Print to stderr."""
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
