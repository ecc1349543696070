"""Reads the clone in threads of its own, so that no key waits for git, files or the network."""

import threading
from collections.abc import Callable

from ghp_agents.cli.watch.look import Look
from ghp_agents.reports.overview import Overview

RETRY_S = 5.0  # seconds after a failed look


class Feed:
    """Two threads: one reads what this clone knows, the other asks the remote. Both are daemons,
    for nothing is lost if one ends in the middle."""

    def __init__(
        self, look: Look, tell: Callable[[Overview], None], fail: Callable[[Exception], None]
    ) -> None:
        self._look, self._tell, self._fail = look, tell, fail
        self._over = threading.Event()

    def start(self) -> None:
        """Begin to read."""
        for work in (self._read, self._exchange):
            threading.Thread(target=work, daemon=True).start()

    def stop(self) -> None:
        """Let both threads end."""
        self._over.set()

    def _read(self) -> None:
        while not self._over.is_set():
            try:
                self._tell(self._look.overview())
                self._look.wait(self._over)
            except Exception as error:  # shown and logged; the watch goes on
                self._fail(error)
                self._over.wait(RETRY_S)

    def _exchange(self) -> None:
        pause = 0.0
        while not self._over.wait(pause):
            try:
                pause = self._look.exchange()
            except Exception as error:  # shown and logged; the watch goes on
                self._fail(error)
                pause = RETRY_S
