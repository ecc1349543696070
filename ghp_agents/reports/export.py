"""Writes generated pages into a folder of a person's: it changes nothing that it did not write."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ghp_agents.core import user_file
from ghp_agents.core.errors import RefusedError
from ghp_agents.core.fields import any_list

LISTING = ".ghp-agents-export.json"  # in the folder: what we wrote, by path


def write(folder: Path, pages: Mapping[str, str]) -> int:
    """Write the pages below a folder; returns how many changed.

    Raises RefusedError if a file that somebody else wrote or changed is in the way, or a link;
    then nothing was written. An export that was killed continues the next time.
    """
    place = folder / LISTING
    _refuse_links(folder, LISTING)
    listing = _listed(user_file.read(place) or b"{}")
    changed: dict[str, bytes] = {}
    for path, text in pages.items():
        _refuse_links(folder, path)
        before, after = user_file.read(folder / path), text.encode("utf-8", "replace")
        if before is not None and before != after and _digest(before) not in listing.get(path, []):
            raise RefusedError(
                f"{folder / path} was not written by ghp-agents, or was changed since.",
                hint="Move that file, or export to another folder.",
            )
        if before != after:
            changed[path] = after
    if not changed:
        return 0
    # Both digests count until the end: a killed process may have written some of the files.
    fresh = {path: [_digest(text.encode("utf-8", "replace"))] for path, text in pages.items()}
    both = {path: [*listing.get(path, []), *digests] for path, digests in fresh.items()}
    _save(place, {**listing, **both})
    for path, after in changed.items():
        user_file.rewrite(folder / path, user_file.read(folder / path), after)
    _save(place, {**listing, **fresh})
    return len(changed)


def _refuse_links(folder: Path, path: str) -> None:
    parts = [folder / path, *(folder / path).parents]
    links = [part for part in parts if part != folder and part.is_relative_to(folder)]
    for part in links:
        if part.is_symlink() or (part.exists() and part != folder / path and not part.is_dir()):
            raise RefusedError(
                f"{part} is in the way: it is a link or a file.",
                hint="Move it, or export to another folder.",
            )


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _listed(content: bytes) -> dict[str, list[Any]]:
    """The digests that count for each path; none, if the listing cannot be read."""
    try:
        listing = json.loads(content)
    except (ValueError, RecursionError):
        return {}
    items = listing.items() if isinstance(listing, dict) else ()
    return {path: any_list(digests) for path, digests in items}


def _save(place: Path, listing: Mapping[str, list[Any]]) -> None:
    text = json.dumps(listing, indent=1, sort_keys=True) + "\n"
    user_file.rewrite(place, user_file.read(place), text.encode())
