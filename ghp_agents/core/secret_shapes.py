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
from collections.abc import Callable, Sequence
from typing import NamedTuple
from urllib.parse import unquote

from ghp_agents.core.secret_values import (
    CHANGES,
    PLACEHOLDER,
    is_drawn,
    is_lenient_value,
    is_password,
    is_value,
)

_AZ = "A-Za-z0-9"


class Shape(NamedTuple):
    """A kind of secret. Its pattern is only compiled and tried if one of the lower-case `signs`
    occurs, which saves nearly all of the time. `is_secret` judges what the pattern matched."""

    name: str
    signs: Sequence[str]
    pattern: str
    is_secret: Callable[[re.Match[str]], bool]


def _is_random(finding: re.Match[str]) -> bool:
    """Whether a token has the variety of a real one: `ghp_xxxx` is a placeholder."""
    value = finding[finding.re.groups]
    tail = value[-24:]
    if value.endswith("EXAMPLE"):
        return False  # AWS writes its examples so
    return len({*tail}) > 1 and any(c.isdigit() or c.isupper() for c in value[4:])


def _always(_: re.Match[str]) -> bool:
    return True


def _judged(judge: Callable[[str], bool]) -> Callable[[re.Match[str]], bool]:
    """A judge of what the last group of a pattern matched."""
    return lambda finding: judge(finding[finding.re.groups])


_LENIENT = _judged(is_lenient_value)
_STRICT = _judged(is_value)
_DRAWN = _judged(is_drawn)
_PASSWORD = _judged(is_password)


_KEY_FOLLOWS = re.compile(
    r"(?:\\{1,4}[nr]|[\s\"'`+>|#*,()b\\])*(?:[A-Za-z0-9+/=]{40}|(?=[A-Za-z+/]{0,40}[0-9])[A-Za-z0-9+/=]{16})"
)
_NO_KEY_FOLLOWS = re.compile(r"(?:\\{1,4}(?:\[rs\])?[nr]|\s)*(?:[\"'`<{$]|X{3}|\.{3}|…)")


def _is_key(finding: re.Match[str]) -> bool:
    """The line that begins a private key is a constant of code or a placeholder if a quote or dots
    follow, and no key."""
    begin = finding.string.index("-----", finding.start() + 5) + 5
    after = finding.string[begin : begin + 200]
    return bool(_KEY_FOLLOWS.match(after)) or not _NO_KEY_FOLLOWS.match(after)


def _is_login(finding: re.Match[str]) -> bool:
    """`user:password` in base64."""
    value = finding[finding.re.groups]
    try:
        return b":" in base64.b64decode(value + "=" * (-len(value) % 4))
    except (binascii.Error, ValueError):
        return False


def _is_github(finding: re.Match[str]) -> bool:
    """Nothing else has this form, unless a word ends so and a long name follows."""
    begin, value = finding.start(), finding[0]
    is_glued = begin > 0 and finding.string[begin - 1].isalnum()
    return not is_glued or value[4:40].isalnum() or is_drawn(value[4:])


def _is_openai(finding: re.Match[str]) -> bool:
    """Long classes of style sheets begin so, too, but consist of words."""
    value = finding[0][3:]
    runs = re.findall(rf"[{_AZ}]{{20,}}", value)
    return is_drawn(value) or any(re.search("[0-9]", run) for run in runs)


def _bot(finding: re.Match[str]) -> bool:
    """A bot's token begins with its account's number in base64."""
    head = finding[0].partition(".")[0]
    try:
        return base64.b64decode(head + "=" * (-len(head) % 4)).isdigit()
    except (binascii.Error, ValueError):
        return False


