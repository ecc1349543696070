"""Shows others' text so that it is recognizable as a quotation.

On one line it is enclosed in « and », with its author next to it. Several lines become a markdown
quotation or code block. Hooks load this module before an edit, so it imports nothing.
"""

NAME_LIMIT = 40  # characters of a person's name
LINE_LIMIT = 120  # of a title or a reason
PATH_LIMIT = 200

# Printable characters that show nothing, and ranges of them.
_UNSEEN = "\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0"
_UNSEEN_RANGES = (("\u180b", "\u180f"), ("\ufe00", "\ufe0f"), ("\U000e0000", "\U000e0fff"))
# Characters that could end a quotation or code, or look like it.
_MARKS = str.maketrans(dict.fromkeys("`«»≪≫《》⟪⟫", "'"))
_NAME = " .-_'@"
_WORD = "._-"
_PATH = "._/-+@%=:,*?[]!"  # allowed in files and patterns
_TIME = "0123456789-:.+TZ"


def one_line(text: str, limit: int) -> str:
    """Text on one line without control characters, cut at `limit` characters with an ellipsis.
    Bytes of a name that is not UTF-8 are escaped."""
    if not text.isprintable():
        text = "".join(c if c.isprintable() else byte_of(c) or " " for c in text)
    line = " ".join(text.split())
    return line if len(line) <= limit else line[: limit - 1] + "…"


def byte_of(char: str) -> str:
    """The escape for a byte that is not UTF-8: `\\xff`; otherwise empty."""
    return f"\\x{ord(char) - 0xDC00:02x}" if "\udc80" <= char <= "\udcff" else ""


def phrase(text: str, limit: int = LINE_LIMIT) -> str:
    """A quoted line, which nothing inside can close."""
    return f"«{seen_line(text, limit).translate(_MARKS)}»"


def seen_line(text: str, limit: int) -> str:
    """One line as `one_line` makes it, without characters that show nothing."""
    if not text.isascii():
        text = "".join([char if _is_seen(char) else byte_of(char) or " " for char in text])
    return one_line(text, limit)


def _is_seen(char: str) -> bool:
    hidden = char in _UNSEEN or any(first <= char <= last for first, last in _UNSEEN_RANGES)
    return char.isprintable() and not hidden


def named(name: str, is_person: bool = False) -> str:
    """A name in a sentence: an agent's as one word; a person's, or any name of several words,
    quoted: `worker-1`, `«Ada» (a person)`."""
    if not is_person and _is_of(name, _WORD, NAME_LIMIT):
        return name
    line = one_line(name, NAME_LIMIT)
    kept = "".join([char if _is_of_names(char) else "-" for char in line])
    return phrase(kept, NAME_LIMIT) + (" (a person)" if is_person else "")


def _is_of_names(char: str) -> bool:
    # Combining vowel signs are not letters, but part of names in many languages.
    return char in _NAME or f"a{char}".isidentifier() or char == "…"


def who(name: str, is_person: bool) -> str:
    """An author in words that cannot be imitated: `person «Ada»`, `agent worker-1`."""
    if is_person:
        return f"person {named(name, is_person).removesuffix(' (a person)')}"
    return f"agent {named(name)}"


def reason(text: str, by: str = "") -> str:
    """A sentence with a given reason, to append to another sentence; empty without one. `by` is its
    author, as `named` writes it."""
    if not text:
        return ""
    return f" {by} gave this reason: {phrase(text)}." if by else f" Reason given: {phrase(text)}."


def file(path: str) -> str:
    """A file name in a sentence: unquoted if it is one plain word."""
    if _is_of(path, _PATH, PATH_LIMIT):
        return path
    shown = [char if _is_seen(char) else byte_of(char) or "�" for char in path[:PATH_LIMIT]]
    more = "…" if len(path) > PATH_LIMIT else ""
    return f"«{''.join(shown).translate(_MARKS)}{more}»"


def path_word(path: str) -> str:
    """A path as one shell word; PATH if it is unsafe."""
    is_plain = file(path) == path and path[:1] != "-" and not any(char in "*?[]!" for char in path)
    return path if is_plain else "PATH"


def thing(text: str) -> str:
    """The subject of an event: `#12`, `E-3f9a`, a status; unquoted if it is one word."""
    return f"#{file(text[1:])}" if text.startswith("#") else file(text)


def when(text: str) -> str:
    """A record's own time, which may be any text."""
    return text if 0 < len(text) <= LINE_LIMIT // 3 and not text.strip(_TIME) else "an unknown time"


def _is_of(text: str, others: str, limit: int) -> bool:
    """Whether a text is one word: ASCII letters and digits, and `others`."""
    return 0 < len(text) <= limit and all(
        char in others or (char.isascii() and char.isalnum()) for char in text
    )


def clean(text: str) -> str:
    """Text without control characters: no terminal escapes or hidden letters."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in "\n\t" else "�" for c in text)


def fence(text: str) -> str:
    """Text as a markdown code block, with a fence longer than any inside."""
    longest = run = 0
    for char in text if "```" in text else "":
        run = run + 1 if char == "`" else 0
        longest = max(longest, run)
    ticks = "`" * max(3, longest + 1)
    return f"{ticks}\n{text}\n{ticks}"


def visible(text: str) -> str:
    """Text with HTML comments made visible, which otherwise only programs see."""
    return clean(text).replace("<!--", "&lt;!--")


def indented(text: str) -> str:
    """Text as a markdown quotation, with nothing hidden."""
    return "\n".join(f"> {line}".rstrip() for line in visible(text).split("\n"))


def cut(text: str, limit: int, rest: str) -> str:
    """At most `limit` characters of a text, with a line that says where the rest is."""
    return text if len(text) <= limit else f"{text[:limit]}\n… ({rest})"
