"""Calls a function of the lists with those values that its parameters name."""

from collections.abc import Callable
from importlib import import_module
from inspect import Parameter, signature
from typing import Any

PACKAGE = "ghp_agents"


def find(name: str) -> Callable[..., Any]:
    """The function "package.module:function", imported now."""
    module, _, function = name.partition(":")
    part: Callable[..., Any] = getattr(import_module(f"{PACKAGE}.{module}"), function)
    return part


def call(name: str, source: object) -> Any:
    """Call a function of the lists. A parameter gets the attribute of `source` that has its name;
    one with a default value may have none there."""
    return call_function(find(name), source)


def call_function(function: Callable[..., Any], source: object) -> Any:
    """The same for a function."""
    values = {
        key: getattr(source, key)
        for key, parameter in signature(function).parameters.items()
        if parameter.default is Parameter.empty or hasattr(source, key)
    }
    return function(**values)
