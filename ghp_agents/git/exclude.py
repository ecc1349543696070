"""The lines of `info/exclude`, by which this clone alone keeps a file out of git."""

from pathlib import Path

from ghp_agents.core import files


def has(common_dir: Path, line: str) -> bool:
    """Whether the file has this line; read as bytes, for it need not be UTF-8."""
    exclude = _file(common_dir)
    return exclude.exists() and line.encode() in exclude.read_bytes().splitlines()


def add(common_dir: Path, line: str) -> None:
    """Put the line at the end, once."""
    if has(common_dir, line):
        return
    exclude = _file(common_dir)
    content = exclude.read_bytes() if exclude.exists() else b""
    glue = b"" if not content or content.endswith(b"\n") else b"\n"
    exclude.parent.mkdir(parents=True, exist_ok=True)
    files.write_durably(exclude, content + glue + line.encode() + b"\n")


def remove(common_dir: Path, line: str) -> Path | None:
    """Take the line out; the file, if it was there."""
    exclude = _file(common_dir)
    lines = exclude.read_bytes().splitlines(keepends=True) if exclude.exists() else []
    kept = [each for each in lines if each.rstrip(b"\r\n") != line.encode()]
    if kept == lines:
        return None
    files.write_durably(exclude, b"".join(kept))
    return exclude


def _file(common_dir: Path) -> Path:
    # Resolved, so that replacing the file keeps a person's link to one that they share.
    return (common_dir / "info/exclude").resolve()
