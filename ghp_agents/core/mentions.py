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


def starts_agent(text: str, allowed: Collection[str] = ()) -> bool:
    """Whether a text mentions a known agent but those `allowed`, or commands a known bot."""
    return _code(text, _names(allowed)) != text


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
