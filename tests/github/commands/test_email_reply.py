"""Replies by e-mail, as GitHub posts them: the sender's words, and what the mail quotes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ghp_agents.github.commands.comment_lines import lines
from ghp_agents.github.commands.email_reply import bare, split

FOOTER = """\
—
Reply to this email directly, view it on GitHub
<https://github.com/acme/widgets/issues/1#issuecomment-7>, or unsubscribe
<https://github.com/notifications/unsubscribe-auth/AB>
.
You are receiving this because you were mentioned.Message ID:
***@***.***>
"""
OLD = f"*bob* left a comment (acme/widgets#1)\n<https://github.com/x>\n\nWhich one?\n\n{FOOTER}"
MARKED = "".join(f"> {line}".rstrip() + "\n" for line in OLD.split("\n"))


def parts(body: str) -> tuple[str, str] | None:
    """The own words and the quotation, without blank lines around them."""
    reply = split(lines(body))
    if reply is None:
        return None
    return "\n".join(line.text for line in reply.own).strip(), reply.quoted.strip()


@pytest.mark.parametrize(
    "body",
    [
        f"The first.\n\nOn Sun, Nov 22, 2026 at 10:24 AM bob ***@***.***> wrote:\n\n{MARKED}",
        f"The first.\r\n\r\nOn Sun, 22 Nov 2026, 10:24 bob, ***@***.***>\r\nwrote:\r\n\r\n{MARKED}",
        f"The first.\nOn Sunday, bob <notifications@github.com> wrote:\n{MARKED}",
        f"The first.\n\nOn Sun, 22 Nov 2026, at 10:24, bob wrote:\n{MARKED}",
        f"The first.\n\nAm So., 22. Nov. 2026 um 10:24 Uhr schrieb bob ***@***.***>:\n\n{MARKED}",
        f"The first.\n\nLe dim. 22 nov. 2026 à 10:24, bob ***@***.***> a\nécrit :\n\n{MARKED}",
        f"The first.\n\nSent from my iPhone\n\n> On 22 Nov, bob ***@***.***> wrote:\n> \n{MARKED}",
        f"The first.\n\nGet Outlook for iOS\n\n\nOn Sun, bob ***@***.***> wrote:\n\n\n{OLD}",
        "The first.\n\n________________________________\nFrom: bob ***@***.***>\nSent: Sunday\n"
        f"To: acme/widgets ***@***.***>\nSubject: Re: [acme/widgets] Blink (Issue #1)\n\n{OLD}",
        "The first.\n\n-----Ursprüngliche Nachricht-----\n**Von:** bob ***@***.***>\n"
        f"**Gesendet:** Sonntag\n**An:** acme ***@***.***>\n\n{OLD}",
        f"On Sun, bob ***@***.***> wrote:\n\n{MARKED}\nThe first.\n\n-- \nAda",  # below
    ],
)
def test_the_senders_words_are_told_from_the_old_mail(body: str) -> None:
    assert parts(body) == ("The first.", "Which one?")


@pytest.mark.parametrize(
    "body",
    [
        "",
        "The first.",
        "> Which one?\n\nThe first.",
        "Please note:\n\n> Which one?\n\nThe first.",
        "On Sunday bob wrote:\n\nThe first.",
        "From: here\nTo: there\nBy: train",
        "> On Sun, bob ***@***.***> wrote:\n>\n> > Which one?\n\nI agree.",
        "> The first.\n>\n> On Sun, bob ***@***.***> wrote:\n>\n> > Which one?\n\nI agree.",
        "```\nOn Sun, bob ***@***.***> wrote:\n```\n> Which one?",
    ],
)
def test_any_other_comment_is_no_reply_by_email(body: str) -> None:
    assert parts(body) is None


def test_a_reply_by_email_can_quote_nothing() -> None:
    assert parts("The first.\n\nOn Sun, bob ***@***.***> wrote:\n") == ("The first.", "")


def test_links_are_left_out_of_the_old_mail() -> None:
    assert bare("@ada <https://github.com/ada> [b](https://github.com/b)") == "@ada   [b "


@given(st.text("a:@*.> \n`-_—", max_size=300))
def test_whatever_is_sent_is_read_and_nothing_is_added(body: str) -> None:
    reply = split(lines(body))
    assert reply is None or {line.text for line in reply.own} <= {*body.split("\n"), ""}


@pytest.mark.parametrize(
    "body",
    [
        "-" * 60_000 + f"x\n\nOn Sunday, bob ***@***.***> wrote:\n\n{MARKED}",
        "Yes\n\nOn Sunday, bob ***@***.***> wrote:\n\nx" + "\n" * 60_000 + "y",
        "Yes\n\nOn Sunday, bob ***@***.***> wrote:\n\n" + "<https://" * 6_000,
        "Yes\n\nOn Sunday, bob ***@***.***> wrote:\n\nx left a comment" + " \n" * 30_000 + "y",
        "Yes ***@***.***:\n" * 3_500,
    ],
)
def test_what_a_stranger_sends_takes_no_hours(body: str) -> None:
    reply = split(lines(body))
    assert reply is not None
    assert len(bare(reply.quoted)) <= len(body)
