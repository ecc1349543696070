"""What a person agreed to in a clone. The file is outside of the repository: people with write
access cannot change it, and a clone put in another's place does not inherit it."""

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from ghp_agents.core import files
from ghp_agents.core.errors import GhpError
from ghp_agents.core.light_hashes import sha256
from ghp_agents.hotpath import fastjson
from ghp_agents.settings.consent import Agreement

FOLDER = ".config/ghp-cli/trust"  # below the home folder, like the person's settings
VERSION = 1


def place(environ: Mapping[str, str], common_dir: Path) -> Path:
    """The file for the clone whose git folder is at `common_dir`."""
    name = sha256(os.fsencode(common_dir.resolve())).hexdigest()[:32]
    return Path(environ.get("HOME") or "/", FOLDER, f"{name}.json")


def read(environ: Mapping[str, str], common_dir: Path) -> Agreement:
    """The agreement of a clone; empty if it cannot be read."""
    kept = fastjson.read_object(str(place(environ, common_dir)))
    if not kept or kept.get("version") != VERSION or kept.get("clone") != _clone(common_dir):
        return Agreement()
    agreed, owner = kept.get("agreed"), kept.get("owner")
    return Agreement(
        {
            key: frozenset(str(digest) for digest in digests)
            for key, digests in (agreed.items() if isinstance(agreed, dict) else ())
            if isinstance(digests, list)
        },
        owner if isinstance(owner, str) else "",
    )


def write(environ: Mapping[str, str], common_dir: Path, agreement: Agreement) -> None:
    """Replace the agreement. Raises GhpError."""
    path = place(environ, common_dir)
    content = {
        "version": VERSION,
        "clone": _clone(common_dir),
        "agreed": {key: sorted(digests) for key, digests in sorted(agreement.agreed.items())},
        "owner": agreement.owner,
    }
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        files.write_durably(path, json.dumps(content, indent=2).encode() + b"\n")
    except OSError as error:
        raise GhpError(
            f"Cannot save your answer in {path}: {error.strerror}.",
            hint="Fix the permissions of that folder, or set HOME to a folder of yours.",
        ) from None


def forget(environ: Mapping[str, str], common_dir: Path) -> bool:
    """Delete the agreement; returns whether there was one."""
    path = place(environ, common_dir)
    was_there = path.exists()
    path.unlink(missing_ok=True)
    with suppress(OSError):  # of other clones, too, or not there
        path.parent.rmdir()
    return was_there


def _clone(common_dir: Path) -> str:
    return os.fsencode(common_dir.resolve()).decode("utf-8", "backslashreplace")
