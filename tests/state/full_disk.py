"""What happens on a small disk that gets full; run by test_bad_input.py where one is mounted."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from ghp_agents.core.errors import GhpError
from tests.state.clones import said, say, store, workspace
from tests.support.ghp import run_ghp


def tell(line: str) -> None:
    sys.stdout.write(f"{line}\n")


def try_to_say(folder: Path, name: str, words: str = "") -> None:
    try:
        say(folder, name)
    except GhpError as error:
        tell(f"said {name}{words}: {int(error.exit_code)} {error.hint[:9]}")
    else:
        tell(f"said {name}{words}: 0")


def fill(disk: Path) -> Path:
    """Leave not one byte."""
    ballast = disk / "ballast"
    with ballast.open("wb", buffering=0) as file:
        for size in (65_536, 4_096, 1):
            try:
                while True:
                    file.write(b"x" * size)
            except OSError:
                continue
    return ballast


def main() -> None:
    clone, disk = Path(sys.argv[1]), Path(sys.argv[2])
    folder = Path(shutil.copytree(clone, disk / "clone", symlinks=True))
    beat = ["agent-heartbeat", "--as", "worker-1", "--status"]
    try_to_say(folder, "one")
    tell(f"beat: {run_ghp([*beat, 'testing'], folder).code}")
    ballast = fill(disk)
    tell("full")
    tell(f"status: {run_ghp('agent-status', folder).code}")
    tell(f"beat: {run_ghp([*beat, 'blocked'], folder).code}")
    outside = workspace(folder).spare_dir / "outbox"
    try_to_say(folder, "two")
    tell(f"waiting outside: {len(list(outside.glob('*')))}")
    spare = os.environ.pop("XDG_STATE_HOME")
    os.environ["GHP_STATE_DIR"] = str(disk / "spare")
    try_to_say(folder, "three", " without a spare")
    os.environ["XDG_STATE_HOME"] = spare
    del os.environ["GHP_STATE_DIR"]
    tell(f"waiting outside: {len(list(outside.glob('*')))}")
    ballast.unlink()
    tell("free")
    store(folder).fold()
    tell("folded")
    assert store(folder).snapshot(4e9).agents()["worker-1"]["status"] == "blocked"
    tell(f"notes: {' '.join(said(folder))}")
    state = folder / ".git/ghp/state.git"
    fsck = subprocess.run(["git", "fsck", "--strict"], cwd=state, capture_output=True)
    tell(f"fsck: {fsck.returncode}")
    left = [path for path in (folder / ".git/ghp").rglob("*") if path.name.endswith(".record")]
    tell(f"left behind: {len(left)}")


if __name__ == "__main__":
    main()