# Tokens that their prefix makes known. One row: the kind, the signs, the pattern.
_TOKENS = (
    ("a GitLab token", "glpat- glrt- gldt- glcbt- glptt- glft- glimt- glagent- glsoat- gloas- glffct-",
     r"gl(?:pat|rt|dt|cbt|ptt|ft|imt|agent|soat|oas|ffct)-[\w.-]{20,}"),
    ("an npm token", "npm_", rf"npm_[{_AZ}]{{36}}\b"),
    ("a PyPI token", "pypi-ag pypi-", r"pypi-[\w-]{50,}"),
    ("a package registry's token", "rubygems_ clojars_ oy2 cio dckr_ akcp cmvmd",
     rf"(?:rubygems_[a-f0-9]{{48}}|CLOJARS_[a-z0-9]{{60}}|oy2[a-z0-9]{{43}}|cio[{_AZ}]{{32}}|dckr_[po]at_[\w-]{{20,}}"
     rf"|AKCp[{_AZ}]{{69}}|cmVmd[{_AZ}]{{59}})(?![{_AZ}])"),
    ("an Anthropic key", "sk-ant-", r"sk-ant-[\w-]{24,}"),
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

# A token begins a word, or follows an escape: `\n`, `%3D`, the colour of a terminal.
_BEFORE = r"(?:(?<![A-Za-z0-9])|(?<=[\s\S]\\[nrtbfv0]|%[0-9A-Fa-f]{2}|[\[;0-9][0-9\[]m))"
_SHAPES = (
    (
        "a private key",
        "private",
        r"-----BEGIN (?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY(?: BLOCK)?-----(?:"
        r"[^-]*+(?:-(?!----)[^-]*+)*-----END [A-Z0-9 ]{1,60}-----"
        r"|(?:(?:\\n|[\s>+|#*\"'])*+[A-Za-z0-9+/=]{16,}+)*)",
        _is_key,
    ),
    ("a private key", "private-lines:", r"Private-Lines: [0-9]{1,4}\s{1,2}(?:[A-Za-z0-9+/=]{16,100}\s{0,2}){1,200}", _always),
    (
        "a signed token",
        "eyj",
        r"(?<![A-Za-z0-9_-])(?=[A-Za-z0-9_-]{0,300}eyJ)[A-Za-z0-9_-]{18,}+\.eyJ[A-Za-z0-9_-]{10,}+"
        r"\.[A-Za-z0-9_-]{16,}+",
        _always,
    ),
    ("an OpenAI key", "sk-", _BEFORE + r"sk-[\w-]{20,}+", _is_openai),
    ("a GitHub token", "ghp_ gho_ ghu_ ghs_ ghr_ github_pat_",
     rf"gh[pousr]_(?:[{_AZ}]{{36}}[\w.-]*(?<![.-])|(?!agents(?![{_AZ}]))[\w.-]{{36,}}[\w-])|github_pat_[\w.-]{{40,}}[\w-]", _is_github),
    # A token that was cut where a text became too long.
    ("the beginning of a token", "…", _BEFORE + r"(?:gh[pousr]_|github_pat_|gl(?:pat|rt|dt)-|sk[-_]|xox[abeoprs]-|A[KS]IA|AIza|npm_|pypi-|eyJ|hf_"
     r"|shpat_|dop_v1_|glsa_|hvs\.)(?=[\w.-]{0,40}[0-9])[\w.-]{10,}+…", _always),
    # A GitHub token whose line was wrapped.
    ("a GitHub token", "ghp_ gho_ ghu_ ghs_ ghr_", r"gh[pousr]_(?!agents)(?=[\w.-]{0,100}[0-9])[\w.-]{4,}+[ \t]{0,3}\n[ \t>+#*|]{0,12}"
     r"(?=[\w.-]{0,100}[0-9])[\w.-]{20,}", _always),
    (
        "credentials in a header",
        "authorization",
        r"(?i:\bauthorization)\\{0,3}[\"'`]?\]?\s{0,3}[:=]\s{0,3}f?\\{0,3}[\"'`]?(?i:basic|bearer|token|ssws|digest|apikey|key)\s{1,3}"
        r"((?=[A-Za-z+/_.~-]{0,200}[0-9=])[A-Za-z0-9+/=_.~-]{8,}+)",
        lambda finding: not re.search(PLACEHOLDER, finding[1]) and len({*finding[1]}) > 3,
    ),
    ("credentials in a header", "authorization bearer", rf"(?i:\bauthorization[\"']?\s{{0,3}}[:=]|\bbearer\b)\s{{0,3}}[\"']?([{_AZ}_.~+/-]{{20,2000}}+={{0,2}})", _DRAWN),
    ("credentials in a header", "basic", rf"(?i)\bbasic\s{{1,3}}([{_AZ}+/]{{12,2000}}+={{0,2}})(?!\w)", _is_login),
    (
        "a password for a machine",
        "login",
        r"\b(?:machine[\s>]{1,9}[^\s\"'`<>$]{1,255}|default)[\s>]{1,20}login[\s>]{1,9}"
        r"[^\s\"'`<>$]{1,255}[\s>]{1,20}(?:account[\s>]{1,9}\S{1,255}[\s>]{1,20})?password[\s>]{1,9}([^\s\"'`<>$\[{…][^\s\"'`]{0,255})",
        _PASSWORD,
    ),
    (
        "a password in an address",
        "://",
        r"\b[a-z][a-z0-9+.-]{1,20}://[^\s/:@'\"\[\]<>{}(),]{0,255}:(?![0-9]{1,5},)[^\s/@'\"<{$]{1,255}(?:@[^\s/@:'\"<{$]{1,100})?@(?![/\s])",
        lambda finding: is_password(finding[0][:-1].partition("://")[2].partition(":")[2]),
    ),
    (
        "a password in an address",
        "://",
        r"\bhttps?://([A-Za-z0-9_-]{20,255})(?::x-oauth-basic)?@",
        lambda finding: len(re.findall(CHANGES, finding[1])) >= 2,
    ),
    # Go's driver of MySQL, and Oracle's tools.
    ("a password in an address", "@tcp( @unix( @udp(", r"[\w.-]{1,60}:([^\s:@/'\"<{$]{6,100})@(?:tcp|unix|udp)\(", _PASSWORD),
    ("a password in an address", "sqlplus sqlldr expdp impdp :thin:", r"(?:\b(?:sqlplus|sqlldr|expdp|impdp)\s[^\n/]{0,60}|:thin:)\b[\w$#]{1,40}/([^\s/@'\"<{$]{6,100})@", _PASSWORD),
    (
        "a key in an address",
        "? &",
        r"(?i)[?&](?:access_token|auth_token|api_?key|client_secret|password|pass|pwd|secret|sig|signature|token"
        r"|x-amz-signature)=([^\s&#'\"`<>${\[()]{6,2000}+)",
        lambda finding: is_value(unquote(finding[1][:200]).partition(" ")[0]),
    ),
    ("a bot's token", ".", r"(?<![\w.-])[MNO][\w-]{23,27}\.[\w-]{6}\.[\w-]{27,38}(?![\w.-])", _bot),
    ("a Vault token", "s.", rf"(?<![\w.-])s\.([{_AZ}]{{24}})(?![\w.-])", _DRAWN),
    (
        "a hash of a password",
        "$2 $6$ $5$ $1$ $apr1$ $y$ $argon2 $scrypt $p$ $h$",
        r"\$(?:2[abxy]\$[0-9]{2}\$[./A-Za-z0-9+]{53}|(?:[156y]|apr1)\$[./A-Za-z0-9=$+]{1,60}\$[./A-Za-z0-9+]{22,120}"
        r"|(?:argon2(?:id|i|d)|scrypt)\$[a-z0-9=,$]{1,60}\$[A-Za-z0-9+/.=]{11,90}\$[A-Za-z0-9+/.=]{22,120}|[PH]\$[./A-Za-z0-9]{31}(?!\w))",
        lambda finding: len({*finding[0]}) > 12,
    ),
    ("a hash of a password", "pbkdf2 {sha} {ssha {smd5}", rf"(?i:pbkdf2[_:-]sha[0-9]{{1,3}}[$:][0-9]{{1,9}}[$:])[{_AZ}+/.=]{{8,90}}[$:][{_AZ}+/.=]{{22,120}}"
     rf"|\{{(?:SSHA|SHA|SMD5)[0-9]{{0,3}}\}}[{_AZ}+/]{{22,120}}={{0,2}}", lambda finding: len({*finding[0]}) > 18),
    # A line of /etc/shadow of old.
    ("a hash of a password", ":", r"(?m)^[a-z_][\w.-]{0,31}:([./A-Za-z0-9]{13}):[0-9]{4,5}:[0-9]*:", lambda finding: bool(re.search(CHANGES, finding[1]))),
    # `docker login`'s and npm's: `user:password` in base64.
    ("a stored login", "auth", r"(?:\\{0,3}\"auth\\{0,3}\"\s{0,4}:\s{0,4}\\{0,3}\"|\b_auth\s{0,3}=\s{0,3}\"?)([A-Za-z0-9+/]{12,}={0,2})", _is_login),
    ("a private key", "-key-data", r"client-key-data\"?\s{0,4}:\s{0,4}\"?([A-Za-z0-9+/]{40,}+={0,2})", _always),
    ("a password or key", "private_key_id", r"private_key_id\\?\"\s{0,4}:\s{0,4}\\?\"([a-f0-9]{40})", _STRICT),
    ("a password or key", "key", r"(?i)\b(?:shared)?(?:account|access)key=([A-Za-z0-9+/]{32,}={0,2})", _always),
    ("credentials in a header", "cookie", r"(?i)\bcookie:[^\n]{0,160}?(?:session|sid|token|auth)[\w-]{0,10}=([\w.%+/=-]{16,400}+)", _STRICT),
    # Options of programs.
    ("a password of a program", "curl wget", r"(?i)\b(?:curl|wget)\b[^\n]{0,200}?\s(?:-u|--user)[ =][\"']?[\w.@-]{1,60}:([^\s\"'`$<]{6,100}+)", _LENIENT),
    ("a password of a program", "mysql sshpass", r"\b(?:mysql\w{0,10}\b[^\n]{0,120}?\s-p|sshpass\s{1,3}-p\s{0,3})[\"']?([^\s\"'`$<]{6,100}+)", _LENIENT),
    ("a password of a program", " -p", r"\b(?:(?:docker|podman|nerdctl|skopeo|buildah|helm|oc|az|cf)\b[^\n|]{0,60}?\slogin\b|twine\s+upload\b|mongo\w{0,10}\b)[^\n|]{0,120}?"
     r"\s-p[ =][\"']?([^\s\"'`$<]{6,100}+)", _LENIENT),
    ("a password of a program", "redis-cli zip 7z ldap htpasswd smbclient", r"\b(?:redis-cli\b[^\n|]{0,100}?\s-a\s|(?:un)?zip\b[^\n|]{0,60}?\s-P\s|7z\w?\s+\w\s[^\n|]{0,60}?-p"
     r"|ldap\w{3,10}\b[^\n|]{0,120}?\s-w\s|htpasswd\s+-\w{0,6}b\w{0,6}\s+\S{1,100}\s+\S{1,60}\s+|smbclient\b[^\n|]{0,80}?\s-U\s?[\w\\/]{1,40}%)[\"']?([^\s\"'`$<]{6,100}+)", _LENIENT),
    ("a password of a program", "-stdin chpasswd with-token", r"\becho\s{1,3}(?:-n\s)?[\"']?(?:\w{1,32}:)?([^\s\"'`$<]{6,200}+)[\"']?\s{0,3}\|[^\n]{0,80}?(?:--?password-stdin|--with-token|chpasswd)", _LENIENT),
    ("a password of a program", "<<<", r"(?:--?password-stdin|--with-token)\s{0,3}<<<\s{0,3}[\"']?([^\s\"'`$<]{6,200}+)", _LENIENT),
    ("a password of a program", "identified password", r"(?i)\b(?:identified(?:\s+with\s+\w{1,40})?\s+by|password)\s{1,3}'([^'\s]{6,100})'", _STRICT),
    ("a password of a program", "setx", r"(?i)\bsetx\s{1,3}\w{1,60}\s{1,3}[\"']?([^\s\"']{16,200}+)", _STRICT),
    ("a password or key", "2fa totp otpauth", r"otpauth://[^\s\"']{1,200}[?&]secret=([A-Z2-7]{16,})", _always),
    # .pgpass: host:port:database:user:password
    ("a password for a machine", ":", r"(?m)^[\w.*-]{1,100}:(?:[0-9]{2,5}|\*):[\w.*-]{1,60}:[\w.*-]{1,60}:([^\s:]{6,100})$", _LENIENT),
)  # fmt: skip

SHAPES = [
    Shape(name, signs.split(), pattern, judge)
    for name, signs, pattern, judge in (
        *[(name, signs, _BEFORE + pattern, _is_random) for name, signs, pattern in _TOKENS],
        *_SHAPES,
    )
]
