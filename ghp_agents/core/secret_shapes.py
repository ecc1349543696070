"""The shapes of secrets: tokens by their prefix, and values by the name before them.

The facts (prefixes, alphabets, lengths) are those that the issuers document; public rule sets such
as that of gitleaks list the same. Each pattern takes linear time: what repeats is bounded or
possessive, and a long run is only entered at its beginning. The group of a pattern is the secret;
without a group the whole match is.
"""

# ruff: noqa: E501 - a pattern that is cut into pieces cannot be read

import base64
import binascii
import re
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import NamedTuple


class Shape(NamedTuple):
    """A kind of secret. Its pattern is only compiled and tried if one of the lower-case `signs`
    occurs, which saves nearly all of the time. `is_secret` judges what the pattern matched."""

    name: str
    signs: tuple[str, ...]
    pattern: str
    is_secret: Callable[[re.Match[str]], bool]


def _is_random(finding: re.Match[str]) -> bool:
    """Whether a token has the variety of a real one: `ghp_xxxx` is a placeholder."""
    value = finding[finding.re.groups]
    tail = value[-24:]
    if value.startswith("gh"):
        return True  # nothing else has its form
    return len({*tail}) > 1 and any(c.isdigit() or c.isupper() for c in value[4:])


def _always(_: re.Match[str]) -> bool:
    return True


# What people write where a value belongs.
_PLACEHOLDER = re.compile(
    r"(?i)x{3,}|\*{3,}|\.{3}|…|change_?-?me|example|placeholder|redacted|removed|your[_-]|my[_-]"
    r"|dummy|todo|fixme|^(?:none|null|true|false|undefined|nil)\b|sample|(?:Private|Public)Key|insert[_-]|replace[_-]?me"
    r"|^env[:.]|^vault:|^secret:|^ref\+|^op://|^aws-sm|^arn:|^projects/|^hash|^sha\d|^md5|^enc\["
)
_WORDS = re.compile(
    r"(?i)pass(?:w(?:or)?d|phrase)?|secret|token|test(?:ing)?|admin|user(?:name)?|foo|bar|baz|abc(?:d(?:ef)?)?"
    r"|demo|fake|mock|1234*5*6*7*8*9*0*|qwerty|letmein|word|login|root|api|key|value|string|default"
    r"|new|old|invalid|valid|wrong|correct|secure|access|auth|bearer|client|id|private|some|this"
)
_NAME = re.compile(r"[A-Za-z_$][\w$]*(?:(?:\.|->|::|/)[A-Za-z_$][\w$]*)*[?!;,]?")
_DIGIT = re.compile("[0-9]")
_CHANGES = re.compile(r"[A-Za-z][0-9]|[0-9][A-Za-z]")


def _is_value(value: str, *, lenient: bool, least: int = 6) -> bool:
    """Whether a text after a name like "password" is a secret: no placeholder, no name in code, no
    path, no word. `lenient` is for where only values stand, such as a file `.env`."""
    value = value.rstrip(".,;:!?)")
    if not _DIGIT.search(value) and (not lenient or value.isupper()):
        return False
    if len(value) < least or len({*value}) < 4 or _PLACEHOLDER.search(value):
        return False
    if value[0] in "$%<{[(/~&@#" and not value.startswith(("$2", "$6", "$apr")):
        return value[0] not in "$%<{[(/~&" and _has_all(value)
    if re.match(r"[a-z][a-z0-9+.-]{0,20}://|\.{0,2}/|[A-Za-z]:\\", value):
        return False
    digits = sum(c.isdigit() for c in value)
    letters = sum(c.isalpha() for c in value)
    if not letters:
        return lenient and digits >= 8 and len({*value}) > 5
    rest = _WORDS.sub("", value)
    if _NAME.fullmatch(value):
        changes = len(_CHANGES.findall(value))
        if lenient and "." not in value and "/" not in value:
            upper_name = value.upper() == value and "_" in value
            return not upper_name and (
                (digits > 0 and len(rest) >= 4) or (len(value) >= 12 and "_" not in value)
            )
        return _is_noise(value) or (changes >= 2 and digits >= 2 and 6 <= len(rest) <= 24)
    if not digits:
        kinds = any(c.isupper() for c in value) + any(c.islower() for c in value)
        return lenient and kinds == 2 and any(c in "!#%^&*+=~@" for c in value) and len(rest) >= 5
    return len(rest) >= 5


