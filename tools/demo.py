"""Writes docs/demo.md and the picture docs/demo.svg from what the demo prints.

`python -m tools.demo`. Ids, hashes and times of a run are replaced by fixed ones.
`python -m tools.demo FILE` compares both with the output in a file, as `.ci/run` does.
"""

import hashlib
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path

from ghp_agents.demo.scenes import Part, styled

CHECKOUT = Path(__file__).parents[1]
PAGE, PICTURE = CHECKOUT / "docs/demo.md", CHECKOUT / "docs/demo.svg"
WIDTH = 100  # columns
END = "worker-4 is killed"  # of the picture
ID = re.compile(r"(?<=\bL-)[0-9a-f]{4}\b|(?<!E-)\b[0-9a-f]{12}\b")
FIXED = ((r"\d\d:\d\d UTC", "10:31 UTC"), (r"(?<=passed; )\d+ s", "20 s"))
TEXT = """# What the demo prints

`make demo`, or `ghp agent-demo` where it is installed. On a terminal it also shows a live table.
With `--checks` it prints each check with its figure.

![The first half of the story](demo.svg)

```text
{printed}```

`python -m tools.demo` writes this page and the picture; `.ci/run` compares both with a run.
"""
COLUMN, LINE, MARGIN, BAR = 8.4, 20, 18, 34  # pixels
SVG = """\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" role="img">
<title>ghp agent-demo</title>
<style>
svg {{ --back: #f6f8fa; --edge: #d0d7de; --text: #1f2328; --green: #1a7f37; --red: #cf222e;
  --yellow: #9a6700; --cyan: #0969da; --magenta: #8250df; --blue: #0550ae }}
@media (prefers-color-scheme: dark) {{ svg {{ --back: #161b22; --edge: #30363d; --text: #e6edf3;
  --green: #3fb950; --red: #ff7b72; --yellow: #e3b341; --cyan: #56d4dd; --magenta: #d2a8ff;
  --blue: #79c0ff }} }}
rect {{ fill: var(--back); stroke: var(--edge) }}
text {{ fill: var(--text); white-space: pre; font: 14px ui-monospace, SFMono-Regular, Menlo,
  Consolas, "DejaVu Sans Mono", "Liberation Mono", monospace }}
.bold {{ font-weight: 600 }}
{colours}
</style>
<rect x="0.5" y="0.5" width="{inner_width:g}" height="{inner_height:g}" rx="8"/>
{dots}
{lines}
</svg>
"""


def printed() -> str:
    """What a run of the demo prints."""
    command = [sys.executable, "-P", "-m", "ghp_agents", "agent-demo"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def fixed(text: str) -> str:
    """What a run printed, with fixed ids, hashes and times."""
    known: dict[str, str] = {}
    for found in ID.findall(text):
        digest = hashlib.sha256(str(len(known)).encode()).hexdigest()
        known.setdefault(found, digest[: len(found)])
    text = ID.sub(lambda found: known[found[0]], text)
    for pattern, shown in FIXED:
        text = re.sub(pattern, shown, text)
    return text


def page(text: str) -> str:
    """The page of documentation with this output."""
    above, story, below = text.split("\n\n")
    lines = "\n".join("".join(part for part, _ in parts) for parts in _lines(story))
    return TEXT.format(printed="\n\n".join((above, lines, below)))


def picture(text: str) -> str:
    """The scenes of this output up to the first merge, as a terminal in SVG."""
    story = text.split("\n\n")[1]
    lines = [[("$ ghp agent-demo", "bold")], *_lines(story[: story.index(END)])]
    width = 2 * MARGIN + WIDTH * COLUMN
    height = BAR + LINE * len(lines) + MARGIN
    dots = (
        f'<circle cx="{MARGIN + 4 + 18 * at}" cy="18" r="5.5" fill="var(--edge)"/>'
        for at in range(3)
    )
    colours = ("green", "red", "yellow", "cyan", "magenta", "blue")
    return SVG.format(
        width=width, height=height, inner_width=width - 1, inner_height=height - 1,
        colours="\n".join(f".{colour} {{ fill: var(--{colour}) }}" for colour in colours),
        dots="".join(dots), lines="\n".join(_drawn(at, parts) for at, parts in enumerate(lines)),
    )  # fmt: skip


def _lines(story: str) -> Iterator[Sequence[Part]]:
    for line in story.splitlines():
        yield from styled(line, WIDTH)


def _drawn(at: int, parts: Sequence[Part]) -> str:
    width = sum(len(text) for text, _ in parts) * COLUMN
    spans = "".join(
        f'<tspan class="{style}">{escape(text)}</tspan>' if style else escape(text)
        for text, style in parts
    )
    y = BAR + LINE * at + 14
    return f'<text x="{MARGIN}" y="{y}" textLength="{width:.1f}">{spans}</text>'


def contents(text: str) -> dict[Path, str]:
    """The page and the picture of what a run printed."""
    text = fixed(text)
    return {PAGE: page(text), PICTURE: picture(text)}


def outdated(text: str) -> list[str]:
    """The names of the files that do not show what a run printed."""
    shown = contents(text).items()
    return [path.name for path, content in shown if path.read_text(encoding="utf-8") != content]


def main(args: Sequence[str]) -> int:
    """Write the page and the picture; or compare them with a file, and return 1 if they differ."""
    if not args:
        for path, content in contents(printed()).items():
            path.write_text(content, encoding="utf-8")
        return 0
    names = outdated(Path(args[0]).read_text(encoding="utf-8"))
    if names:
        print(f"Error: not what the demo prints: {', '.join(names)}.", file=sys.stderr)
        print("Hint: run `python -m tools.demo` and commit the result.", file=sys.stderr)
    return int(bool(names))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
