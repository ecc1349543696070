"""JSON files as people write them, for properties."""

import json
from typing import Any, NamedTuple

from hypothesis import strategies as st

COMMENTS = st.sampled_from(["", "", "", "/* c , } */", "// c ] {\n"])


@st.composite
def trivia(draw: st.DrawFn) -> str:
    """What may stand between two words of a file."""
    blanks = st.text(" \t\n", max_size=3)
    return draw(blanks) + draw(COMMENTS) + draw(blanks)


class Written(NamedTuple):
    """A file as somebody wrote it, and the places of its containers."""

    text: str
    containers: list[list[str | int]]


@st.composite
def written(draw: st.DrawFn, values: "st.SearchStrategy[Any]") -> Written:
    """A value in anybody's style: comments, blanks and trailing commas wherever they may be."""
    value = draw(values)
    containers: list[list[str | int]] = []

    def write(value: object, keys: list[str | int]) -> str:
        if isinstance(value, dict | list):
            containers.append(keys)
        if isinstance(value, dict):
            rows = [
                json.dumps(key) + draw(trivia()) + ":" + draw(trivia()) + write(item, [*keys, key])
                for key, item in value.items()
            ]
            return "{" + joined(rows) + "}"
        if isinstance(value, list):
            return "[" + joined([write(item, [*keys, n]) for n, item in enumerate(value)]) + "]"
        return json.dumps(value, ensure_ascii=draw(st.booleans()))

    def joined(rows: list[str]) -> str:
        body = ",".join(draw(trivia()) + row + draw(trivia()) for row in rows)
        trails = draw(st.booleans())
        return body + ("," if rows and trails else "") + draw(trivia())

    mark = draw(st.sampled_from(["", "\ufeff"]))
    text = mark + draw(trivia()) + write(value, []) + draw(trivia())
    if draw(st.booleans()):
        text = text.replace("\n", "\r\n")
    return Written(text, containers)