def _is_noise(value: str) -> bool:
    """Whether letters of both cases and digits change as often as in what a machine draws."""
    kinds = [(c.isdigit(), c.isupper()) for c in value if c.isalnum()]
    changes = sum(left != right for left, right in pairwise(kinds))
    return len(kinds) >= 20 and changes >= 0.35 * len(kinds) and any(map(str.isdigit, value))


def _has_all(value: str) -> bool:
    return any(map(str.isdigit, value)) and any(map(str.isalpha, value)) and len(value) >= 8


def _lenient(finding: re.Match[str]) -> bool:
    return _is_value(finding[finding.re.groups], lenient=True)


def _strict(finding: re.Match[str]) -> bool:
    return _is_value(finding[finding.re.groups], lenient=False, least=8)


def _quoted(finding: re.Match[str]) -> bool:
    """A value in quotes is no name in code, but it may be a word for people or programs."""
    value = finding[finding.re.groups]
    return _is_value(value, lenient=False, least=8)


def _credentials(finding: re.Match[str]) -> bool:
    value = finding[0][:-1].rpartition(":")[2]
    return not _PLACEHOLDER.search(value) and not re.fullmatch(
        r"(?i)(?:pass(?:word|wd|wrd)?|pwd?|secret|token|key|user(?:name)?|admin|postgres|mysql|guest"
        r"|root|test(?:ing)?|[^\W\d]{1,12}pass(?:word)?|s3cret|t0ken)\d{0,3}", value
    )  # fmt: skip


def _bot(finding: re.Match[str]) -> bool:
    """A bot's token begins with its account's number in base64."""
    head = finding[0].partition(".")[0]
    try:
        return base64.b64decode(head + "=" * (-len(head) % 4)).isdigit()
    except (binascii.Error, ValueError):
        return False


