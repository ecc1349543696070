"""Names of files as text."""


def plain(name: str) -> str:
    """A file's name in letters that can be printed; what cannot is written as its bytes."""
    return "".join(
        char if char.isprintable() else "".join(f"\\x{byte:02x}" for byte in _bytes(char))
        for char in name
    )


def _bytes(char: str) -> bytes:
    """The bytes of a letter; a name that is not UTF-8 has its bytes as surrogates."""
    escaped = "\udc80" <= char <= "\udcff"
    return char.encode("utf-8", "surrogateescape" if escaped else "surrogatepass")
