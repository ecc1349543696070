"""The text of an import statement, read: which module, which names, under which names.

The parser has found the statement, so its text is valid; anything else gives no import.
"""

import re
from collections.abc import Iterator

from ghp_agents.conflicts.syntax.facts import Import

LONGEST = 20_000  # characters of one statement
_NAME = r"[^\W\d][\w$]*"
_COMMENT = {
    "python": re.compile(r"#[^\n]*|\\\n"),
    "other": re.compile(r"//[^\n]*|/\*[^*]{0,2000}\*/"),
}
_AS = re.compile(rf"(?:type\s+)?({_NAME})(?:\s*(?:as\s|:)\s*({_NAME}))?")
_FROM = re.compile(r"from\s+([.\w]+|\.[.\s]*[.\w]*)\s+import\s+\(?(.*?)\)?\s*", re.DOTALL)
_JS = re.compile(r"import\s+(?:type\s+)?(.*?)\s*from\s*[\"']([^\"']*)[\"'].*", re.DOTALL)
_REQUIRED = re.compile(
    rf"(?:const|let|var)\s+(\{{[^{{}}=]{{0,2000}}\}}|{_NAME})\s*=\s*"
    r"require\(\s*[\"']([^\"'\n]{1,500})[\"']\s*\)(?![.\w(])"
)
_GO = re.compile(rf"(?:({_NAME}|\.|_)\s+)?[\"`]([^\"`]*)[\"`]")
_JAVA = re.compile(r"import\s+(?:static\s+)?([\w.]+?)\.([\w$]+|\*)\s*;")


def read(language: str, text: str) -> list[Import]:
    """The imports of one statement."""
    if len(text) > LONGEST:
        return []
    comments = _COMMENT["python" if language == "python" else "other"]
    readers = {"python": _python, "go": _go, "java": _java, "rust": _rust}
    return list(readers.get(language, _javascript)(comments.sub(" ", text).strip()))


def required(text: str) -> Iterator[Import]:
    """The `require(…)` calls of a JavaScript file that are bound to names."""
    for names, module in _REQUIRED.findall(text[:2_000_000]):
        if names.startswith("{"):
            yield from _named(module, names[1:-1])
        else:
            yield Import(module, "", names)


def _named(module: str, names: str) -> Iterator[Import]:
    for part in names.split(","):
        if part.strip() == "*":
            yield Import(module, "*", "")
        elif renamed := _AS.fullmatch(part.strip()):
            yield Import(module, renamed[1], renamed[2] or renamed[1])


def _python(text: str) -> Iterator[Import]:
    if imported := _FROM.fullmatch(text):
        yield from _named("".join(imported[1].split()), imported[2])
    elif text.startswith("import"):
        for part in text[len("import") :].split(","):
            module, _, alias = (word.strip() for word in part.partition(" as "))
            yield Import(module, "", alias or module)


def _javascript(text: str) -> Iterator[Import]:
    imported = _JS.fullmatch(text)
    if imported is None:
        return
    names, module = imported[1], imported[2]
    if star := re.search(rf"\*\s*as\s+({_NAME})", names):
        yield Import(module, "", star[1])
    if braces := re.search(r"\{([^}]*)\}", names):
        yield from _named(module, braces[1])
    if default := re.match(_NAME, names):
        yield Import(module, "default", default[0])


def _go(text: str) -> Iterator[Import]:
    if imported := _GO.fullmatch(text):
        last = imported[2].rpartition("/")[2]
        yield Import(imported[2], "*" if imported[1] == "." else "", imported[1] or last)


def _java(text: str) -> Iterator[Import]:
    if imported := _JAVA.fullmatch(text):
        yield Import(imported[1], imported[2], "" if imported[2] == "*" else imported[2])


def _rust(text: str) -> Iterator[Import]:
    imported = re.fullmatch(r"(?:pub(?:\([^)]*\))?\s+)?use\s+(.*?)\s*;?", text, re.DOTALL)
    if imported:
        yield from _rust_tree("", "".join(re.sub(r"\s+as\s+", "@", imported[1]).split()), 0)


def _rust_tree(prefix: str, text: str, depth: int) -> Iterator[Import]:
    head, brace, rest = text.partition("{")
    if depth > 9:
        return
    if brace:
        for part in _split(rest.removesuffix("}")):
            yield from _rust_tree(prefix + head, part, depth + 1)
        return
    path, _, alias = (prefix + head).partition("@")
    module, _, name = path.rpartition("::")
    if name == "self":
        module, _, name = module.rpartition("::")
    if name:
        yield Import(module, name, "" if name == "*" else alias or name)


def _split(text: str) -> list[str]:
    """The parts between commas that are in no braces."""
    parts, depth = [""], 0
    for sign in text:
        depth += (sign == "{") - (sign == "}")
        if sign == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += sign
    return [part for part in parts if part]