_AZ = "A-Za-z0-9"
# Tokens that their prefix makes known. One row: the kind, the signs, the pattern.
_TOKENS = (
    (
        "a GitHub token",
        "ghp_ gho_ ghu_ ghs_ ghr_ github_pat_",
        rf"(?:gh[pousr]_(?:[{_AZ}]{{36,}}|(?!agents\b)[{_AZ}_.-]{{36,}}[{_AZ}_-])|github_pat_[{_AZ}_]{{40,}})",
    ),
    ("a GitLab token", "glpat- glrt- gldt- glcbt- glptt- glft- glimt- glagent- glsoat- gloas- glffct-",
     r"gl(?:pat|rt|dt|cbt|ptt|ft|imt|agent|soat|oas|ffct)-[\w.-]{20,}"),
    ("an npm token", "npm_", rf"npm_[{_AZ}]{{36}}\b"),
    ("a PyPI token", "pypi-ag pypi-", r"pypi-[\w-]{50,}"),
    ("a package registry's token", "rubygems_ clojars_ oy2 cio dckr_ akcp cmvmd",
     rf"(?:rubygems_[a-f0-9]{{48}}|CLOJARS_[a-z0-9]{{60}}|oy2[a-z0-9]{{43}}|cio[{_AZ}]{{32}}|dckr_[po]at_[\w-]{{20,}}"
     rf"|AKCp[{_AZ}]{{69}}|cmVmd[{_AZ}]{{59}})(?![{_AZ}])"),
    ("an Anthropic key", "sk-ant-", r"sk-ant-[\w-]{24,}"),
    ("an OpenAI key", "sk-", rf"sk-(?=[\w-]{{0,80}}[0-9][\w-]{{0,40}}[0-9])[\w-]{{0,24}}(?:[{_AZ}]{{20}}|[\w-]{{40}})[\w-]*"),
    ("a model service's key", "hf_ api_org_ gsk_ xai- r8_ pplx- nvapi-",
     rf"(?:hf_[{_AZ}]{{30,}}|api_org_[{_AZ}]{{34}}|gsk_[{_AZ}]{{40,}}|xai-[{_AZ}]{{60,}}|r8_[{_AZ}]{{37}}"
     rf"|pplx-[{_AZ}]{{40,}}|nvapi-[\w-]{{50,}})"),
    ("a Google key", "aiza gocspx- ya29. 1//0", r"(?:AIza[\w-]{35}(?![\w-])|GOCSPX-[\w-]{28}|ya29\.[\w-]{30,}|1//0[\w-]{40,})"),
    ("an AWS key", "akia asia abia acca", rf"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{{16,20}}(?![{_AZ}])"),
    ("an Azure secret", "q~", r"[\w~.]{3}[0-9]Q~[\w~.-]{31,34}"),
    ("a cloud service's token", "ltai dop_v1_ doo_v1_ dor_v1_ hrku- fo1_ fm2_ v1.0- cfut_ cfat_ dapi pul- rnd_ nfp_ akid",
     rf"(?:LTAI[{_AZ}]{{16,24}}|do[opr]_v1_[a-f0-9]{{64}}|HRKU-[\w-]{{30,}}|fo1_[\w-]{{43}}|fm2_[{_AZ}+/=]{{100,}}"
     rf"|v1\.0-[a-f0-9]{{24}}-[a-f0-9]{{100,}}|cf[ua]t_[\w-]{{40,}}|dapi[a-f0-9]{{32}}|pul-[a-f0-9]{{40}}"
     rf"|rnd_[{_AZ}]{{32}}|nfp_[{_AZ}]{{36,}}|AKID[{_AZ}]{{32}})(?![{_AZ}])"),
    ("a Doppler token", "dp.", r"dp\.(?:pt|st|ct|sa|scim|audit)\.[\w.-]{40,}"),
    ("a Vault token", "hvs. hvb. hvr.", r"hv[sbr]\.[\w-]{20,}"),
    ("a login of Terraform", ".atlasv1.", rf"[{_AZ}]{{14}}\.atlasv1\.[\w-]{{60,}}"),
    ("a Stripe key", "k_live_ k_test_ whsec_", rf"(?:[rs]k_(?:live|test)_[{_AZ}]{{16,}}|whsec_[{_AZ}+/=]{{20,}})"),
    ("a shop's token", "sq0 shpat_ shpca_ shppa_ shpss_ shippo_", r"(?:sq0(?:atp|csp|idp)-[\w-]{22,}|shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}|shippo_(?:live|test)_[a-f0-9]{40})"),
    ("a Twilio key", "sk", r"SK[a-f0-9]{32}(?!\w)"),
    ("a mail service's key", "sg. key- -us xkeysib-",
     r"(?:SG\.[\w-]{16,32}\.[\w-]{16,64}|key-[a-f0-9]{32}(?!\w)|[a-f0-9]{32}-us[0-9]{1,2}\b|xkeysib-[a-f0-9]{64}-\w{16})"),
    ("a Slack token", "xox xapp-", rf"(?:xox[abeoprs][.-][{_AZ}.-]{{20,}}|xapp-[0-9]-[{_AZ}-]{{30,}})"),
    ("a webhook", "hooks.slack. webhooks/ webhook.office. hooks.zapier.",
     r"(?:hooks\.slack\.com/(?:services|workflows|triggers)/[\w/+-]{20,}|discord(?:app)?\.com/api/(?:v[0-9]{1,2}/)?webhooks/"
     r"[0-9]{15,}/[\w-]{40,}|webhook\.office\.com/webhookb2/[\w@/-]{80,}|hooks\.zapier\.com/hooks/catch/[\w/]{12,})"),
    ("a Telegram token", ":aa", r"[0-9]{8,10}:AA[\w-]{33}(?![\w-])"),
    ("an Atlassian token", "atatt3 atctt3 atbb", rf"(?:AT[AC]TT3[\w=-]{{50,}}|ATBB[{_AZ}]{{24,}})"),
    ("a work tracker's token", "lin_ ntn_ secret_ pat figd_ pmak-",
     rf"(?:lin_(?:api|oauth)_[{_AZ}]{{32,}}|ntn_[{_AZ}]{{40,}}|secret_[{_AZ}]{{43}}(?!\w)|pat[{_AZ}]{{14}}\.[a-f0-9]{{64}}|figd_[\w-]{{38,}}"
     r"|PMAK-[a-f0-9]{24}-[a-f0-9]{34})"),
    ("a monitoring token", "sntrys_ sntryu_ glsa_ glc_ nrak- dt0 sqp_ squ_ sqa_",
     rf"(?:sntry[su]_[{_AZ}+/=_-]{{40,}}|glsa_[{_AZ}]{{32}}_[a-f0-9]{{8}}|glc_[{_AZ}+/=]{{32,}}|NRAK-[A-Z0-9]{{27}}"
     r"|dt0[a-z][0-9]{2}\.[A-Z0-9]{24}\.[A-Z0-9]{64}|sq[pua]_[a-f0-9]{40})"),
    ("a service's token", "tskey- pat-na pat-eu sbp_ sb_secret_ pscale_ sgp_ bkua_ ccipat_ rdme_ cfpat- fio-u- ops_eyj p8e-",
     rf"(?:tskey-[{_AZ}-]{{20,}}|pat-(?:na|eu)[0-9]-[a-f0-9-]{{36}}|sbp_[a-f0-9]{{40}}|sb_secret_[\w-]{{20,}}|pscale_(?:tkn|pw|oauth)_[\w.-]{{32,}}"
     rf"|sgp_[\w]{{40,}}|bkua_[a-f0-9]{{40}}|CCIPAT_[\w]{{40,}}|rdme_[a-z0-9]{{70}}|CFPAT-[\w-]{{43}}|fio-u-[\w=-]{{64}}|ops_eyJ[{_AZ}+/=]{{200,}}|p8e-[a-z0-9]{{32}})"),
    ("a 1Password key", "a3-", r"A3-[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3}\b"),
    ("an identity of age", "age-secret-" "key-1", r"AGE-SECRET-KEY-1[A-Z0-9]{58}"),
)  # fmt: skip

