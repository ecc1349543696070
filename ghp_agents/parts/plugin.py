"""Plug-ins: packages of others that bring the same parts as a noun, and handlers of events.

A plug-in is a module with a `plugin`. Only those that the person's own settings name are loaded.
`docs/plugins.md` has an example.
"""

from collections.abc import Callable, Iterable
from fnmatch import fnmatchcase
from functools import cache, partial
from importlib import import_module
from typing import Any, NamedTuple

from ghp_agents.core.ids import one_line
from ghp_agents.parts.call import call_function

Function = Callable[..., Any]
SECONDS = 10.0  # for a handler that names no other limit


class Handler(NamedTuple):
    """An async function of events."""

    pattern: str  # of names in docs/events.md, such as "issue-*"
    function: Function
    seconds: float

    def hears(self, event: str) -> bool:
        """Whether it is called for an event of this name."""
        return fnmatchcase(event, self.pattern)


class Plugin:
    """What a plug-in brings. A function gets the values that its parameters name."""

    def __init__(self) -> None:
        self.checks: dict[str, Function] = {}  # of the doctor, by code
        self.acts: list[Function] = []  # after a sync; they return notes for people, or None
        self.records: dict[str, Function] = {}  # readers, by folder below .ghp/
        self.compaction: dict[Function, str] = {}  # finders of ended records, with their folders
        self.sources: list[Function] = []  # of news: texts, with the keys of their delivery
        self.handlers: list[Handler] = []

    def check(self, code: str) -> Callable[[Function], Function]:
        """A check of the doctor: it yields findings (`ghp_agents.core.finding`)."""
        return lambda function: self.checks.setdefault(code, function)

    def after_sync(self, function: Function) -> Function:
        """Call a function after each sync."""
        self.acts.append(function)
        return function

    def news(self, function: Function) -> Function:
        """A source of news for an agent: it returns texts, each with a key by which it is new."""
        self.sources.append(function)
        return function

    def on(self, pattern: str, seconds: float = SECONDS) -> Callable[[Function], Function]:
        """Call an async function for each event with such a name, in the background process. It is
        cancelled after `seconds`."""

        def add(function: Function) -> Function:
            self.handlers.append(Handler(pattern, function, seconds))
            return function

        return add


class Loaded(NamedTuple):
    """The plug-ins that could be loaded, by name, and why others could not."""

    plugins: dict[str, Plugin]
    problems: dict[str, str]


@cache
def load(names: tuple[str, ...]) -> Loaded:
    """Import plug-ins by the names of their modules."""
    loaded = Loaded({}, {})
    for name in names:
        plugin, problem = attempt(partial(_imported, name))
        if isinstance(plugin, Plugin):
            loaded.plugins[name] = plugin
        else:
            loaded.problems[name] = problem or "its `plugin` is not a Plugin"
    return loaded


def _imported(name: str) -> object:
    return import_module(name).plugin


def attempt(function: Function, source: object = None) -> tuple[Any, str]:
    """What a function of a plug-in returns, and what went wrong; one of them is empty."""
    try:
        return call_function(function, source), ""
    except Exception as error:  # noqa: BLE001 - a plug-in's error stops no command
        return None, one_line(f"{type(error).__name__}: {error}", 300)


def notes_of(acts: Iterable[tuple[str, Function]], source: object) -> list[str]:
    """Do acts of plug-ins, each with the name of its plug-in; return their notes."""
    notes: list[str] = []
    for name, act in acts:
        lines, problem = attempt(act, source)
        notes += [f"The plug-in {name} failed: {problem}"] if problem else map(str, lines or ())
    return notes
