"""The process that parses: `python -P -m ghp_agents.conflicts.syntax.child`.

Parsers are C code that reads others' files: a crash or an endless loop ends this process only.
Standard input is a line of JSON and then the files; each line of output has the facts of one file.
"""

import contextlib
import json
import resource
import signal
import sys

from ghp_agents.conflicts.syntax.facts import to_json
from ghp_agents.conflicts.syntax.trees import read_facts

MEMORY = 1 << 30  # bytes


def main() -> int:
    """Read one request and answer it, file by file."""
    request = json.loads(sys.stdin.buffer.readline())
    with contextlib.suppress(ValueError, OSError):  # some systems have no such limit
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGPROF, signal.SIG_DFL)  # ends the process, inside C code too
    # All is read before anything is printed: nobody reads our output while they write.
    sources = [(language, sys.stdin.buffer.read(size)) for language, size in request["files"]]
    for language, source in sources:
        signal.setitimer(signal.ITIMER_PROF, request["seconds"])
        facts = read_facts(language, source, request["names"])
        signal.setitimer(signal.ITIMER_PROF, 0)
        sys.stdout.buffer.write(json.dumps(to_json(facts)).encode() + b"\n")
        sys.stdout.buffer.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