_BEFORE = r"(?<![A-Za-z0-9])"
_SHAPES = (
    (
        "a private key",
        "private",
        r"-----BEGIN (?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY(?: BLOCK)?-----(?:"
        r"[^-]*+(?:-(?!----)[^-]*+)*-----END [A-Z0-9 ]{1,60}-----"
        r"|(?:(?:\\n|[\s>+|#*\"'])*+[A-Za-z0-9+/=]{16,}+)*)",
        _always,
    ),
    ("a private key", "private-lines:", r"Private-Lines: [0-9]{1,4}\s{1,2}(?:[A-Za-z0-9+/=]{16,100}\s{0,2}){1,200}", _always),
    (
        "a signed token",
        "eyj",
        r"(?<![A-Za-z0-9_-])(?=[A-Za-z0-9_-]{0,300}eyJ)[A-Za-z0-9_-]{18,}+\.eyJ[A-Za-z0-9_-]{10,}+"
        r"\.[A-Za-z0-9_-]{16,}+",
        _always,
    ),
    (
        "credentials in a header",
        "authorization",
        r"(?i:\bauthorization)[\"'`]?\s{0,3}[:=]\s{0,3}[\"'`]?(?i:basic|bearer|token|ssws|digest)\s{1,3}"
        r"((?=[A-Za-z+/_.~-]{0,200}[0-9=])[A-Za-z0-9+/=_.~-]{8,}+)",
        lambda finding: not _PLACEHOLDER.search(finding[1]) and len({*finding[1]}) > 3,
    ),
    (
        "a password for a machine",
        "login",
        r"\b(?:machine[\s>]{1,9}[^\s\"'`<>$]{1,255}|default)[\s>]{1,20}login[\s>]{1,9}"
        r"[^\s\"'`<>$]{1,255}[\s>]{1,20}password[\s>]{1,9}([^\s\"'`<>$\[…][^\s\"'`]{0,255})",
        _always,
    ),
    (
        "a password in an address",
        "://",
        r"\b[a-z][a-z0-9+.-]{1,20}://[^\s/:@'\"]{0,255}:[^\s/@'\"<{$]{6,255}@(?![/\s])",
        _credentials,
    ),
    (
        "a password in an address",
        "://",
        r"\bhttps?://([A-Za-z0-9_-]{20,255})(?::x-oauth-basic)?@",
        lambda finding: len(_CHANGES.findall(finding[1])) >= 2,
    ),
    (
        "a key in an address",
        "? &",
        r"(?i)[?&](?:access_token|auth_token|api_?key|client_secret|password|pass|pwd|secret|sig|signature|token"
        r"|x-amz-signature)=([^\s&#'\"<>${\[()]{6,2000}+)",
        lambda finding: _is_value(finding[1][:200], lenient=False, least=8) and (len(finding[1]) >= 8),
    ),
    ("a bot's token", ".", r"(?<![\w.-])[MNO][\w-]{23,27}\.[\w-]{6}\.[\w-]{27,38}(?![\w.-])", _bot),
    ("a Vault token", "s.", rf"(?<![\w.-])s\.([{_AZ}]{{24}})(?![\w.-])", _quoted),
    (
        "a hash of a password",
        "$2 $6$ $5$ $1$ $apr1$ $y$ $argon2",
        r"\$(?:2[abxy]\$[0-9]{2}\$[./A-Za-z0-9]{53}|(?:[156y]|apr1)\$[./A-Za-z0-9=$]{1,40}\$[./A-Za-z0-9]{22,120})",
        lambda finding: len({*finding[0]}) > 12,
    ),
    # `docker login`'s and npm's: `user:password` in base64.
    ("a stored login", "auth", r"(?:\"auth\"\s{0,4}:\s{0,4}\"|\b_auth\s{0,3}=\s{0,3}\"?)([A-Za-z0-9+/]{12,}={0,2})", _quoted),
    ("a private key", "-key-data", r"client-key-data\"?\s{0,4}:\s{0,4}\"?([A-Za-z0-9+/]{40,}+={0,2})", _always),
    ("a password or key", "private_key_id", r"private_key_id\\?\"\s{0,4}:\s{0,4}\\?\"([a-f0-9]{40})", _quoted),
    ("a password or key", "key", r"(?i)\b(?:shared)?(?:account|access)key=([A-Za-z0-9+/]{32,}={0,2})", _always),
    ("credentials in a header", "cookie", r"(?i)\bcookie:[^\n]{0,200}?\b[\w-]{0,20}(?:session|sid|token|auth)[\w-]{0,10}=([\w.%+/=-]{16,400}+)", _strict),
    # Options of programs.
    ("a password of a program", "curl wget", r"(?i)\b(?:curl|wget)\b[^\n]{0,200}?\s(?:-u|--user)[ =][\"']?[\w.@-]{1,60}:([^\s\"'`$<]{6,100}+)", _lenient),
    ("a password of a program", "mysql sshpass", r"\b(?:mysql\w{0,10}\b[^\n]{0,120}?\s-p|sshpass\s{1,3}-p\s{0,3})[\"']?([^\s\"'`$<]{6,100}+)", _lenient),
    ("a password of a program", "identified password", r"(?i)\b(?:identified(?:\s+with\s+\w{1,40})?\s+by|password)\s{1,3}'([^'\s]{6,100})'", _quoted),
    ("a password of a program", "setx", r"(?i)\bsetx\s{1,3}\w{1,60}\s{1,3}[\"']?([^\s\"']{16,200}+)", _strict),
    ("a password or key", "2fa totp otpauth", r"otpauth://[^\s\"']{1,200}[?&]secret=([A-Z2-7]{16,})", _always),
    # .pgpass: host:port:database:user:password
    ("a password for a machine", ":", r"(?m)^[\w.*-]{1,100}:(?:[0-9]{2,5}|\*):[\w.*-]{1,60}:[\w.*-]{1,60}:([^\s:]{6,100})$", _lenient),
)  # fmt: skip

