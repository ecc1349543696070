"""What the machine is, as far as the figures depend on it; nothing that names it or its owner."""

import os
import platform
from pathlib import Path

from bench.place import git


def facts() -> dict[str, str | int]:
    """Processor, memory, system and versions."""
    return {
        "processor": _field(Path("/proc/cpuinfo"), "model name") or platform.machine(),
        "cores": os.cpu_count() or 0,
        "memory": f"{_memory():.0f} GB",
        "system": _field(Path("/etc/os-release"), "PRETTY_NAME", "=").strip('"'),
        "python": platform.python_version(),
        "git": git(Path("/"), "version").split()[2],
    }


def _field(path: Path, name: str, separator: str = ":") -> str:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError:
        return ""
    pairs = (line.partition(separator) for line in lines)
    return next((value.strip() for key, _, value in pairs if key.strip() == name), "")


def _memory() -> float:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9
