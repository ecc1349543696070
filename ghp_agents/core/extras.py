"""The command that adds one of this program's extras, by the tool that installed the program, and
from the same source.

pip records the source in `direct_url.json` (PyPA's "Recording the Direct URL Origin"). A package
from an index has no such record.
"""

import json
import shlex
import sys
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import unquote, urlsplit

NAME = "ghp-agents"


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
        installed = metadata.distribution(NAME)
    except metadata.PackageNotFoundError:  # a checkout that is only on the path
        return [f"{Path(__file__).parents[2]}[{extra}]"]
    note = installed.read_text("direct_url.json") or ""
    return requirement(note, installed.version, extra)


def requirement(direct_url: str, version: str, extra: str) -> list[str]:
    """The arguments of `pip install` for this program with one of its extras.

    `direct_url` is the text of pip's record, empty if there is none. For a program that did not
    come from an index, the bare package name is never used: someone else may own it there.
    """
    named = f"{NAME}[{extra}]"
    if not direct_url.strip():
        return [f"{named}=={version}"]
    try:
        noted = json.loads(direct_url)
        url, vcs, folder = str(noted["url"]), noted.get("vcs_info"), noted.get("dir_info")
        if vcs is not None:
            return [f"{named} @ {vcs['vcs']}+{url}@{vcs['commit_id']}"]
        if folder is None:
            return [f"{named} @ {url}"]
        place = f"{unquote(urlsplit(url).path)}[{extra}]"
        return ["--editable", place] if folder.get("editable") else [place]
    except (ValueError, KeyError, TypeError, AttributeError):
        return [f".[{extra}]"]  # the current folder is a checkout
