"""Seconds since the machine booted, unaffected by changes of its clock."""

import os
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

BOOT_ID = "/proc/sys/kernel/random/boot_id"
STEP = 60.0  # seconds; without a boot id, a larger clock change counts as a reboot

_boot: "list[str]" = []


def read() -> "tuple[str, float]":
    """An id of the machine's boot, and the seconds since then, including sleep."""
    if not _boot:
        _boot.append(_boot_id())
    seconds = _seconds()
    return _boot[0] or f"about {(time.time() - seconds) // STEP:.0f}", seconds


def wait(seconds: float) -> None:
    """Let `seconds` pass."""
    time.sleep(seconds)


def note_beat(local: "dict[str, Any]", moment: "tuple[str, float] | None", now: float) -> None:
    """Store the time of a heartbeat by both clocks in the machine's part of a presence."""
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