# ------------------------------------------------- values by the name before them

# Where a name may say that its value is secret; searched in the text in small letters.
_KEYS = re.compile(
    r"passw(?:or[dt]|d)|passphrase|pass|pwd|pw|secret|token|key|credential|dsn|_auth"
)
_TAIL = (
    r"(?:s|_?word)?(?:[_-]?(?:base|value|data|prod|dev|staging|live|main|id|key|enc|v?[0-9]{1,3}))"
    r"{0,2}(?![a-z])"
)
_KEY_OF = re.compile(
    r"(?i:api|access|secret|private|account|signing|encryption|master|auth|app|storage|license)[_ -]?$"
    r"|[A-Z]_$"
)
_BEGINS = re.compile(r"(?:^|[^A-Za-z])$")  # what is before a whole word
_IN_QUOTES = re.compile(
    _TAIL
    + r"(?:\\?[\"'`])?\]?\s{0,4}(?:(?::?=>?|:|,)\s{0,4}[bru]?\\?[\"'`]([^\s\"'`\\]{8,400}+)\\?[\"'`]"
    r"|>([^\s<>\"']{6,200}+)</)",
    re.I,
)
_UNQUOTED = re.compile(
    _TAIL + r"(?:[\"'`]?[ \t]{0,20}(=|:)[ \t]{0,20}|(?:\s{1,3}(?:is|was|to|ist|lautet))?\s{1,3})"
    r"[\"'`]?(?:[\w.@-]{1,40} / |base64:)?([^\s\"'`,;:=<>(){}\[\]|\\”»]{6,200}+=*)(?![\[({=:])",
    re.I,
)
_REST = re.compile(r"[^\s\"'`,;<>(){}\[\]|\\”»]*")  # of a value that is longer


