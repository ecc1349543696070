"""Real boxes: bubblewrap of this machine. Other tests do not see it, and run unboxed."""

import os

import pytest

from ghp_agents.cards import sandbox
from tests.support.guard import MACHINE_PATH

# The programs of this machine are at the end: those of the tests count first.
ENV = {"PATH": os.pathsep.join((os.environ["PATH"], MACHINE_PATH, "/usr/bin", "/bin"))}
_TROUBLE = sandbox.trouble({**os.environ, **ENV})
# What a clone says once, where no sandbox works.
UNBOXED = (
    "Warning: What runs here unattended has no sandbox: it can do all that you can do (bubblewrap: "
    "it is not installed). docs/sandboxes.md says how to get one."
)
works = pytest.mark.skipif(bool(_TROUBLE), reason=f"bubblewrap cannot be used: {_TROUBLE}")
