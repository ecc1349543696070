"""Text that a client finds although its quotes or indentation differ from the file's."""

from ghp_agents.hooks.event import UnknownEditError

QUOTES = {ord(curly): straight for curly, straight in zip("‘’“”", "''\"\"", strict=True)}  # noqa: RUF001
BY_LINES = ("gemini", "opencode")  # clients that ignore the white space around lines
WORK = 2_000_000  # comparisons of lines


def found(client: str, text: bytes, old: bytes, new: bytes) -> tuple[bytes, bytes]:
    """The text of the file that the client takes for `old`, and what it writes there.

    Raises UnknownEditError if it finds none, or more than one.
    """
    actual = _by_lines(client, text, old, new) if client in BY_LINES else _by_quotes(text, old, new)
    if actual is None:
        raise UnknownEditError("the text to replace was not found")
    return actual


def _by_quotes(text: bytes, old: bytes, new: bytes) -> tuple[bytes, bytes] | None:
    """The first place that differs only in typographic quotes."""
    whole, wanted = (part.decode("utf-8", "surrogateescape") for part in (text, old))
    at = whole.translate(QUOTES).find(wanted.translate(QUOTES))
    if at < 0:
        return None
    return whole[at : at + len(wanted)].encode("utf-8", "surrogateescape"), new


def _by_lines(client: str, text: bytes, old: bytes, new: bytes) -> tuple[bytes, bytes] | None:
    """The only place whose lines differ in nothing but the white space around them."""
    lines = text.splitlines(keepends=True)
    wanted = [line.strip() for line in old.removesuffix(b"\n").split(b"\n")]
    stripped = [line.strip() for line in lines]
    if not any(wanted):
        return None
    places: list[int] = []
    at, work = -1, 0
    while len(places) < 2:
        try:
            at = stripped.index(wanted[0], at + 1)
        except ValueError:
            break
        work += len(wanted)
        if work > WORK:
            raise UnknownEditError("too many lines are alike")
        if stripped[at : at + len(wanted)] == wanted:
            places.append(at)
    if len(places) != 1:
        return None
    match = lines[places[0] : places[0] + len(wanted)]
    actual = b"".join(match)
    if client == "gemini":
        indent = match[0][: len(match[0]) - len(match[0].lstrip())]
        body = [indent + line for line in new.removesuffix(b"\n").split(b"\n")]
        return actual, b"\n".join(body) + (b"\n" if actual.endswith(b"\n") else b"")
    return (actual if old.endswith(b"\n") else actual.removesuffix(b"\n")), new