def values(text: str, small: str) -> Iterator[tuple[int, int]]:
    """Where the values are that a name before them calls secret. `small` is the text in small
    letters."""
    end = 0
    for key in _KEYS.finditer(small):
        if key.start() < end:
            continue
        before = text[max(0, key.start() - 40) : key.start()]
        if key[0] == "key" and not _KEY_OF.search(before):
            continue
        if key[0] in ("pass", "pw") and not _BEGINS.search(before):
            continue
        if before.endswith("::") or before[-7:].lower().rstrip("_- ").endswith("public"):
            continue
        quoted = _IN_QUOTES.match(text, key.end())
        if quoted:
            group = 1 if quoted[1] else 2
            is_secret = _is_value(quoted[group], lenient=False, least=8)
            place = quoted.span(group)
        else:
            bare = _UNQUOTED.match(text, key.end())
            if not bare or (key[0] == "pass" and not bare[1]):  # "pass x" is mostly a verb
                continue
            is_secret = _is_bare_secret(before, text[key.start() : key.end()], bare)
            place = bare.span(2)
        if is_secret:
            end = _REST.match(text, place[1]).end()  # type: ignore[union-attr]
            yield place[0], end


def _is_bare_secret(before: str, key: str, finding: re.Match[str]) -> bool:
    value = finding[2]
    is_variable = key.isupper() and (not before or not before[-1].islower())
    if is_variable and finding[1] and (finding[1] == "=" or any(map(str.isdigit, value))):
        return _is_value(value, lenient=True)
    return _is_value(value, lenient=False, least=8)


SHAPES = tuple(
    Shape(name, tuple(signs.split()), pattern, judge)
    for name, signs, pattern, judge in (
        *((name, signs, _BEFORE + pattern, _is_random) for name, signs, pattern in _TOKENS),
        *_SHAPES,
    )
)
