"""Writes one at a time and one second apart, over all processes of the clone."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

from ghp_agents.core import files
from ghp_agents.core.files import LockTimeoutError
from ghp_agents.github.api.deadline import Deadline
from ghp_agents.github.api.errors import LimitError
from ghp_agents.ports import Clock

SPACING = 1.0  # seconds between two writes, as GitHub advises


class Pace:
    """The lock for writes. The file `written` holds the time of the last write, in seconds."""

    def __init__(self, folder: Path, clock: Clock) -> None:
        self._lock, self._file = folder / "write.lock", folder / "written"
        self._clock = clock

    @contextlib.contextmanager
    def turn(self, deadline: Deadline) -> Iterator[None]:
        """Write inside this block. Raises LimitError if other processes take too long."""
        with contextlib.ExitStack() as stack:
            with contextlib.suppress(OSError):
                self._file.parent.mkdir(parents=True, exist_ok=True)
            try:
                stack.enter_context(
                    files.locked_if_possible(self._lock, patience=max(deadline.left(), 0.1))
                )
            except LockTimeoutError as error:
                raise LimitError(
                    f"Nothing was sent to GitHub, where one process writes at a time. {error}",
                    hint="Try again when the others have written.",
                ) from None
            self._clock.wait(self._rest())
            self._note()  # before too: a process killed while writing may have written
            try:
                yield
            finally:
                self._note()

    def _rest(self) -> float:
        try:
            last = float(self._file.read_text(encoding="ascii"))
        except (OSError, ValueError):
            return 0.0
        since = self._clock.now() - last
        return SPACING - since if 0 <= since < SPACING else 0.0 if since >= 0 else SPACING

    def _note(self) -> None:
        with contextlib.suppress(OSError):  # then writes may come too close; GitHub reports that
            files.write_atomically(self._file, repr(self._clock.now()).encode("ascii"))
