"""The command that adds one of this program's extras, by the tool that installed the program."""

import shlex
import sys
from importlib.util import find_spec
from pathlib import Path

from ghp_agents.core import distribution


def how_to_install(extra: str) -> str:
    """The command line. The extra comes from where this program came from."""
    return f"{_tool()} {shlex.join(_requirement(extra))}"


def pip() -> str:
    """The beginning of a command line that installs into this environment."""
    if find_spec("pip") is None:  # an environment made by uv
        return f"uv pip install --python {shlex.quote(sys.executable)}"
    return f"{shlex.quote(sys.executable)} -m pip install"


def _tool() -> str:
    """The tool that made this environment: each leaves a file of its own in it."""
    place = Path(sys.prefix)
    if (place / "uv-receipt.toml").is_file():
        return "uv tool install --force"
    if (place / "pipx_metadata.json").is_file():
        return "pipx install --force"
    return pip()


def _requirement(extra: str) -> list[str]:
    from importlib import metadata  # slow to import

    try:
        installed = metadata.distribution(distribution.NAME)
    except metadata.PackageNotFoundError:  # a checkout that is only on the path
        return [f"{Path(__file__).parents[2]}[{extra}]"]
    note = installed.read_text("direct_url.json") or ""
    return distribution.requirement(note, installed.version, extra)
