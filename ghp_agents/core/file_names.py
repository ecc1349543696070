"""File names as text."""

import unicodedata
from collections.abc import Iterable, Iterator


def plain(name: str) -> str:
    """A file name in printable characters. Others are written as escaped bytes."""
    return "".join(
        char if char.isprintable() else "".join(f"\\x{byte:02x}" for byte in _bytes(char))
        for char in name
    )


def _bytes(char: str) -> bytes:
    """The bytes of a character. In a name that is not UTF-8, surrogates stand for bytes."""
    escaped = "\udc80" <= char <= "\udcff"
    return char.encode("utf-8", "surrogateescape" if escaped else "surrogatepass")


def as_code(name: str) -> str:
    """The name of a file or branch as code in markdown; any bytes are safe."""
    shown = plain(name).replace("`", "\\x60")
    return f"`{shown}`"


def parents(path: str) -> list[str]:
    """The folders above a relative path with slashes, the topmost first."""
    return [path[:at] for at, char in enumerate(path) if char == "/"]


def case_twins(
    new: Iterable[str], others: Iterable[str] = (), *, own: bool = True
) -> Iterator[tuple[str, str]]:
    """Names of files or folders in `new` with another spelling in `others`, or with `own` in `new`:
    only case or Unicode's composition differs. Of two folders, their files are left out."""
    spelled: dict[str, str] = {}
    for path in others:
        for name in (*parents(path), path):
            spelled.setdefault(folded(name), name)
    seen: set[str] = set()
    for path in sorted(new):
        for name in (*parents(path), path):
            key = folded(name)
            other = spelled.setdefault(key, name) if own else spelled.get(key, name)
            if other != name:
                if name not in seen:
                    seen.add(name)
                    yield name, other
                break


def folded(name: str) -> str:
    """A name as file systems see it that ignore case, as far as one text can say."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())
