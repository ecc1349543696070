"""Secrets by the name before them: `password: …`, `"token": "…"`, `API_KEY=…`.

The names are found in one pass. Each place is then judged by patterns of bounded length.
"""

# ruff: noqa: E501 - a pattern that is cut into pieces cannot be read

import re
from collections.abc import Iterator

from ghp_agents.core.secret_values import is_chosen, is_drawn, is_value

# `re` compiles each pattern when it is first used: that takes longer than most commands' scans.
# Where a name may say that its value is secret; searched in the text in small letters.
_KEYS = (
    r"passw(?:or[dt]|d)|passphrase|pass|pwd|pw|psk|secret|token|key|credential|_auth|_pat(?![a-z])"
    r"|contraseña|mot de passe|senha|wachtwoord"
)
_TAIL = (
    r"(?i)(?:s|_?word)?(?:[_-]?(?:base|value|data|prod|dev|staging|live|main|id|key|enc|v?[0-9]{1,3}))"
    r"{0,2}(?![a-z])"
)
_KEY_OF = r"(?i:api|access|secret|private|account|signing|encryption|master|auth|app|storage|license|subscription)[_ -]?$"
_CONSTANT = r"[A-Z]_$"  # before KEY: it may name anything, such as a cache's entry
# Tokens that give no access: a page of a list, a request that is repeated, a piece of a text.
_HARMLESS = (
    r"(?i)(?:public(?:[_ -]?key)?|next|page|pagination|continuation|request|change|action|update|sync|output|input"
    r"|purchase|cursor|eos|bos|pad|sep|cls|mask|unk|special|stop|start|end)[_ -]?$"
    r"|::\w{0,30}$|:[0-9]{12}:$"  # the name of a type; an ARN
)
_WORD_BEGINS = r"(?:^|[^A-Za-z])$"
_CLOSED = r"(?:\\{0,3}[\"'`])?\]?[*_]{0,3}"
_IN_QUOTES = (
    _TAIL + _CLOSED + r"(?:"
    # `: str = `, `: &str = `, ` := `, ` => `, `, `, `("`
    r"\s{0,4}(?:(?::[ \t]{0,3}&?[\w.:\[\]]{1,24}[ \t]{0,3})?:?={1,3}>?|->|:|,|\()\s{0,4}"
    r"[bruf@$]{0,2}\\{0,3}[\"'`]([^\s\"'`\\]{8,400}+)\\{0,3}[\"'`]"
    r"|>([^\s<>\"']{6,200}+)</)"
)
_UNQUOTED = (
    _TAIL + r"(?:[\"'`*_]{0,4}[ \t]{0,20}(->|=>?|:)[ \t*]{0,20}(?:[|>][+-]?\s{0,3}\n\s{1,20})?"
    r"|(?:\s{1,3}(?:is|was|to|ist|lautet|es|est|[-–]))?\s{1,3})"
    r"[\"'`]?(?:[\w.@-]{1,40} / |base64:)?([^\s\"'`,;:=<>(){}\[\]|\\”»]{6,200}+=*)(?![\[({=:])"
)
# `name: DB_PASSWORD`, `value: …`; `type="password" name="p" value="…"`; `variable "token" { default = … }`
_PAIR = (
    _TAIL
    + r"\\{0,3}[\"'`]?[,;]?\s{0,20}\{?(?:\s{0,20}[\w-]{1,20}\s?[:=]\s?[\"']?[\w.-]{0,40}[\"']?,?){0,3}?"
    r"\s{0,20}\\{0,3}[\"']?(?:value|content|default)\\{0,3}[\"']?\s{0,3}[:=]\s{0,3}\\{0,3}[\"']?"
    r"([^\s\"'`,;<>(){}\[\]\\]{6,200}+)"
)
_PAIRED = "value|content|default"
_CELL = _TAIL + r"[*_`]{0,3}[ \t]{0,40}[|,][ \t*_`]{0,40}([^\s\"'`,|]{6,200}+)"
_CELL_BEFORE = r"(?:^|\n)[ \t]{0,20}(?:\|[ *_`\w]{0,20})?$"
# "Use … as the password", "… is our API key"
_VALUE_FIRST = (
    r"(?i)(?<!\S)[\"'`(]?([^\s\"'`()]{8,100})[\"'`)]?,?\s(?:is|as)\s(?:(?:the|my|our|your|a|an|new|current|root|admin|user"
    r"|database|db|staging|production|api|access|secret|private|master)[\s-]){1,4}$"
)
_SAID = r"(?i)\s(?:is|was|ist|lautet|es|est)\s"
_REST = r"[^\s\"'`,;<>(){}\[\]|\\”»]*"  # of a value that is longer
_NEAR = 120  # characters between a name and its value


