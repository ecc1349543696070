"""Writes that could not be sent yet: kept durably in the clone, and sent later in their order."""

from collections.abc import Mapping
from typing import Any, NamedTuple


class Job(NamedTuple):
    """One write for later, in the words of who will perform it.

    `id` makes saying it twice saying it once. Jobs with the same `about` depend on each other:
    where one was refused for good, those behind it are not sent.
    """

    id: str  # unique: the id marker that the write leaves on GitHub, where it leaves one
    kind: str  # what to do, for the performer: "comment", "labels", …
    about: str  # what it is done to: "12" for issue 12, or the id of an issue that is to be made
    says: str  # for people: "a comment on #12"
    data: Mapping[str, Any] = {}  # plain JSON values


class Refused(NamedTuple):
    """A job that GitHub will not take, and why."""

    job: Job
    why: str
