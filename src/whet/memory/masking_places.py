"""Secrets known by where they stand, where no label stands right before them: command lines, .netrc, NAME_KEY=…, and
what pytest says a value came from."""

import re
from itertools import islice

from whet.memory.masking_labels import LITERALS, SURE, telling

_GIVEN = r"""("[^"\n]*+"|'[^'\n]*+'|[^\s"',-][^\s"']*+)"""
_BETWEEN = r"""(?:["'],)?[ ]{0,4}"""  # a list of arguments has a quote and a comma there
# Which option is the password differs: -p is redis's port, and mysql's -p with a space behind it asks for one.
_COMMANDS = tuple(
    re.compile(rf"""((?<![\w/.-]){program}(?=[\s"'])[^\n]{{0,300}}?[\s"']{option}){_GIVEN}""")
    for program, option in (
        (r"mysql(?:dump|admin)?", r"-p"),
        (r"(?:sshpass|(?:docker|podman) login)", rf"-p{_BETWEEN}"),
        (r"redis-cli", rf"-a{_BETWEEN}"),
        (r"mongo(?:sh|dump|restore|import|export)?", rf"-p{_BETWEEN}"),
        (r"ldap(?:search|modify|add|delete|passwd|whoami)", rf"-w{_BETWEEN}"),
        (r"(?:un)?zip", rf"-P{_BETWEEN}"),
    )
)
_NETRC = re.compile(r"((\bmachine\s{1,4}\S{1,100}\s{1,4})?\blogin\s{1,4}\S{1,100}\s{1,4}password\s{1,4})(\S++)")
# Of names in capitals alone: what is called sort_key or primary_key in code is no secret. Nor are keys to places.
_NAMED_KEY = re.compile(
    r"((?<![A-Za-z0-9_])(?!(?:[A-Z0-9]{1,30}_){0,3}(?:SORT|CACHE|PARTITION|PRIMARY|FOREIGN|OBJECT|S3|ROUTING|HASH|RANGE"
    r"|GROUP|INDEX|LOOKUP|UNIQUE|STORAGE|REDIS)_KEY=)[A-Z][A-Z0-9_]{0,60}_(?:KEY|PAT)=[\"']?)([^\s\"']++)"
)
_WHERE = re.compile(
    rf"where b?('[^'\n]{{4,200}}'|\"[^\"\n]{{4,200}}\") = [^\n]{{0,200}}?[._](?:{SURE})(?:\(\))?\r?$",
    re.IGNORECASE | re.MULTILINE,
)
_MOST_SOUGHT = 50  # values, in the rest of the text: each is one more way through it


def placed_masked(text: str) -> str:
    for command in _COMMANDS:
        text = command.sub(lambda found: found[1] + _password(found[2]), text)
    text = _NETRC.sub(lambda found: found[1] + ("[password]" if found[2] or telling(found[3]) else found[3]), text)
    text = _NAMED_KEY.sub(lambda found: found[1] + ("[key]" if telling(found[2]) else found[2]), text)
    return _shown_masked(text)


def _password(given: str) -> str:
    quote = given[0] if given[0] in "\"'" else ""
    return f"{quote}[password]{quote}"


def _shown_masked(text: str) -> str:
    """pytest shows a value above as well, where nothing says what it is."""
    values = dict.fromkeys(found[1] for found in _WHERE.finditer(text) if _is_secret(found[1]))
    text = _WHERE.sub(lambda found: found[0].replace(found[1], _hidden(found[1])), text)
    for value in islice(values, _MOST_SOUGHT):
        text = text.replace(value, _hidden(value))
    return text


def _hidden(value: str) -> str:
    return f"{value[0]}[secret]{value[0]}" if _is_secret(value) else value


def _is_secret(value: str) -> bool:
    return value[1:-1].lower() not in LITERALS
