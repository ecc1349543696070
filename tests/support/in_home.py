"""Files of a clone that are kept in the person's home."""

import os
from pathlib import Path

from ghp_agents.hotpath import own_file


def in_home(clone: Path, name: str) -> Path:
    """The file `name` in the folder that the clone has in the home."""
    return Path(own_file.home_folder(str(clone / ".git"), os.environ), name)
