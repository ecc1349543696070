"""The remotes in a repository's configuration, read without git where the file is plain.

Starting git for them takes longer than everything else that most commands do with git.
"""

import re
from pathlib import Path

HOOKS_FILE = "ghp/hooks.gitconfig"  # what our hooks include, below the git folder
_OUR_SECTION = re.compile(
    r'^\[includeIf "gitdir:[^\n]*"\]\n\tpath = ' + re.escape(HOOKS_FILE) + r"$", re.I | re.M
)
_REMOTE = '[remote "'
_INDIRECT = ("include", "includeif", "url")  # another file, or an address is an abbreviation
_NOT_PLAIN = frozenset(' \t"#;\\')


def without_our_section(text: str) -> str:
    """A configuration without the section that includes our `core.hooksPath`: all else that is in
    it can be read without git."""
    return _OUR_SECTION.sub("", text)


def remotes(common_dir: Path) -> dict[str, str] | None:
    """The first address of each remote, by name. None if only git can read the file: it has quotes,
    comments, escapes or includes."""
    try:
        text = (common_dir / "config").read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return None
    text = without_our_section(text)
    addresses: dict[str, str] = {}
    name: str | None = None
    for line in map(str.strip, text.split("\n")):
        if line.endswith("\\"):  # the value goes on in the next line
            return None
        if line.startswith("["):
            section = line[1:-1].partition(" ")[0].lower()
            is_alone = line.endswith("]") and line.count("[") == 1
            if not is_alone or not section.isalnum() or section in _INDIRECT:
                return None
            is_remote = line.lower().startswith(_REMOTE)
            name = line[len(_REMOTE) : -2] if is_remote else None
            if is_remote and (not line.endswith('"]') or not _NOT_PLAIN.isdisjoint(name or "")):
                return None
        elif name is not None:
            key, _, value = line.partition("=")
            if key.strip().lower() == "url":
                value = value.strip()
                if not value or not _NOT_PLAIN.isdisjoint(value):
                    return None
                addresses.setdefault(name, value)
    return addresses