def values(text: str, small: str) -> Iterator[tuple[int, int]]:
    """Where the values are that a name before them calls secret. `small` is the text in small
    letters."""
    end = paired = 0
    for key in re.finditer(_KEYS, small):
        if key.start() < end:
            continue
        near = text[max(0, key.start() - 14) : key.start()]
        is_weak = key[0] == "key" and not re.search(_KEY_OF, near)
        if is_weak and not re.search(_CONSTANT, near[-2:]):
            continue
        if key[0] in ("pass", "pw", "psk") and not re.search(_WORD_BEGINS, near[-1:]):
            continue
        if paired < key.end():
            pair = re.compile(_PAIRED).search(small, key.end())
            paired = pair.start() if pair else len(text) + _NEAR
        before = text[max(0, key.start() - 140) : key.start()]
        is_paired = paired < key.end() + _NEAR
        place = _place(text, key, before, is_weak=is_weak, is_paired=is_paired)
        if place and place[0] >= end and not re.search(_HARMLESS, before[-40:]):
            end = re.compile(_REST).match(text, place[1]).end()  # type: ignore[union-attr]
            yield place[0], end


def _place(
    text: str, key: re.Match[str], before: str, *, is_weak: bool, is_paired: bool
) -> tuple[int, int] | None:
    """Where the value of a name is, if it is a secret."""
    quoted = re.compile(_IN_QUOTES).match(text, key.end())
    if quoted:
        group = 1 if quoted[1] else 2
        value = quoted[group]
        is_secret = is_drawn(value) if is_weak else is_value(value)
        is_secret = is_secret or (_is_for_people(key) and is_chosen(value))
        return quoted.span(group) if is_secret else None
    bare = re.compile(_UNQUOTED).match(text, key.end())
    if bare and (bare[1] or key[0] != "pass" or before.endswith("-")):  # "pass x" is mostly a verb
        is_secret = (
            is_drawn(bare[2])
            if is_weak
            else _is_bare_secret(before, text[key.start() : key.end()], bare)
        )
        if is_secret:
            return bare.span(2)
        is_said = bare[1] or before.endswith("-") or re.search(_SAID, bare[0])
        if is_said and _is_for_people(key) and is_chosen(bare[2]):
            return bare.span(2)
    if is_weak or (bare and bare[1]):
        return None
    return _elsewhere(text, key, before, is_paired=is_paired)


def _is_for_people(key: re.Match[str]) -> bool:
    return key[0].startswith(("passw", "passphrase", "pwd", "pw"))


def _elsewhere(
    text: str, key: re.Match[str], before: str, *, is_paired: bool
) -> tuple[int, int] | None:
    """The place of a secret in a pair of a name and a value, in a cell of a table, or before."""
    if is_paired:
        pair = re.compile(_PAIR).match(text, key.end())
        if pair and is_value(pair[1]):
            return pair.span(1)
    cell = re.compile(_CELL).match(text, key.end())
    is_secret = cell and (is_value(cell[1]) or (_is_for_people(key) and is_chosen(cell[1])))
    if cell and is_secret and re.search(_CELL_BEFORE, before[-40:]):
        return cell.span(1)
    is_last = before.endswith((" ", "-")) and (" as " in before[-50:] or " is " in before[-50:])
    first = re.search(_VALUE_FIRST, before) if is_last else None
    if first and is_value(first[1]):
        start = key.start() - len(before)
        return start + first.start(1), start + first.end(1)
    return None


def _is_bare_secret(before: str, key: str, finding: re.Match[str]) -> bool:
    value = finding[2]
    is_variable = key.isupper() and (not before or not before[-1].islower())
    if is_variable and finding[1] and (finding[1] == "=" or any(map(str.isdigit, value))):
        return is_value(value, lenient=True, least=6)
    return is_value(value)
