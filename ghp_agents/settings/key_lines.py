"""The line of each key in a JSON file, for errors that name it. Pure."""

import json
import re

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]:,]|[^\s{}\[\]:,"]+')


def key_lines(text: str) -> dict[tuple[str, ...], int]:
    """The line of each key and each item in a JSON text, by its path."""
    lines: dict[tuple[str, ...], int] = {}
    path: list[str | int] = []  # the key of each open object, the index of each open list
    key_is_next = False
    line, counted = 1, 0
    for token in _TOKEN.finditer(text):
        word, here = token[0], tuple(map(str, path))
        line += text.count("\n", counted, token.start())
        counted = token.start()
        if word in "}]":
            path.pop()
        elif word == ",":
            key_is_next = isinstance(path[-1], str)
            path[-1] = path[-1] if isinstance(path[-1], str) else path[-1] + 1
        elif key_is_next and word.startswith('"'):
            path[-1], key_is_next = json.loads(word), False
            lines[tuple(map(str, path))] = line
        elif word != ":":
            lines.setdefault(here, line)
            if word in "{[":
                path.append("" if word == "{" else 0)
                key_is_next = word == "{"
    return lines
