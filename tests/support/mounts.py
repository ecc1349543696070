"""File systems for one process: read-only or small, and gone with it.

Permissions do not bind root, as whom continuous integration runs; a mount does. Who is not root
may mount in a user name space of their own, where the machine allows that.
"""

import os

# The beginning of a command whose mounts nobody else sees.
MOUNTING = ["unshare", "--mount"]
if os.geteuid() != 0:
    MOUNTING += ["--user", "--map-root-user"]
