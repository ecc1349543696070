"""A process that tells notes, syncs and brings the index up to date, until it is done or killed.

`tell FOLDER NAME FIRST`: it tells its facts from FIRST on, every fourth one a fact that all others
tell as well, and acknowledges each by a line. `index FOLDER FIRST` only indexes.
"""

import os
import sys
from pathlib import Path

from ghp_agents.notes import recall as recalling
from ghp_agents.notes import service as services
from ghp_agents.notes.search.mem0 import Mem0Base
from ghp_agents.notes.search.mem0_config import prepare
from ghp_agents.notes.search.result import Engines
from ghp_agents.wiring import App
from tests.support import fork_server
from tests.support.fork_server import Forked
from tests.support.notes import note

NOTES = 20
FACTS = [note(f"Fact number {number}") for number in range(20)]


def text_of(name: str, number: int) -> str:
    """What the teller called `name` tells as its fact with this number."""
    return f"All know fact {number}" if number % 4 == 3 else f"{name} learnt fact {number}"


def base(folder: Path) -> Mem0Base:
    """The index of a clone, with the embedder that takes no time."""
    return Mem0Base(folder / ".git/ghp/index", "crowd", Engines(), hashes=True)


def start(folder: Path, name: str, first: int) -> Forked:
    """Start a teller."""
    return fork_server.start("tests.notes.search.teller", ["tell", str(folder), name, str(first)])


def start_index(folder: Path, first: int) -> Forked:
    """Start a process that puts the facts up to `first + 5` into the index in a folder."""
    return fork_server.start("tests.notes.search.teller", ["index", str(folder), str(first)])


def warm_up() -> None:
    """Import what takes longer than all that a teller does."""
    prepare(Path(os.environ["HOME"]))


def main() -> None:
    """Tell, or index."""
    verb, folder, *words = sys.argv[1:]
    if verb == "tell":
        tell(Path(folder), words[0], int(words[1]))
    else:
        index = Mem0Base(Path(folder), "shop", Engines(), hashes=True)
        index.index(FACTS[: int(words[0]) + 5])


def tell(folder: Path, name: str, first: int) -> None:
    """Tell, sync, index, acknowledge."""
    house = App(folder, dict(os.environ), name=name)
    for number in range(first, NOTES):
        services.remember(house, text_of(name, number), project=house.project)
        sys.stdout.write(f"{number}\n")
        sys.stdout.flush()
        if number % 5 == 2:
            house.store.sync()
        if number % 5 == 4:
            recalling.reindex(house, base(folder))


if __name__ == "__main__":
    main()
