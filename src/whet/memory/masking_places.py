"""Secrets known by where they stand, where no label stands right before them: command lines, .netrc, NAME_KEY=…, and
what pytest says a value came from."""

import re

from whet.memory.masking_labels import SURE, telling

_COMMAND = re.compile(
    r"((?<![\w/.-])(?:mysql(?:dump|admin)?|sshpass|redis-cli|(?:docker|podman) login)(?=[\s\"'])[^\n]{0,300}?"
    r"[\s\"']-[pa][ ,\"']{0,4})([^\s\"',-][^\s\"']*+)"
)
_NETRC = re.compile(r"(\blogin\s{1,4}\S{1,100}\s{1,4}password\s{1,4})(\S++)")
# Of names in capitals alone: what is called sort_key or primary_key in code is no secret.
_NAMED_KEY = re.compile(r"((?<![A-Za-z0-9_])[A-Z][A-Z0-9_]{0,60}_KEY=[\"']?)([^\s\"']++)")
_WHERE = re.compile(
    rf"where ('[^'\n]{{4,200}}'|\"[^\"\n]{{4,200}}\") = [^\n]{{0,200}}?[._](?:{SURE})\w{{0,20}}$",
    re.IGNORECASE | re.MULTILINE,
)


def placed_masked(text: str) -> str:
    text = _COMMAND.sub(r"\1[password]", text)
    text = _NETRC.sub(r"\1[password]", text)
    text = _NAMED_KEY.sub(lambda found: found[1] + ("[key]" if telling(found[2]) else found[2]), text)
    for value in {found[1] for found in _WHERE.finditer(text)}:  # pytest shows it above as well
        text = text.replace(value, f"{value[0]}[secret]{value[0]}")
    return text
