"""`python -P -m ghp_agents`: what hooks call, because it does not depend on PATH."""

import sys

if not sys.flags.safe_path:
    # Called without -P, Python looks for modules in the current folder first: in the project that
    # an agent works on, whose `json.py` is not the one that we mean.
    del sys.path[0]

from ghp_agents.cli.main import main

main()
