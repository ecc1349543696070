"""The texts in the source that people and agents read: help, messages, errors and hints."""

import ast
import re
from collections.abc import Iterator

from tests.support.house import Source

MOST = 20  # words of a sentence
MOST_IN_GUIDES = 25
GENERATED = ("COMMANDS.md", "API.md", "settings.md", "bench.md", "knowledge-bench.md")
MESSAGES = {"say", "warn", "done", "Row"}  # functions whose arguments are read
KEYWORDS = {"help", "hint", "epilog", "description"}
SENTENCE = re.compile(r"[A-Z][^$|]*[a-z] [^$|]*\.")
_ONE_WORD = re.compile(r"`[^`]*`|\"[^\"]*\"|«[^»]*»|\([^()]*\)")
_END = re.compile(r"(?<=[.?!])\s+(?=[^a-z])|:\s+|\n\n")

# Words that say who did what only at second reading, and what to write instead.
CROOKED = {
    r"hears?|heard": "get, read, or be notified",
    r"go(?:es)? on": "continue",
    r"whoever|those who": "name the agents or people",
    r"(?:have|has) (?:no|a) past": "keep no history",
}
_CROOKED = re.compile(rf"\b(?:{'|'.join(CROOKED)})\b|[?!]\.(?!\.)", re.I)


def texts(source: Source) -> Iterator[tuple[int, str]]:
    """Each text with its line: a command's help, and literals that are arguments or sentences.
    What is computed is `X` in it."""
    arguments: set[ast.expr] = set()
    parts: set[ast.AST] = set()
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Call):
            arguments |= {keyword.value for keyword in node.keywords if keyword.arg in KEYWORDS}
            if _name(node.func) in MESSAGES or _name(node.func).endswith("Error"):
                arguments |= {*node.args}
        elif isinstance(node, ast.FunctionDef) and any(map(_is_command, node.decorator_list)):
            yield node.lineno, ast.get_docstring(node) or ""
        elif isinstance(node, ast.Expr | ast.JoinedStr):  # a docstring, or pieces of one text
            parts |= {*ast.iter_child_nodes(node)}
    for node in ast.walk(source.tree):
        if not isinstance(node, ast.expr) or node in parts:
            continue
        text = _literal(node)
        if text and (node in arguments or SENTENCE.fullmatch(text)):
            yield node.lineno, text


def _literal(node: ast.expr) -> str:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        pieces = [x.value if isinstance(x, ast.Constant) else "X" for x in node.values]
        return "".join(map(str, pieces))
    return ""


def _name(function: ast.expr) -> str:
    return getattr(function, "attr", "") or getattr(function, "id", "")


def _is_command(decorator: ast.expr) -> bool:
    return isinstance(decorator, ast.Call) and _name(decorator.func) in {"command", "group"}


def sentences(text: str) -> list[str]:
    """The sentences of a text. A command, a quotation or what is in brackets is one word."""
    plain = _ONE_WORD.sub("X", text)
    return [" ".join(part.split()) for part in _END.split(plain)]


def guide_sentences(page: str) -> Iterator[tuple[int, str]]:
    """The sentences of a page without its code, with their lines. A link is one word."""
    blank = re.sub(r"(?ms)^```.*?^```$", lambda code: "\n" * code[0].count("\n"), page)
    line = 1
    for part in re.split(r"(\n\s*\n|\n(?=\s*(?:[-*|#]|\d+\.) )| · |\|)", blank):
        plain = re.sub(r"\[[^]]*\]\([^)]*\)", "X", part)
        yield from ((line, sentence) for sentence in sentences(plain.replace("; ", ": ")))
        line += part.count("\n")


def long_guide_sentences(source: Source) -> Iterator[str]:
    if source.path.startswith("docs/design/") or source.path.endswith(GENERATED):
        return
    for line, sentence in guide_sentences(source.text):
        if len(sentence.split()) > MOST_IN_GUIDES:
            yield f"{source.at(line)} … {sentence}"


def long_sentences(source: Source) -> Iterator[str]:
    for line, text in texts(source):
        if any(len(sentence.split()) > MOST for sentence in sentences(text)):
            yield source.at(line)


def crooked_words(source: Source) -> Iterator[str]:
    for line, text in texts(source):
        if _CROOKED.search(_ONE_WORD.sub("X", text)):
            yield source.at(line)
