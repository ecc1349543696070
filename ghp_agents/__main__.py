"""`python -P -m ghp_agents`: what hooks call, because it does not depend on PATH."""

import sys

if not sys.flags.safe_path:
    # Called without -P, Python looks for modules in the current folder first: in the project that
    # an agent works on, whose `json.py` is not the one that we mean.
    del sys.path[0]


def _start() -> None:
    from ghp_agents.cli.main import main

    main()


def _start_hook() -> None:
    """While this program is being upgraded parts of it are missing; the agent goes on."""
    try:
        _start()
    except Exception:  # not even the part that logs need be there
        _drain()


def _drain() -> None:
    """Some clients take a pipe that is closed early for a failure."""
    try:
        while sys.stdin.buffer.read(1_048_576):
            pass
    except (AttributeError, OSError):
        return


if sys.argv[1:2] == ["hook"]:
    _start_hook()
else:
    _start()
