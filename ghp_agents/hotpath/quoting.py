"""Text of others, shown so that it can pass for nothing but a quotation.

On one line it stands between « and », with its author named beside it; over several lines in a
quotation or a block of code in markdown. Hooks read this page before an edit: it imports nothing.
"""

NAME_LIMIT = 40  # characters of a person's name
LINE_LIMIT = 120  # of a title or a reason
PATH_LIMIT = 200

# Of the letters that Python prints, those that show nothing, and ranges of them.
_UNSEEN = "\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0"
_UNSEEN_RANGES = (("\u180b", "\u180f"), ("\ufe00", "\ufe0f"), ("\U000e0000", "\U000e0fff"))
# What could end a quotation or a piece of code, or looks as if it did.
_MARKS = str.maketrans(dict.fromkeys("`«»≪≫《》⟪⟫", "'"))
_NAME = " .-_'@"
_WORD = "._-"
_PATH = "._/-+@%=:,*?[]!"  # of files and patterns
_TIME = "0123456789-:.+TZ"


# ------------------------------------------------------------------------------- on one line


def one_line(text: str, limit: int) -> str:
    """Text on one line without control characters, cut at `limit` characters with an ellipsis; a
    byte of a name that is not UTF-8 is written as such."""
    if not text.isprintable():
        text = "".join(c if c.isprintable() else byte_of(c) or " " for c in text)
    line = " ".join(text.split())
    return line if len(line) <= limit else line[: limit - 1] + "…"


def byte_of(char: str) -> str:
    """How a byte is written that a name has and UTF-8 has not: `\\xff`; else nothing."""
    return f"\\x{ord(char) - 0xDC00:02x}" if "\udc80" <= char <= "\udcff" else ""


def phrase(text: str, limit: int = LINE_LIMIT) -> str:
    """A line of others between quotation marks, which nothing in it can close."""
    if not text.isascii():
        text = "".join([char if _is_seen(char) else byte_of(char) or " " for char in text])
    return f"«{one_line(text, limit).translate(_MARKS)}»"


def _is_seen(char: str) -> bool:
    hidden = char in _UNSEEN or any(first <= char <= last for first, last in _UNSEEN_RANGES)
    return char.isprintable() and not hidden


def named(name: str, is_person: bool = False) -> str:
    """A name in a sentence of ours: an agent's as the one word that it is, a person's between
    quotation marks, as any name that is not one word: `worker-1`, `«Ada» (a person)`."""
    if not is_person and _is_of(name, _WORD, NAME_LIMIT):
        return name
    line = one_line(name, NAME_LIMIT)
    kept = "".join([char if _is_of_names(char) else "-" for char in line])
    return phrase(kept, NAME_LIMIT) + (" (a person)" if is_person else "")


def _is_of_names(char: str) -> bool:
    # Vowel signs and the like are no letters of their own, but part of names in many languages.
    return char in _NAME or f"a{char}".isidentifier() or char == "…"


def who(name: str, is_person: bool) -> str:
    """An author in words that nobody can choose to be: `person «Ada»`, `agent worker-1`."""
    if is_person:
        return f"person {named(name, is_person).removesuffix(' (a person)')}"
    return f"agent {named(name)}"


def reason(text: str, by: str = "") -> str:
    """A sentence with the reason that somebody gave, after another sentence; empty without one.
    `by` is who gave it, as `named` writes them."""
    if not text:
        return ""
    return f" {by} gives as reason: {phrase(text)}." if by else f" Reason given: {phrase(text)}."


def file(path: str) -> str:
    """The name of a file in a sentence: as it is where that is one plain word."""
    if _is_of(path, _PATH, PATH_LIMIT):
        return path
    shown = [char if _is_seen(char) else byte_of(char) or "�" for char in path[:PATH_LIMIT]]
    more = "…" if len(path) > PATH_LIMIT else ""
    return f"«{''.join(shown).translate(_MARKS)}{more}»"


def thing(text: str) -> str:
    """What an event was about: `#12`, `E-3f9a`, a status; as it is where that is one word."""
    return f"#{file(text[1:])}" if text.startswith("#") else file(text)


def when(text: str) -> str:
    """A record's own time, which may be anything."""
    return text if 0 < len(text) <= LINE_LIMIT // 3 and not text.strip(_TIME) else "an unknown time"


def _is_of(text: str, others: str, limit: int) -> bool:
    """Whether a text is one word: letters and digits of ASCII, and `others`."""
    return 0 < len(text) <= limit and all(
        char in others or (char.isascii() and char.isalnum()) for char in text
    )


# ----------------------------------------------------------------------- over several lines


def clean(text: str) -> str:
    """Text without control characters: no terminal escape and no hidden letter reaches a reader."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in "\n\t" else "�" for c in text)


def fence(text: str) -> str:
    """Text as a block of code in markdown, in a fence longer than any that it has itself."""
    longest = run = 0
    for char in text if "```" in text else "":
        run = run + 1 if char == "`" else 0
        longest = max(longest, run)
    ticks = "`" * max(3, longest + 1)
    return f"{ticks}\n{text}\n{ticks}"


def visible(text: str) -> str:
    """Text in which nothing is hidden from the reader of a page: what HTML takes for a comment
    is seen by programs alone."""
    return clean(text).replace("<!--", "&lt;!--")


def indented(text: str) -> str:
    """Text as a quotation in markdown, with nothing hidden."""
    return "\n".join(f"> {line}".rstrip() for line in visible(text).split("\n"))


def cut(text: str, limit: int, rest: str) -> str:
    """At most `limit` characters of a text, with a line that says where the rest is."""
    return text if len(text) <= limit else f"{text[:limit]}\n… ({rest})"
