"""Who is at the terminal, for the audit trail."""

import getpass
import os


def user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a user id without a name, as in many containers
        return f"uid {os.getuid()}"
