"""What tests cost: `pytest -p tests.support.costs` prints the costliest, by the processor's time.

Unlike `--durations`, it counts no waiting, so a busy machine gives the same figures. It counts this
process and those that it waited for, not those of the fork server.
"""

import resource
from collections import defaultdict
from collections.abc import Generator

import pytest

SHOWN = 60
SECONDS = "processor_seconds"
_costs = defaultdict[str, float](float)
_mark = [0.0]  # what was used until the last report


def _used() -> float:
    both = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in both)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_logstart() -> None:
    """The time before a test is no test's."""
    _mark[0] = _used()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """A report has the seconds since the one before it; it may go to another process."""
    report = yield
    now = _used()
    report.user_properties = [(SECONDS, now - _mark[0])]
    _mark[0] = now
    return report


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Sum up set-up, test and tear-down."""
    for name, value in report.user_properties:
        if name == SECONDS and isinstance(value, float):
            _costs[report.nodeid] += value


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """The costliest tests."""
    total = sum(_costs.values())
    terminalreporter.section(f"{total:.1f} s of the processor in {len(_costs)} tests")
    for name, seconds in sorted(_costs.items(), key=lambda cost: -cost[1])[:SHOWN]:
        terminalreporter.write_line(f"{seconds:7.3f} {name}")
