"""What is kept of GitHub's answers: responses with their ETag, facts, and unreadable issues."""

import contextlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from ghp_agents.core.ids import digest
from ghp_agents.core.json_file import JsonFile, object_file
from ghp_agents.ports import Clock

MOST_FILES = 1_000
MOST_BYTES = 64_000_000
UNREAD = "hub/unread.json"  # in the folder of caches


class CachedAnswer(NamedTuple):
    """A response to keep."""

    url: str
    etag: str
    headers: Mapping[str, str]
    body: Any


class Cache:
    """A folder of responses, one file each. Missing or broken entries are requested again."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def read(self, url: str) -> CachedAnswer | None:
        """The cached response of an address."""
        entry = self._file(url).read()
        return entry if entry and entry.url == url and entry.body is not None else None

    def touch(self, url: str) -> None:
        """Mark an entry as used, so that others are dropped first."""
        with contextlib.suppress(OSError):
            os.utime(self._path(url))

    def write(self, entry: CachedAnswer) -> None:
        """Cache a response; drop the oldest entries above the limits."""
        with contextlib.suppress(OSError, ValueError):  # a cache
            new = not self._path(entry.url).exists()
            self._file(entry.url).write(entry._asdict())
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

    def _file(self, url: str) -> JsonFile[CachedAnswer | None]:
        return JsonFile(self._path(url), lambda fields: CachedAnswer(**fields), lambda: None)

    def _path(self, url: str) -> Path:
        return self._folder / f"{digest(url, length=32)}.json"


class FactsCache:
    """Facts by name, each with the time it was stored. A lost fact costs one request."""

    def __init__(self, path: Path, clock: Clock) -> None:
        self._file, self._clock = object_file(path), clock

    def get(self, name: str, seconds: float) -> Any | None:
        """A fact, if it is at most `seconds` old."""
        try:
            value, learned = self._file.read()[name]
            age = self._clock.now() - float(learned)
        except (KeyError, TypeError, ValueError):
            return None
        return value if 0 <= age < seconds else None

    def text(self, name: str, seconds: float) -> str | None:
        """A fact that is a text, if it is at most `seconds` old."""
        value = self.get(name, seconds)
        return value if isinstance(value, str) else None

    def put(self, name: str, value: Any, keep: float) -> None:
        """Store a fact; drop facts older than `keep` seconds."""
        now = self._clock.now()
        facts = {
            key: fact
            for key, fact in self._file.read().items()
            if isinstance(fact, list) and len(fact) == 2 and _age(fact[1], now) < keep
        }
        self._file.write({**facts, name: [value, now]})


def _age(learned: Any, now: float) -> float:
    return now - learned if isinstance(learned, int | float) and learned <= now else float("inf")


class UnreadableIssues:
    """Issues of a repository that cannot be parsed, and why, until they can be."""

    def __init__(self, folder: Path, repository: str) -> None:
        self._repository = repository
        self._file: JsonFile[dict[int, str]] = JsonFile(folder / UNREAD, self._decode, dict)

    def load(self) -> dict[int, str]:
        """By number, each with the reason."""
        return self._file.read()

    def store(self, unread: Mapping[int, str]) -> None:
        """Remember unreadable issues; if that fails, they are not reported."""
        if unread != self.load():
            self._file.write({self._repository: dict(sorted(unread.items()))})

    def _decode(self, data: Any) -> dict[int, str]:
        return {int(number): str(why) for number, why in data[self._repository].items()}
