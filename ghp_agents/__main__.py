"""`python -m ghp_agents`: what hooks call, because it does not depend on PATH."""

from ghp_agents.cli.main import main

main()
