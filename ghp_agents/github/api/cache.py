"""Responses with their ETag, one file each, so that unchanged data is not sent again."""

import contextlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from ghp_agents.core import files
from ghp_agents.core.ids import digest

MOST_FILES = 1_000
MOST_BYTES = 64_000_000


class CachedAnswer(NamedTuple):
    """A response to keep."""

    url: str
    etag: str
    headers: Mapping[str, str]
    body: Any


class Cache:
    """A folder of responses. Missing or broken entries are requested again."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def read(self, url: str) -> CachedAnswer | None:
        """The cached response of an address."""
        path = self._path(url)
        try:
            data = json.loads(path.read_bytes())
            entry = CachedAnswer(data["url"], data["etag"], data["headers"], data["body"])
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return None
        return entry if entry.url == url else None

    def touch(self, url: str) -> None:
        """Mark an entry as used, so that others are dropped first."""
        with contextlib.suppress(OSError):
            os.utime(self._path(url))

    def write(self, entry: CachedAnswer) -> None:
        """Cache a response; drop the oldest entries above the limits."""
        path = self._path(entry.url)
        with contextlib.suppress(OSError, ValueError):  # a cache
            new = not path.exists()
            files.write_atomically(path, json.dumps(entry._asdict()).encode())
            if new:
                self._prune()

    def _prune(self) -> None:
        kept: list[tuple[float, int, str]] = []
        with os.scandir(self._folder) as entries:
            for entry in entries:
                with contextlib.suppress(FileNotFoundError):  # another process prunes, too
                    status = entry.stat()
                    kept.append((status.st_mtime, status.st_size, entry.path))
        kept.sort(reverse=True)
        total = 0
        for number, (_, size, path) in enumerate(kept, 1):
            total += size
            if number > MOST_FILES or total > MOST_BYTES:
                Path(path).unlink(missing_ok=True)

    def _path(self, url: str) -> Path:
        return self._folder / f"{digest(url, length=32)}.json"
