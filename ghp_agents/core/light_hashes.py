"""SHA-1 and SHA-256 from CPython's own modules, as its `random` takes them.

`hashlib` loads OpenSSL, which costs a fifth of `import click`. For many megabytes it is faster.
"""

from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from hashlib import _Hash


def _lightest(name: str, *modules: str) -> "Callable[[bytes], _Hash]":
    for module in modules:
        with suppress(ImportError):
            return cast("Callable[[bytes], _Hash]", getattr(import_module(module), name))
    import hashlib

    return cast("Callable[[bytes], _Hash]", getattr(hashlib, name))


sha1 = _lightest("sha1", "_sha1")
sha256 = _lightest("sha256", "_sha2", "_sha256")  # from Python 3.12 on, and before
