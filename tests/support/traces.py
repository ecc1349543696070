"""Traces: programs that leave a mark when they run, and what a folder holds."""

from pathlib import Path


def trap(folder: Path, name: str = "trap") -> tuple[Path, Path]:
    """A program, and the file that it makes when somebody runs it."""
    program, mark = folder / f"{name}.sh", folder / f"{name}-ran"
    program.write_text(f'#!/bin/sh\necho "$0 $*" >> "{mark}"\nexit 1\n')
    program.chmod(0o755)
    return program, mark


def listing(folder: Path) -> dict[str, bytes | str | None]:
    """Everything in a folder: the content of files, where links lead, None for folders."""
    return {str(path.relative_to(folder)): _content(path) for path in sorted(folder.rglob("*"))}


def _content(path: Path) -> bytes | str | None:
    if path.is_symlink():
        return str(path.readlink())
    return path.read_bytes() if path.is_file() else None
