"""Seconds since the machine was started: they go on evenly, whatever is done to its clock."""

import os
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

BOOT_ID = "/proc/sys/kernel/random/boot_id"
STEP = 60.0  # seconds; without a boot id, a clock that was set by about as much is another start

_boot: "list[str]" = []


def read() -> "tuple[str, float]":
    """Which start of the machine this is, and the seconds since then. Sleep counts, too."""
    if not _boot:
        _boot.append(_boot_id())
    seconds = _seconds()
    return _boot[0] or f"about {(time.time() - seconds) // STEP:.0f}", seconds


def wait(seconds: float) -> None:
    """Let `seconds` pass."""
    time.sleep(seconds)


def note_beat(local: "dict[str, Any]", moment: "tuple[str, float] | None", now: float) -> None:
    """Keep in a machine's part of a presence when it beat, by both clocks of the machine."""
    local.pop("boot", None)
    if moment is not None:
        local["boot"] = [moment[0], round(moment[1], 1), round(now, 1)]


def _boot_id() -> str:
    try:
        file = os.open(BOOT_ID, os.O_RDONLY)
    except OSError:
        return ""
    try:
        return os.read(file, 64).decode("ascii", "replace").strip()
    finally:
        os.close(file)


def _seconds() -> float:
    for name in ("CLOCK_BOOTTIME", "CLOCK_MONOTONIC_RAW"):  # Linux; macOS
        number = getattr(time, name, None)
        if number is not None:
            return time.clock_gettime(number)
    return time.monotonic()
