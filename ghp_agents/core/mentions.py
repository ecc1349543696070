"""Makes mentions and bots' commands in a text harmless: GitHub and programs that read comments take
them for a request to start. Pure."""

import re
from collections.abc import Collection

BREAK = "\u200b"  # shows nothing; ends what GitHub and bots take for a name
# Agents and bots that start by a mention anywhere, also in code and comments, where they look for
# the bare text.
AGENTS = (
    "aider", "amazon-q", "anthropic", "augment", "blackbox", "bors", "bugbot", "claude", "codeant",
    "codegen", "coderabbit", "codex", "copilot", "cubic", "cursor", "dependabot", "devin", "droid",
    "ellipsis", "factory-droid", "gemini", "github-actions", "google-labs-jules", "goose",
    "greptile", "jules", "junie", "kilocode", "kodiak", "mergify", "openai", "opencode",
    "openhands", "pullfrog", "qodo", "qwen", "renovate", "roomote", "sourcery", "sweep", "windsurf",
)  # fmt: skip
COMMANDS = ("gemini", "oc", "opencode", "claude", "codex", "copilot", "cursor", "qwen", "q", "qodo")
_AT = r"(?:@|\uff20|&commat;|&#0*64;|&#x0*40;)"  # as GitHub shows it
_NAME = re.compile(rf"({_AT})(?=([A-Za-z0-9][\w.-]*(?:/[\w.-]+)?(?:\[bot\])?))", re.I)
_KNOWN = re.compile(rf"({_AT})(?=((?:{'|'.join(AGENTS)})[\w-]*(?:\[bot\])?))", re.I)
_SLASH = re.compile(r"(?m)^([ \t>*+-]*/)(?=[A-Za-z][\w-]*(?:[ \t:.,!?]|\r?$))")
_BOTS = re.compile(rf"(?m)((?:^|(?<=[\s>`(]))/)(?=(?:{'|'.join(COMMANDS)})\b(?!/))", re.I)
_WORDS = re.compile(r"(?im)^([ \t>]*)(bugbot|cursor)(?= (?:run|review)\b)")
_TRAILER = re.compile(r"[A-Za-z][A-Za-z-]+: [^<>]*<[^<>\s]+@[^<>\s]+>\s*$")
_MENTION = re.compile(
    rf"(?<![\w.+%-])@((?:{'|'.join(AGENTS)})[\w-]*+(?:\[bot\])?+)(?![/.]\w)", re.I
)
_COMMAND = re.compile(
    rf"\s*(?:/(?:{'|'.join(COMMANDS)})\b(?!/)|(?:bugbot|cursor) (?:run|review)\b)", re.I
)
_CODE = re.compile(
    r"(?ms)^([ >]*)(`{3,}|~{3,}).*?(?:^[ >]*\2[`~]*[ \t]*$|\Z)|(`+)(?!`)[^`\n]+\3(?!`)"
)


def harmless(text: str, allowed: Collection[str] = ()) -> str:
    """A text that mentions none but the accounts `allowed`, and commands no bot. In code only known
    agents' names are broken, so that decorators and packages can still be copied."""
    names = _names(allowed)
    parts, end = [], 0
    for code in _CODE.finditer(text):
        parts.append(_prose(text[end : code.start()], names))
        parts.append(_code(code[0], names))
        end = code.end()
    return "".join([*parts, _prose(text[end:], names)])


def in_quotations(text: str, allowed: Collection[str] = ()) -> str:
    """A person's text: harmless in what it quotes, else as it is."""
    lines = text.split("\n")
    return "\n".join(
        harmless(line, allowed) if line.lstrip().startswith(">") else line for line in lines
    )


def in_commit(text: str, allowed: Collection[str] = ()) -> str:
    """The message of a commit, harmless but for trailers with an address: they name authors."""
    lines = text.split("\n")
    return "\n".join(line if _TRAILER.match(line) else harmless(line, allowed) for line in lines)


def starts_agent(text: str, allowed: Collection[str] = ()) -> bool:
    """Whether the message of a commit mentions a known agent but those `allowed`, or commands a
    known bot at the start of a line. Addresses and packages (`@openai/codex`) are no mentions."""
    names = _names(allowed)
    lines = [line for line in text.split("\n") if not _TRAILER.match(line)]
    mentioned = (name[1].casefold() for line in lines for name in _MENTION.finditer(line))
    return any(name not in names for name in mentioned) or any(map(_COMMAND.match, lines))


def _names(allowed: Collection[str]) -> set[str]:
    return {name.removeprefix("@").casefold() for name in allowed}


def _prose(text: str, allowed: Collection[str]) -> str:
    def broken(match: re.Match[str]) -> str:
        is_address = match.start() > 0 and re.match(r"[A-Za-z0-9]", text[match.start() - 1])
        return match[0] if is_address else _broken(match, allowed)

    return _code(_SLASH.sub(rf"\1{BREAK}", _NAME.sub(broken, text)), allowed)


def _code(text: str, allowed: Collection[str]) -> str:
    text = _KNOWN.sub(lambda match: _broken(match, allowed), text)
    return _WORDS.sub(rf"\1\2{BREAK}", _BOTS.sub(rf"\1{BREAK}", text))


def _broken(match: re.Match[str], allowed: Collection[str]) -> str:
    name = match[2].rstrip(".").casefold()
    return match[1] if name in allowed else f"{match[1]}{BREAK}"
