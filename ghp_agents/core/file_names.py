"""File names as text."""


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
