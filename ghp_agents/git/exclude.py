"""Lines of `info/exclude`, which hide files from git in this clone only."""

from pathlib import Path

from ghp_agents.core import files


def has(common_dir: Path, line: str) -> bool:
    """Whether the file has this line. Read as bytes, because it may not be UTF-8."""
    exclude = _file(common_dir)
    return exclude.exists() and line.encode() in exclude.read_bytes().splitlines()


def add(common_dir: Path, line: str) -> None:
    """Append the line unless it exists."""
    if has(common_dir, line):
        return
    exclude = _file(common_dir)
    content = exclude.read_bytes() if exclude.exists() else b""
    glue = b"" if not content or content.endswith(b"\n") else b"\n"
    exclude.parent.mkdir(parents=True, exist_ok=True)
    files.write_durably(exclude, content + glue + line.encode() + b"\n")


def remove(common_dir: Path, line: str) -> Path | None:
    """Remove the line; the file's path, or None if it had no such line."""
    exclude = _file(common_dir)
    lines = exclude.read_bytes().splitlines(keepends=True) if exclude.exists() else []
    kept = [entry for entry in lines if entry.rstrip(b"\r\n") != line.encode()]
    if kept == lines:
        return None
    files.write_durably(exclude, b"".join(kept))
    return exclude


def _file(common_dir: Path) -> Path:
    # Resolved, so that replacing the file keeps a person's symbolic link.
    return (common_dir / "info/exclude").resolve()
