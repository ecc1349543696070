"""`python -m tools.secret_figures [FOLDER...]`: how many spellings of secrets are found.

It also counts the files of real code that alarm. Without folders, the standard library and the
installed packages are read."""

import sys
import sysconfig
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from ghp_agents.core import secret_scan
from tests.support.secret_spellings import LOOK_ALIKES, spelled

LARGEST = 2_000_000  # bytes of a file
MOST = 8_000  # files
ENDS = (
    ".py",
    ".pyi",
    ".js",
    ".ts",
    ".md",
    ".json",
    ".yml",
    ".yaml",
    ".txt",
    ".toml",
    ".cfg",
    ".sh",
)
EXAMPLES = 10


def main(folders: Sequence[str]) -> int:
    """Print both numbers; return 1 if a bound does not hold."""
    texts = spelled()
    found = [name for name, text in texts.items() if secret_scan.find(text)]
    wrong = [text for text in LOOK_ALIKES if secret_scan.find(text)]
    print(f"spellings found: {len(found)} of {len(texts)}; missed: {sorted({*texts} - {*found})}")
    print(f"look-alikes that alarm: {len(wrong)} of {len(LOOK_ALIKES)}")
    began, size, files, alarms = time.process_time(), 0, 0, []
    for path, text in _texts(
        folders or [sysconfig.get_path("purelib"), sysconfig.get_path("stdlib")]
    ):
        files, size = files + 1, size + len(text)
        kind = secret_scan.find(text)
        if kind:
            alarms.append(f"{path}: {kind}")
    took = time.process_time() - began
    print(f"files that alarm: {len(alarms)} of {files}; {took / max(size, 1) * 1e6:.2f} s per MB")
    print(*alarms[:EXAMPLES], sep="\n")
    return 0 if len(found) >= 0.92 * len(texts) and len(alarms) <= 0.001 * files else 1


def _texts(folders: Sequence[str]) -> Iterator[tuple[Path, str]]:
    paths = (path for folder in folders for path in sorted(Path(folder).rglob("*")))
    left = MOST
    for path in paths:
        if path.suffix not in ENDS or not path.is_file() or path.stat().st_size > LARGEST:
            continue
        left -= 1
        if left < 0:
            return
        yield path, path.read_text("utf-8", "replace")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
