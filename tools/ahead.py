"""Installs what slow tests install when they first need it, so that none of them waits for it.

What cannot be installed is named. Its tests are skipped, and say why.
"""

import sys
from collections.abc import Callable
from functools import partial

from tools import aider, clients, emulate, hook_programs, site
from tools.clients import BrokenError, UnreachableError


def main() -> int:
    """Install all of it, one after another."""
    installs: list[Callable[[], object]] = [
        emulate.ready,
        emulate.recordings,
        *(partial(clients.ready, name) for name in clients.CLIENTS),
        aider.ready,
        hook_programs.ready,
        hook_programs.filesystem,
        site.ready,
    ]
    for install in installs:
        try:
            install()
        except (BrokenError, UnreachableError) as error:
            print(f"Not installed: {error}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
