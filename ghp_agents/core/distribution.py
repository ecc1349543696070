"""How this program was installed, and the pip arguments that install it from the same source.

pip records the source in `direct_url.json` (PyPA's "Recording the Direct URL Origin"). A package
from an index has no such record.
"""

import json
from urllib.parse import unquote, urlsplit

NAME = "ghp-agents"


def requirement(direct_url: str, version: str, extra: str) -> list[str]:
    """The arguments of `pip install` for this program with one of its extras.

    `direct_url` is the text of pip's record, empty if there is none. For a program that did not
    come from an index, the bare package name is never used: someone else may own it there.
    """
    named = f"{NAME}[{extra}]"
    if not direct_url.strip():
        return [f"{named}=={version}"]
    try:
        noted = json.loads(direct_url)
        url, vcs, folder = str(noted["url"]), noted.get("vcs_info"), noted.get("dir_info")
        if vcs is not None:
            return [f"{named} @ {vcs['vcs']}+{url}@{vcs['commit_id']}"]
        if folder is None:
            return [f"{named} @ {url}"]
        place = f"{unquote(urlsplit(url).path)}[{extra}]"
        return ["--editable", place] if folder.get("editable") else [place]
    except (ValueError, KeyError, TypeError, AttributeError):
        return [f".[{extra}]"]  # the current folder is a checkout
