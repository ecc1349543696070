"""The pace of writes: one at a time, a second apart, and no more in an hour than GitHub allows.

GitHub's limits for content are 80 a minute and 500 an hour for an account, its web pages included
(docs.github.com, "Rate limits for the REST API"). So all clones of this machine that use one token
share one file, and the account's person keeps a part of the hour.
"""

import contextlib
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ghp_agents.core import files
from ghp_agents.core.clock import ago
from ghp_agents.core.files import LockTimeoutError
from ghp_agents.core.json_file import JsonFile
from ghp_agents.github.api.errors import LimitError
from ghp_agents.github.api.rate_limit import Deadline
from ghp_agents.ports import Clock

SPACING = 1.0  # seconds between two writes, as GitHub advises
HOUR = 3_600.0
MOST_IN_AN_HOUR = 450  # of GitHub's 500; the rest is the person's


class Pace:
    """The lock for writes, and the file `written` with the times of the last hour's writes.

    They are in the first of `folders` that can be written: one for the token on this machine, then
    one in the clone.
    """

    def __init__(self, folders: Sequence[Path], clock: Clock) -> None:
        self._folders, self._clock = folders, clock

    @contextlib.contextmanager
    def turn(self, deadline: Deadline) -> Iterator[None]:
        """Write inside this block. Raises LimitError if other processes take too long, or if the
        hour's writes are used up."""
        folder, began = self._folder(), self._clock.now()
        patience = max(deadline.patience, 0.1)
        with contextlib.ExitStack() as stack:
            try:
                stack.enter_context(
                    files.locked_if_possible(folder / "write.lock", patience=patience)
                )
            except LockTimeoutError as error:
                raise LimitError(
                    f"Nothing was sent to GitHub: one process writes at a time. {error}",
                    hint="Try again when the other process has finished.",
                ) from None
            times = self._times(folder)
            self._refuse_many(times)
            deadline.spend(self._clock.now() - began)
            rest = self._rest(times)
            if rest > deadline.left():
                raise LimitError(
                    "Nothing was sent to GitHub: other changes are sent first, one a second.",
                    hint="Queued changes are sent automatically.",
                )
            self._clock.wait(rest)
            # Before too: a process killed while writing may have written.
            self._note(folder, [*times, self._clock.now()])
            try:
                yield
            finally:
                self._note(folder, [*times, self._clock.now()])

    def in_last_hour(self) -> int:
        """How many writes there were in the last hour."""
        return len(self._times(self._folder()))

    def _folder(self) -> Path:
        for folder in self._folders[:-1]:
            with contextlib.suppress(OSError):
                folder.mkdir(parents=True, exist_ok=True, mode=0o700)
                if os.access(folder, os.W_OK):
                    return folder
        return self._folders[-1]

    def _times(self, folder: Path) -> list[float]:
        """The writes of the last hour; one after now, by a clock that was set back, counts as
        just now."""
        now = self._clock.now()
        times = _file(folder).read()
        return [min(time, now) for time in times if now - time < HOUR][-MOST_IN_AN_HOUR:]

    def _refuse_many(self, times: Sequence[float]) -> None:
        if len(times) < MOST_IN_AN_HOUR:
            return
        until = times[0] + HOUR
        error = LimitError(
            f"This machine sent {MOST_IN_AN_HOUR} changes to GitHub within an hour. GitHub allows "
            f"500 in an hour; the rest is left for the account's person. The next may be sent in "
            f"{ago(max(1.0, until - self._clock.now()))}.",
            hint="Try again then; queued changes are sent automatically.",
        )
        error.until = until
        raise error

    def _rest(self, times: Sequence[float]) -> float:
        return max(0.0, times[-1] + SPACING - self._clock.now()) if times else 0.0

    def _note(self, folder: Path, times: Sequence[float]) -> None:
        # Else writes may come too close; GitHub reports that.
        _file(folder).write(list(times))


def _file(folder: Path) -> JsonFile[list[float]]:
    return JsonFile(folder / "written", _decoded, list)


def _decoded(data: Any) -> list[float]:
    return sorted(float(time) for time in (data if isinstance(data, list) else [data]))
