"""The moment: what a process has read of the shared state, it need not read again.

A command asks the same question in many places. Their answers are kept until the moment ends: when
this process writes, waits, talks to a remote or lets another program run. So a command knows what
it wrote itself, and what others wrote while it waited. What others write within a moment, the
comparison at each commit finds.
"""

import functools
from collections.abc import Callable, Hashable
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

from ghp_agents.hotpath import own_file

P = ParamSpec("P")
T = TypeVar("T")
_ended = 0


def end() -> None:
    """What was read so far may have changed."""
    global _ended
    _ended += 1


def ends(act: Callable[P, T]) -> Callable[P, T]:
    """The same function, which ends the moment before and after."""

    @functools.wraps(act)
    def acting(*args: P.args, **kwargs: P.kwargs) -> T:
        end()
        try:
            return act(*args, **kwargs)
        finally:
            end()

    return acting


def now() -> tuple[int, int]:
    """The present moment: equal values are the same one."""
    return _ended, own_file.presences


class Kept:
    """Answers that hold for the moment, by their questions."""

    def __init__(self) -> None:
        self._at, self._answers = now(), dict[Hashable, Any]()

    def get(self, question: Hashable, read: Callable[[], T]) -> T:
        """The answer; `read` gives it, once in a moment."""
        at = (_ended, own_file.presences)  # `now`: this is asked hundreds of times
        answers = self._answers if self._at == at else self._present()
        if question not in answers:
            answers[question] = read()  # if the moment ends meanwhile, nobody looks there again
        answer: T = answers[question]
        return answer

    def has(self, question: Hashable) -> bool:
        """Whether the answer is known without reading it."""
        return question in self._present()

    def put(self, question: Hashable, answer: object) -> None:
        """Keep an answer that is known without reading it."""
        self._present()[question] = answer

    def _present(self) -> dict[Hashable, Any]:
        if self._at != now():
            self._at, self._answers = now(), {}
        return self._answers

    def __eq__(self, other: object) -> bool:
        """What is known of two equal things does not distinguish them."""
        return isinstance(other, Kept)

    def __hash__(self) -> int:
        return 0


class Derivable(Protocol):
    """What keeps what was made of it."""

    @property
    def derived(self) -> dict[Hashable, Any]:
        """By the function that made it, and its other arguments."""


S = TypeVar("S", bound=Derivable)


def derived(read: Callable[Concatenate[S, P], T]) -> Callable[Concatenate[S, P], T]:
    """The same function, which works once for the same source and other arguments, by position.
    Of a snapshot it may use only the records. Whoever gets the result must not change it."""

    @functools.wraps(read)
    def once(source: S, /, *args: P.args, **kwargs: P.kwargs) -> T:
        question: Hashable = (read, *(tuple(x) if isinstance(x, list) else x for x in args))
        if question not in source.derived:
            source.derived[question] = read(source, *args, **kwargs)
        result: T = source.derived[question]
        return result

    return once
