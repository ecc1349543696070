"""The entry point: the fast heartbeat, our own commands, and upstream's `ghp` for all others.

No heavy imports at the top: a heartbeat must cost about as much as starting Python.
"""

import gc
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn


def main() -> None:
    """Run the command in `sys.argv` and end the process with its exit code."""
    argv = sys.argv[1:]
    # Python's default, garbage collection every 700 objects, would take a tenth of the time.
    gc.set_threshold(100_000, 50, 100)
    if argv[:1] == ["agent-heartbeat"] and _heartbeat(argv[1:]):
        # Nothing is open or buffered; skipping Python's clean-up saves a tenth of the time.
        os._exit(0)
    if argv[:1] == ["hook"]:
        _hook(argv[1:])
    if argv and _belongs_to_upstream(argv[0]):
        from ghp_agents.cli.passthrough import hand_over, next_ghp

        if argv[0] != "help" or next_ghp(os.environ):
            sys.exit(hand_over(argv, os.environ))
    from ghp_agents.cli.app import run

    _end(run(argv))


def _heartbeat(argv: list[str]) -> bool:
    from ghp_agents.hotpath import heartbeat_command
    from ghp_agents.hotpath.locate import guard_is_current, locate

    try:
        place = locate(os.getcwd(), os.environ)
        if place and not guard_is_current(place.common_dir, os.environ):
            return False
        return heartbeat_command.run(argv, os.environ)
    except Exception:  # the full command reports and logs the error
        return False


def _hook(argv: list[str]) -> "NoReturn":
    from ghp_agents.hooks.entry import run

    code = run(argv)
    if "ghp_agents.wiring" not in sys.modules:
        os._exit(code)  # as above; with the app loaded, something may have to be put away
    _end(code)


def _end(code: int) -> "NoReturn":
    """End without Python's clean-up of every module: that takes half as long as `import click`."""
    import atexit
    import threading

    if threading.active_count() == 1:  # else others' work would be cut off
        atexit._run_exitfuncs()
        try:
            sys.stdout.flush()
            sys.stderr.flush()
        except (AttributeError, OSError, ValueError):  # Python says so, with its own exit code
            sys.exit(code)
        os._exit(code)
    sys.exit(code)


def _belongs_to_upstream(word: str) -> bool:
    ours = ("agent-", "-", "hook")
    program = os.path.basename(sys.argv[0])
    return program in ("ghp", "ghp.exe") and not word.startswith(ours)
