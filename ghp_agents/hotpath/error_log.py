"""The log of errors that nobody saw: in hooks, heartbeats and the background."""

import os
import time

from ghp_agents.hotpath import heartbeat, own_file
from ghp_agents.hotpath.locate import locate

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

LOG, OLDER = "log.jsonl", "log.old.jsonl"
LIMIT = 1_000_000  # bytes; then a new log begins, and one older log is kept
TEXT_LIMIT, TRACE_LIMIT = 2_000, 8_000  # characters
SECRET_WORDS = ("TOKEN", "SECRET", "PASSW", "CREDENTIAL", "KEY")  # in names of variables


def log_error(
    error: BaseException,
    cwd: str,
    environ: "Mapping[str, str]",
    *,
    where: str = "",
    only_if_set_up: bool = False,
) -> str | None:
    """Write `error` to the log of the clone around `cwd`; returns the log's path, or None.

    `only_if_set_up`: write nothing in repositories that do not use this program.
    """
    place = locate(cwd, environ)
    if place is None:
        return None
    entry = _entry(error, where, environ)
    for folder in heartbeat.state_folders(place.common_dir, environ):
        if only_if_set_up and not os.path.isdir(folder):
            continue
        path = folder + "/" + LOG
        try:
            os.makedirs(folder, exist_ok=True)
            _append(path, entry)
        except OSError:
            continue
        return path
    return None


def read(folders: "Sequence[str]") -> "list[tuple[str, str, str]]":
    """The kept errors: when, where, and the error. Others may have written to the file, so only
    texts are read."""
    import json

    errors: list[tuple[str, str, str]] = []
    for folder in folders:
        for name in (OLDER, LOG):
            try:
                with open(f"{folder}/{name}", encoding="utf-8", errors="replace") as file:
                    lines = file.read(2 * LIMIT).splitlines()
            except OSError:
                continue
            for line in lines:
                try:
                    entry = json.loads(line)
                    texts = [entry.get(key, "") for key in ("at", "where", "error")]
                except (ValueError, AttributeError, RecursionError):
                    continue
                if all(isinstance(text, str) for text in texts):
                    errors.append((texts[0], texts[1], texts[2]))
    return errors


def _entry(error: BaseException, where: str, environ: "Mapping[str, str]") -> bytes:
    import json
    import traceback

    entry = {"at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())}
    if where:
        entry["where"] = where
    text = _without_secrets(f"{type(error).__name__}: {error}", environ)
    trace = _without_secrets("".join(traceback.format_exception(error)), environ)
    entry |= {"error": text[:TEXT_LIMIT], "trace": trace[-TRACE_LIMIT:]}
    return json.dumps(entry).encode() + b"\n"


def _without_secrets(text: str, environ: "Mapping[str, str]") -> str:
    for name, value in environ.items():
        if len(value) >= 8 and any(word in name.upper() for word in SECRET_WORDS):
            text = text.replace(value, "***")
    return text


def _append(path: str, entry: bytes) -> None:
    if os.path.lexists(path) and os.lstat(path).st_size > LIMIT:
        os.replace(path, path.removesuffix(".jsonl") + ".old.jsonl")
    own_file.append(path, entry)
