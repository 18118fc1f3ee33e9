"""Secrets known by the phrase they stand in: arguments of a call, values of a statement, parts of a form. If there is a
label at all, it does not stand right before them."""

import re
from collections.abc import Callable

from whet.memory.masking_forms import Form
from whet.memory.masking_labels import MASKED, SURE, telling

_LINE_END = r"(?:\r?\n|\\r\\n|\\n)"
_QUOTE = r"""\\{0,3}["']?"""
_LOOKED_BACK = 4000
_PARAMETERS = re.compile(r"\[parameters: ([^\n]*+)")
_SECRET_COLUMN = re.compile(rf"(?:{SURE})", re.IGNORECASE)

# DB_PASSWORD and its value as two fields of one thing, as in Kubernetes' env
_NAMED_VALUE = (
    rf"(\bname{_QUOTE}\s?[:=]\s?{_QUOTE}[\w.-]{{0,60}}?(?:{SURE}|token)[\w.-]{{0,40}}{_QUOTE},?\s{{1,20}}"
    rf"{_QUOTE}value{_QUOTE}\s?[:=]\s?{_QUOTE})([^\s\"'\\]++)"
)
_FORM_PART = (
    rf"(\bname=\\?\"[\w.-]{{0,60}}?(?:{SURE}|token)[\w.-]{{0,40}}\\?\"[^\n\\]{{0,100}}{_LINE_END}"
    rf"(?:[\w-]{{1,40}}:[^\n\\]{{0,100}}{_LINE_END}){{0,3}}{_LINE_END})([^\r\n\\]++)"
)
_INSERTED = (
    rf"(\binsert\s{{1,4}}into\s{{1,4}}\S{{1,100}}\s{{0,4}}\([^)]{{0,300}}?(?:{SURE})[^)]{{0,300}}\)"
    r"\s{0,4}values\s{0,4}\()([^)\n]++)"
)
_SPOKEN = (
    r"((?:passw(?:or)?d|passphrase|passwort|kennwort|api key|secret|token) (?:is|was|ist|war):? [\"'`]?)"
    r"(?!(?:sha|md|hs|rs|es|ps|aes|utf|base|http|bcrypt|argon|pbkdf)-?[0-9])([^\s\"'`,;]{6,100}+)"
)
_SIGNED_WITH = r"(\b(?:hmac\.new\(|jwt\.(?:en|de)code\([^,\n]{1,100},)\s?b?[\"'])([^\"'\n]{4,}+)"
_LOGGED_IN = r"(\b\w{0,20}(?:Basic|Digest|Proxy)Auth\(\s?[\"'][^\"'\n]{0,80}[\"'],\s?[\"'])([^\"'\n]++)"
# host:port:database:user:password
_PGPASS = (
    r"(?m)^((?:\*|localhost|[\w-]{1,40}(?:\.[\w-]{1,40}){1,8}):(?:\*|[0-9]{4,5}):[\w*-]{1,60}:[\w*-]{1,60}:)(\S++)$"
)
_ORACLE = r"((?:\bjdbc:oracle:\w{2,5}:|\bsqlplus (?:-\w{1,10} ){0,3})[\w$#]{1,60}/)([^\s@\"']++)(?=@)"
_GO_SOURCE = r"((?<![\w/])[\w.-]{1,60}:)([^\s:@/\"']{1,100}+)(?=@(?:tcp|unix)\()"
_WIFI = r"(\bWIFI:(?:[STH]:[^;\n]{0,100};){0,4}P:)([^;\n]++)"
_REDIS = r"(\b(?:requirepass|masterauth) \\?[\"']?)([^\s\"'\\]++)"


def _word(word: str, *, told_by_form: bool = False) -> Callable[[re.Match[str]], str]:
    """`told_by_form`: only what looks like a secret is one."""

    def replaced(found: re.Match[str]) -> str:
        is_none = MASKED.match(found[2]) or (told_by_form and not telling(found[2]))
        return found[0] if is_none else found[1] + word

    return replaced


PHRASES = (
    Form(("value",), re.compile(_NAMED_VALUE, re.IGNORECASE), _word("[secret]")),
    Form(("name=",), re.compile(_FORM_PART, re.IGNORECASE), _word("[secret]")),
    Form(("values",), re.compile(_INSERTED, re.IGNORECASE), _word("[secret]")),
    Form((" is", " was", " ist", " war"), re.compile(_SPOKEN, re.IGNORECASE), _word("[secret]", told_by_form=True)),
    Form(("hmac.new(", "jwt."), re.compile(_SIGNED_WITH), _word("[key]")),
    Form(("auth(",), re.compile(_LOGGED_IN), _word("[password]")),
    Form((":",), re.compile(_PGPASS), _word("[password]", told_by_form=True)),
    Form(("oracle:", "sqlplus"), re.compile(_ORACLE), _word("[password]")),
    Form(("@tcp(", "@unix("), re.compile(_GO_SOURCE), _word("[password]")),
    Form(("wifi:",), re.compile(_WIFI), _word("[password]")),
    Form(("requirepass", "masterauth"), re.compile(_REDIS), _word("[password]", told_by_form=True)),
)


def parameters_masked(text: str) -> str:
    """What SQLAlchemy says a statement was given, where the statement names a column of secrets."""
    return _PARAMETERS.sub(_parameters_replaced, text) if "[parameters: " in text else text


def _parameters_replaced(found: re.Match[str]) -> str:
    text, end = found.string, found.start()
    begin = text.rfind("[SQL: ", max(0, end - _LOOKED_BACK), end)
    statement = text[begin:end] if begin >= 0 else ""
    return "[parameters: [secret]]" if _SECRET_COLUMN.search(statement) else found[0]
