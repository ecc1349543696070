"""Others' text in Markdown: shown as it is, and nothing else."""

import pytest

from ghp_agents.reports.markdown import block, link, plain, table


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Parse the input, twice: 2.5 times (or more)!", None),
        ("a | b", r"a \| b"),
        ("one\ntwo\r\nthree", "one two three"),
        ("`code` and ```fence```", r"\`code\` and \`\`\`fence\`\`\`"),
        ("<script>alert(1)</script>", r"\<script\>alert(1)\</script\>"),
        ("<!-- hidden -->", r"\<!-- hidden --\>"),
        ("&lt;b&gt;", r"\&lt;b\&gt;"),
        ("@team, ada@example.org", "@&#8203;team, ada@&#8203;example.org"),
        ("Fixes #1, owner/name#2, GH-3", "Fixes #&#8203;1, owner/name#&#8203;2, GH&#8203;-3"),
        ("[x](http://x) https://x.org", r"\[x\](http:&#8203;//x) https:&#8203;//x.org"),
        ("www.example.org", "www&#8203;.example.org"),
        ("*b* _i_ ~~s~~ $m$ {x}", r"\*b\* \_i\_ \~\~s\~\~ \$m\$ \{x\}"),
        (r"a \| b \\", r"a \\\| b \\\\"),
        ("txt\u202egpj.\u2066x\u200b", "txt gpj. x"),
        ("\x1b]0;title\x07ends", "]0;title ends"),
    ],
)
def test_text_of_others_is_shown_as_it_is(text: str, shown: str | None) -> None:
    assert plain(text) == (text if shown is None else shown.replace("]0;", "\\]0;"))


def test_a_long_text_is_cut_and_a_secret_removed() -> None:
    assert plain("x " * 200) == "x " * 59 + "x…"
    secret = "ghp_" + "a1B2" * 9
    assert plain(f"Use {secret} here") == r"Use \[a GitHub token removed\] here"
    assert secret not in block(f"Use {secret}", 1_000, "ghp agent-log")


def test_a_block_has_a_fence_that_nothing_inside_ends() -> None:
    assert block("a\n```\n@team #1 <b>\u202e", 100, "show it") == (
        "````\na\n```\n@team #1 <b>�\n````"
    )
    assert block("abcdef", 3, "show it") == "```\nabc\n… (cut; see `show it`)\n```"


def test_a_table_is_bounded_and_counts_the_rest() -> None:
    head = ["| a | b |", "|---|---|", "| [0](a.md) | x |", "| [1](a.md) | x |", ""]

    def row(number: int) -> tuple[str, str]:
        return link(str(number), "a.md"), "x"

    assert table(("a", "b"), range(4), row, 2) == [*head, "… and 2 more.", ""]
    assert table(("a", "b"), range(2), row, 2) == head
    assert table(("a", "b"), [], row, 2) == ["None.", ""]


def test_rows_that_are_not_shown_are_not_made() -> None:
    rows: list[int] = []

    def row(number: int) -> tuple[str]:
        rows.append(number)
        return (str(number),)

    table(("a",), range(1_000_000), row, 3)
    assert rows == [0, 1, 2]
