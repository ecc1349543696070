"""What GitHub answered to a sweep, kept in an archive between jobs that each have a new clone.

The archive lies in GitHub's cache, which every job of the main branch may write. So the state,
which only accounts that may push can change, has its
digest. An archive with another digest is not used.
"""

import io
import json
import re
import zipfile
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from ghp_agents.core import files
from ghp_agents.core.json_file import object_file
from ghp_agents.github.api.status import METERS
from ghp_agents.github.api.token import GH_CACHE
from ghp_agents.github.commands import inbox
from ghp_agents.github.tracker import comments, mirror
from ghp_agents.workspace import Workspace

ARCHIVE = "answers.zip"
NOTE = "kept-answers.json"  # in the cache, and in the memory of sweepers: the archive's digest
MOST_BYTES = 100_000_000  # of the archive; a mirror of 5,000 issues has 5
# The events whose jobs may write the cache of the main branch; comments and labels may only read it
# (GitHub's changelog, 2026-06-26: read-only Actions cache for untrusted triggers).
SAVING = frozenset({
    "push", "schedule", "workflow_dispatch", "repository_dispatch", "delete", "registry_package",
    "page_build",
})  # fmt: skip
_FOLDERS = (mirror.FOLDER, comments.FOLDER)
_HUB = "hub"
# When issues were last requested; and which file, on which disk, had been read for comments.
_PASSING = {mirror.CHECKED: ("at",), inbox.HEARD: ("stamp",)}
_NAME = re.compile(r"hub/(?:(?:mirror|comments)/)?[\w-][\w.-]*\.json")
_EPOCH = (1980, 1, 1, 0, 0, 0)  # the same content gives the same archive


def restore(ws: Workspace, folder: Path) -> bool:
    """Restore the answers of the last job; return whether there were any. What cannot be used is
    asked of GitHub again."""
    try:
        with (folder / ARCHIVE).open("rb") as file:
            content = file.read(MOST_BYTES + 1)
    except OSError:
        return False
    if len(content) > MOST_BYTES or _digest(content) != _known(ws):
        return False
    for name, data in _entries(content).items():
        if not _NAME.fullmatch(name):
            continue  # the right to push the state is not a permission to write other files here
        path = ws.cache_dir / name
        path.parent.mkdir(parents=True, exist_ok=True)
        files.write_atomically(path, data)
    return True


def keep(ws: Workspace, folder: Path) -> None:
    """Write the archive, unless its content would be the same, or GitHub would not save it: then
    the digest in the state stays that of the archive in the cache. Raises OSError."""
    if not may_save(ws.environ):
        return
    answers = _answers(ws)
    archive = folder / ARCHIVE
    try:
        before = archive.read_bytes()
    except OSError:
        before = b""
    if _digest(before) == _known(ws) and _comparable(_entries(before)) == _comparable(answers):
        return
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as packed:
        for name in sorted(answers):
            packed.writestr(zipfile.ZipInfo(name, _EPOCH), answers[name], zipfile.ZIP_DEFLATED)
    folder.mkdir(parents=True, exist_ok=True)
    files.write_atomically(archive, stream.getvalue())
    object_file(ws.cache_dir / NOTE).write({"sha256": _digest(stream.getvalue())})


def may_save(environ: Mapping[str, str]) -> bool:
    """Whether GitHub's cache takes what this job writes; outside of Actions, a folder does."""
    event = environ.get("GITHUB_EVENT_NAME", "")
    return not event or event in SAVING


def _answers(ws: Workspace) -> dict[str, bytes]:
    """The files to keep: neither locks nor what belongs to one token."""
    top = ws.cache_dir / _HUB
    paths = [
        path
        for path in top.glob("*.json")
        if not path.match(METERS) and path.name != GH_CACHE and not path.is_symlink()
    ]
    for folder in _FOLDERS:
        paths += (ws.cache_dir / folder).glob("*.json")
    return {path.relative_to(ws.cache_dir).as_posix(): path.read_bytes() for path in paths}


def _entries(content: bytes) -> dict[str, bytes]:
    """The files in an archive whose digest is known."""
    with zipfile.ZipFile(io.BytesIO(content)) as packed:
        return {name: packed.read(name) for name in packed.namelist()}


def _comparable(answers: dict[str, bytes]) -> dict[str, Any]:
    """The content without the fields that change each time."""
    return answers | {
        name: {key: value for key, value in json.loads(answers[name]).items() if key not in passing}
        for name, passing in _PASSING.items()
        if name in answers
    }


def _known(ws: Workspace) -> str:
    digest = object_file(ws.cache_dir / NOTE).read().get("sha256")
    return digest if isinstance(digest, str) else ""


def _digest(content: bytes) -> str:
    return sha256(content).hexdigest()
