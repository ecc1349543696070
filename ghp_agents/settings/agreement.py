"""What a person agreed to in a clone, kept outside of the repository: nobody who may write to the
repository can change it, and no clone that is put in another's place inherits it unseen."""

import json
import os
from collections.abc import Mapping
from pathlib import Path

from ghp_agents.core import files
from ghp_agents.core.errors import GhpError
from ghp_agents.hotpath import fastjson
from ghp_agents.settings.consent import Agreement

FOLDER = ".config/ghp-cli/trust"  # below the home, as the person's own settings are
VERSION = 1


def place(environ: Mapping[str, str], common_dir: Path) -> Path:
    """The file for the clone whose git folder is at `common_dir`."""
    import hashlib  # loads a large library, which is needed only where something changed

    name = hashlib.sha256(os.fsencode(common_dir.resolve())).hexdigest()[:32]
    return Path(environ.get("HOME") or "/", FOLDER, f"{name}.json")


def read(environ: Mapping[str, str], common_dir: Path) -> Agreement:
    """What was agreed to in a clone; nothing where that cannot be read."""
    kept = fastjson.read_object(str(place(environ, common_dir)))
    if not kept or kept.get("version") != VERSION or kept.get("clone") != _clone(common_dir):
        return Agreement()
    agreed, owner = kept.get("agreed"), kept.get("owner")
    return Agreement(
        {
            key: frozenset(str(one) for one in digests)
            for key, digests in (agreed.items() if isinstance(agreed, dict) else ())
            if isinstance(digests, list)
        },
        owner if isinstance(owner, str) else "",
    )


def write(environ: Mapping[str, str], common_dir: Path, agreement: Agreement) -> None:
    """Keep an answer in the place of the one before. Raises GhpError."""
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
            f"The answer cannot be kept in {path}: {error.strerror}.",
            hint="Correct the permissions of that folder, or set HOME to one that is yours.",
        ) from None


def forget(environ: Mapping[str, str], common_dir: Path) -> bool:
    """Take an answer back; whether there was one."""
    path = place(environ, common_dir)
    was_there = path.exists()
    path.unlink(missing_ok=True)
    return was_there


def _clone(common_dir: Path) -> str:
    return os.fsencode(common_dir.resolve()).decode("utf-8", "backslashreplace")
