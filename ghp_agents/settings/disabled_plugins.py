"""Pydantic without its plug-ins, from the import of this module until `restore` is called.

To look for plug-ins, pydantic reads a file of each installed distribution, once for a process.
"""

import os

_VARIABLE = "PYDANTIC_DISABLE_PLUGINS"
_BEFORE = os.environ.get(_VARIABLE)
os.environ[_VARIABLE] = "__all__"


def restore() -> None:
    """What this process starts may use plug-ins."""
    if _BEFORE is None:
        os.environ.pop(_VARIABLE, None)
    else:
        os.environ[_VARIABLE] = _BEFORE
