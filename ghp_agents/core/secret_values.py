"""Judges of values: whether a text in the place of a secret is one.

A name in code, a placeholder, a path, an address of a host or a word is none. What a machine drew
is known by its short runs of one kind of character: in words and names a run has three or more.
"""

import re
from urllib.parse import unquote

# `re` compiles each pattern when it is first used: most commands meet no value to judge.
# What people write where a value belongs, and keys that are made to be public.
PLACEHOLDER = (
    r"(?i)(?<![a-z0-9])x{3,}|x{6,}|\*{3,}|\.{3}|…|change_?-?me|example|placeholder|redacted|removed"
    r"|your[_-]|(?<![a-z0-9])my[_-]|dummy|todo|fixme|^(?:none|null|true|false|undefined|nil)\b|sample"
    r"|(?:Private|Public)Key|insert[_-]|replace[_-]?me|aws4_request"
    r"|^env[:.]|^vault:|^secret:|^ref\+|^op://|^aws-sm|^arn:|^projects/|^hash|^enc\["
    r"|^phc_|^pk_(?:live|test)_|^sb_publishable_|^0x[0-9a-f]{1,16}u?l*$|^[\w.-]{1,80}:[0-9]{1,5}(?:$|/)"
)
# Words, and the names of algorithms and versions with their digits.
_WORDS = (
    r"(?i)pass(?:w(?:or)?d|phrase)?|secret|token|test(?:ing)?|admin|user(?:name)?|foo|bar|baz|abc(?:d(?:ef)?)?"
    r"|demo|fake|mock|1234*5*6*7*8*9*0*|qwerty|letmein|word|login|root|api|key|value|string|default"
    r"|new|old|invalid|valid|wrong|correct|secure|access|auth|bearer|client|id|private|some|this"
    r"|base-?(?:16|32|58|62|64|85)|utf-?(?:8|16|32)|sha-?[0-9]{1,3}|md-?[45]|ipv?[46]|oauth2?|aes-?[0-9]{3}"
    r"|[ehpr]s(?:256|384|512)|(?:ed|x|curve)25519|pkcs-?[0-9]{1,2}|v[0-9]{1,2}(?![a-z0-9])"
)
_COMMON = (
    r"(?i)(?:(?:a|the|my|top|leak|user)[\s@._-]?)?(?:pass(?:word|wd|wrd)?|pwd?|secret|token|key|user(?:name)?|admin"
    r"|postgres|mysql|guest|root|test(?:ing)?|[^\W\d]{1,12}pass(?:word)?|s3cret|t0ken|qwerty|site|anon\w{0,9})\d{0,3}"
)  # fmt: skip
_CHOSEN = r"[A-Za-z]{3,20}[@#$%^&*_.!-]?[A-Za-z]{0,20}[@#$%^&*_.!-]?[0-9]{2,8}[!@#$%^&*?.]{0,3}"
_NAME = r"[A-Za-z_$][\w$]*(?:(?:\.|->|::|/)[A-Za-z_$][\w$]*)*[?!;,]?"
_SLUG = r"[A-Za-z][a-z]+[0-9]?(?:-[A-Za-z][a-z]+[0-9]?){2,}"
_DIGIT = "[0-9]"
CHANGES = r"[A-Za-z][0-9]|[0-9][A-Za-z]"
# Parts of names: a word, capitals, a number.
_RUN = r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[0-9]+"
_DRAWN = r"[\w+/.~%-]{20,}={0,2}|[A-Za-z0-9+/]{14,}={1,2}"
_CODED = r"[0-9a-f]{32,}|[0-9A-F]{32,}|[A-Z2-7]{26,}"  # hexadecimal, base32
LONGEST_RUN = 2.8  # characters on average; 99 of 100 names in code have more than 3, see tests


def is_value(value: str, *, lenient: bool = False, least: int = 8) -> bool:
    """Whether a text after a name like "password" is a secret: no placeholder, no name in code, no
    path, no word. `lenient` is for where only values stand, such as a file `.env`."""
    if not re.search(_DIGIT, value) and (value.isupper() if lenient else len(value) < 20):
        return False  # most places hold words
    elided, value = value, value.rstrip(".,;:!?)")
    if len(value) < least or len({*value}) < 4 or re.search(PLACEHOLDER, elided):
        return False
    if re.match(r"[a-z][a-z0-9+.-]{0,20}://|\.{0,2}/(?=[\w.-]{0,12}/|$)|[A-Za-z]:\\", value):
        return False
    if is_drawn(value):
        return True
    if re.fullmatch(_SLUG, value):
        return False
    if value[0] in "$%<{[(/~&@#" and not value.startswith(("$2", "$6", "$apr")):
        return value[0] not in "$%<{[(/~&" and _has_all(value)
    rest = re.sub(_WORDS, "", value)
    if not re.search(_DIGIT, rest) and (not lenient or value.isupper()):
        return False
    digits = sum(c.isdigit() for c in value)
    if not any(map(str.isalpha, value)):
        return lenient and digits >= 8 and len({*value}) > 5
    if re.fullmatch(_NAME, value):
        changes = len(re.findall(CHANGES, value))
        if lenient and "." not in value and "/" not in value:
            upper_name = value.upper() == value and "_" in value
            return not upper_name and (
                (digits > 0 and len(rest) >= 4) or (len(value) >= 12 and "_" not in value)
            )
        return changes >= (3 if "." in value else 2) and digits >= 2 and 6 <= len(rest) <= 24
    if not digits:
        kinds = any(c.isupper() for c in value) + any(c.islower() for c in value)
        return lenient and kinds == 2 and any(c in "!#%^&*+=~@" for c in value) and len(rest) >= 5
    return len(rest) >= 5


def is_drawn(value: str) -> bool:
    """Whether a machine seems to have drawn the value: 20 characters or more in short runs."""
    is_padded = value.endswith("=") and len(value) % 4 == 0  # base64
    if not re.fullmatch(_DRAWN, value) or re.search(PLACEHOLDER, value) or "://" in value:
        return False
    if re.fullmatch(_CODED, value):
        return len({*value}) > 6 and any(map(str.isdigit, value)) and not value.isdigit()
    runs = re.findall(_RUN, value)
    letters = sum(map(len, runs))
    is_mixed = value.lower() != value or bool(re.search(_DIGIT, value))
    return is_mixed and letters >= (12 if is_padded else 18) and letters <= LONGEST_RUN * len(runs)


def is_chosen(value: str) -> bool:
    """Whether a person would choose it as a password: a word or two, and then two digits or more,
    such as a year."""
    rest = re.sub(_WORDS, "", value)
    return (
        bool(re.fullmatch(_CHOSEN, value))
        and len(rest) >= 7
        and bool(re.search("[A-Za-z]{4}", rest))
        and not re.search(PLACEHOLDER, value)
    )


def is_lenient_value(value: str) -> bool:
    """`is_value` for where only values stand, of 6 characters or more."""
    return is_value(value, lenient=True, least=6)


def is_password(value: str) -> bool:
    """Whether the password in an address or a file of logins is more than a common example."""
    plain = unquote(value)
    return (
        len(plain) >= 6 and not re.search(PLACEHOLDER, plain) and not re.fullmatch(_COMMON, plain)
    )


def _has_all(value: str) -> bool:
    return any(map(str.isdigit, value)) and any(map(str.isalpha, value)) and len(value) >= 8
