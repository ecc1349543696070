"""Creates the labels that have a meaning here, with their colours and descriptions.

An existing label stays as it is.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any

from ghp_agents.core.json_file import JsonFile
from ghp_agents.github import labels as github_label
from ghp_agents.github.api.errors import InvalidError
from ghp_agents.github.api.repository import GitHubRepository
from ghp_agents.github.labels import AGENT, Label
from ghp_agents.hotpath.heartbeat import is_name
from ghp_agents.issues.capabilities import LABEL as NEEDS
from ghp_agents.issues.dependencies import NEEDS_HUMAN
from ghp_agents.issues.issue import LABEL_LIMIT
from ghp_agents.settings.settings import Settings
from ghp_agents.workspace import Workspace

_KNOWN = "hub/labels.json"  # in the folder of caches: labels that exist, by repository


def wanted(settings: Settings) -> list[Label]:
    """The labels that a repository should have: the standard ones, and one for each configured
    agent and capability, so that people can choose them in GitHub's list."""
    labels = {label.name.lower(): label for label in _labels(settings)}
    return [label for label in labels.values() if len(label.name) <= LABEL_LIMIT]


def missing(hub: GitHubRepository, labels: Sequence[Label]) -> list[Label]:
    """The labels that do not exist; GitHub ignores case in names. Sends a request."""
    existing = _existing(hub)
    return [label for label in labels if label.name.lower() not in existing]


def _existing(hub: GitHubRepository) -> set[str]:
    return {str(entry["name"]).lower() for entry in hub.get_all("labels")}


def ensure(ws: Workspace, hub: GitHubRepository, names: Iterable[str]) -> None:
    """Create those of our labels among `names` that are missing. GitHub itself creates any other
    label, in grey. Sends requests for labels that were not met before."""
    place = f"{hub.host}/{hub.repository}"
    file: JsonFile[set[str]] = JsonFile(
        ws.cache_dir / _KNOWN, lambda data: set(map(str, data[place])), set
    )
    looks = [look for name in dict.fromkeys(names) if (look := github_label.appearance(name))]
    new = {look.name.lower(): look for look in looks}.keys() - file.read()
    if new:
        existing = _existing(hub)
        for look in looks:
            if look.name.lower() in new - existing:
                with suppress(InvalidError):
                    make(hub, look)
        file.write({place: sorted(existing | new)})


def make(hub: GitHubRepository, label: Label) -> None:
    """Create a label. If somebody else creates it at the same moment, that is fine."""

    def find_existing() -> Any | None:
        return None if missing(hub, [label]) else label.name

    try:
        hub.write("POST", "labels", label._asdict(), find_existing=find_existing)
    except InvalidError as error:
        if "already_exists" not in error.codes:
            raise


def _labels(settings: Settings) -> Iterator[Label]:
    chosen = settings.needs_human_label
    for label in github_label.standard():
        yield label._replace(name=chosen) if label.name == NEEDS_HUMAN else label
    yield from github_label.of_jobs() if settings.job_labels else ()
    agents = {*settings.capabilities, *settings.accounts, *settings.orchestrators}
    names = [f"{AGENT}{agent}" for agent in sorted(agents) if is_name(agent)]
    able = {word.strip().casefold() for words in settings.capabilities.values() for word in words}
    names += [f"{NEEDS}{word}" for word in sorted(able - {""})]
    yield from filter(None, map(github_label.appearance, names))
