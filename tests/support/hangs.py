"""A test that hangs says where, and its process ends, instead of stopping the run for ever.

pytest has a setting for this, but it starts and ends a thread for each test: 0.4 ms of the
processor. Here one thread serves all tests of a minute.
"""

import contextlib
import faulthandler
import os
import time

import pytest

LIMIT = 900.0  # seconds that a test may take, and a minute less where others began before it
RENEWED = 60.0  # seconds after which the limit counts from the test that begins


class Watch:
    """The limit of the tests of a process."""

    def __init__(self, config: pytest.Config) -> None:
        captures = config.pluginmanager.getplugin("capturemanager")
        shown = captures.global_and_fixture_disabled() if captures else contextlib.nullcontext()
        with shown:
            self._errors = os.dup(2)
        self._since = float("-inf")

    def begin_test(self) -> None:
        """Count from this test, if the last count is a minute old."""
        now = time.monotonic()
        if now - self._since > RENEWED:
            self._since = now
            faulthandler.dump_traceback_later(LIMIT, exit=True, file=self._errors)

    def end(self) -> None:
        """No test runs any more."""
        faulthandler.cancel_dump_traceback_later()
        os.close(self._errors)
