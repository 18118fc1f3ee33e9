"""Secrets known by what stands before them: password=…, "secret": …, Authorization: …, Bearer …, ?token=…"""

import re
from collections.abc import Callable

# What is called so is a secret, whatever it looks like.
SURE = (
    r"passw(?:or)?d|passwort|kennwort|mot[-_ ]?de[-_ ]?passe|contrase[nñ]a|senha|wachtwoord"
    r"|pass(?:phrase|code)|pwd|pswd|(?<![a-z])(?:ssh|user)?pass(?=[\"'\s]*[:=])|secret|credentials?"
    r"|mnemonic|(?:seed|recovery)[-_ ]?phrase"
    r"|(?:auth|subscription|functions)[-_ ]key"
    r"|(?:api|access|private|secret|encryption|signing|account|shared|master|service|ssh|rsa|license|consumer|app)"
    r"[-_ ]?key"
    r"|sharedaccess(?:key|signature)"
    r"|(?:auth|access|refresh|bearer|api|id|csrf|xsrf|session|reset|invite|verification|device|bot|oauth|security)"
    r"[-_ ]?tokens?|session[-_ ]?id|jsessionid|phpsessid|sessid|connect\.sid|xsrf|csrf"
    r"|authorization(?=\\{0,7}[\"']|\s?=)"
    r"|(?<=[\"'])(?:set-)?cookie(?=\\{0,7}[\"'])"
)
# What is called so may be anything: it is a secret when it looks like one.
_LIKELY = r"tokens?|session|cookies?|jwt|(?<![a-z])(?:sid|sig|signature|nonce|auth|pw)(?![\w-])"
_NUMBERS = r"(?<![a-z])(?:otp|pin|cvv2?|cvc2?|ssn)(?:[-_ ]?(?:code|number))?(?![a-z])"
_LABEL = re.compile(
    rf"""(?<!\[)(?P<name>(?:(?P<sure>{SURE})|(?P<likely>{_LIKELY})|(?P<number>{_NUMBERS}))"""
    r"""(?P<rest>[\w-]{0,40}))(?P<between>\\{0,7}["'`]?\]?\s{0,3}(?:===?|!==?|=>|:=|[:=]|,(?=\s?b?\\?["']))\s{0,20}(?:[|>][+-]?\s*\n\s*)?"""
    r"""|>(?=[^\s<])|["']\s{1,3}value\s?=\s?|(?<=word)\s{1,3}(?=["']))""",
)
_OPTION = re.compile(
    rf"(?P<name>(?<![\w-])--?[\w-]{{0,30}}?(?:{SURE}|token|(?<=-)(?:pass|pw)(?![\w-]))[\w-]{{0,20}})"
    r"(?P<between>(?:[\"'],)? {1,4})(?![-=])",
)
_CONSTRUCTOR = r"[A-Z]\w{0,40}\((?:\w{1,40}=)?"  # SecretStr('…'): the repr of something that holds it
_VALUE = re.compile(
    rf"""(?P<open>(?:{_CONSTRUCTOR})?[bBrRfFuU]{{0,2}}(?P<quote>\"{{3}}|'{{3}}|\\+["']|["'`]))"""
    r"""|(?P<list>[\[({][^\])}\n]{0,500}[\])}]?)|(?P<plain>[^\s"'`]+(?:(?<=[=:,(\[])["'][^"'\n]*["'])?)"""
)
_INNER = {
    '"': re.compile(r'(?:[^"\\\n]|\\.)*+'),
    "'": re.compile(r"(?:[^'\\\n]|\\.)*+"),
    "`": re.compile(r"[^`\n]*+"),
}
_SHELL_WORD = re.compile(r"""(?:'[^'\n]*+'|"(?:[^"\\\n]|\\.)*+"|\\.|[^\s'"\\])++|['"][^\n]*+""")
# Before a label that stands alone on its line: what follows is the value, spaces and all.
_ENV_LINE = re.compile(r"(?:export |set |declare -x |-e |ENV )?[A-Z0-9_]*\Z")
_KEY_LINE = re.compile(r"(?:E\s)?[\s>|#+-]*[\w.-]*\Z")

# The end of a name that tells of something about the secret, not the secret.
_ABOUT = re.compile(
    r"(?:file|path|dir|url|uri|name|type|length|len|size|count|field|policy|expir\w*|ttl|timeout|seconds|enabled"
    r"|error|exception|warning|failure|required|short|long|found|invalid|missing|mismatch|denied|izer|ize|ized)s?\Z",
    re.IGNORECASE,
)
LITERALS = frozenset(
    ("none", "null", "nil", "true", "false", "undefined", "nan", "str", "int", "bytes", "bool", "dict", "list", "any")
)
# How a sentence about a secret goes on.
_SENTENCE = re.compile(
    r"""(?:string|text|object|any|type|required|must|should|may|can|cannot|is|was|are|were|has|have|had|not|no|too|missing"""
    r"""|invalid|incorrect|wrong|expired|expected|unexpected|got|field|value|passed|failed|errors?|skipped|xfail|xpass|ok"""
    r"""|empty|redacted|hidden|masked|the|an?|this|that|it|and|or|in|for|with|at|as|on|of|does|did|do|could|will|would|if"""
    r"""|while|please)(?=[.!:;,]?(?:\s|\Z))""",
    re.IGNORECASE,
)
_CLOSING_TAG = r"</(?=[A-Za-z][\w:.-]{0,60}>)"
_NOTHING = frozenset("*•.…x<>-_ \\/'\"[](){}")
MASKED = re.compile(r"\[(?:[a-z]+|private key|e-mail)\]")
# get_secret(name), os.environ["TOKEN"]: code that fetches it
_CALL = re.compile(r"""[A-Za-z_.]{3,}[(\[](?:["'][A-Za-z_]*["']?|[A-Za-z_., =*]*)[)\]]*\Z""")
_OBJECT = re.compile(r"<[^<>\n]*(?: at 0x| object| id=|[Mm]ock|class |function |Session)|</?\w*>?\Z")

_HEADER = re.compile(
    r"""(?P<name>(?:proxy-)?authorization|(?:set-)?cookie|x-(?:api-key|auth-(?:token|key)|functions-key|amz-security-token)|ocp-apim-subscription-key)"""
    r"""(?P<between>: {0,4})(?P<scheme>(?:basic|bearer|digest|token|apikey|negotiate) +)?(?=[^\s"'\\|>])""",
)
_SCHEME = re.compile(r"(?<![A-Za-z])(bearer|basic)([ \t]+|%20|\+)([A-Za-z0-9._~+/\\=-]{6,}+)", re.IGNORECASE)
_QUERY = re.compile(
    r"([?&;](?:[\w-]{0,20}[-_])?(?:token|key|sid|session|sig|signature|code|auth|password|pass|secret|jwt|hash|credential)"
    r"(?:[-_]?id)?=)([^\s&#;\"'<>]+)",
    re.IGNORECASE,
)
_LOGIN = re.compile(
    r"((?:\bcurl|(?<![\w:/.-])https?(?=[ \"']))\b[^\n]{0,300}?"
    r"[\s\"'](?:-[ua]|--user|--auth)(?:[\"'],)?[ =]?[\"']?[^\s:\"']{0,80}:)([^\s\"']+)"
)
_PAIR = re.compile(r"(\bauth\s?=\s?\()([^)\n]{1,200})\)")
_IDENTIFIED = re.compile(r"(\bidentified (?:with \w{1,40} )?by )('[^'\n]*'?|\"[^\"\n]*\"?)", re.IGNORECASE)


def labelled_masked(text: str) -> str:
    text = _each(text, _HEADER, _header_value)
    text = _each(text, _LABEL, _labelled_value)
    text = _each(text, _OPTION, _option_value)
    text = _SCHEME.sub(lambda found: found[1] + found[2] + _token_or(found[3]), text)
    text = _QUERY.sub(lambda found: found[1] + ("[token]" if telling(found[2]) else found[2]), text)
    text = _LOGIN.sub(r"\1[password]", text)
    text = _PAIR.sub(lambda found: found[0] if _CALL.match(found[2]) else found[1] + "[password])", text)
    return _IDENTIFIED.sub(r"\1[password]", text)


Span = tuple[int, int, str]  # from, to, what stands there then


def _each(text: str, label: re.Pattern[str], value: Callable[[str, re.Match[str]], Span | None]) -> str:
    """What follows each label replaced; a label inside of what was replaced is none.

    Labels are looked for in small letters: a pattern of either case takes five times as long.
    """
    small = text.replace("İ", "i").lower()  # the one letter whose small form is two
    parts, done, look = [], 0, 0
    while found := label.search(small, look):
        span = value(text, found)
        if span is None:
            look = max(found.end("name"), found.start() + 1)
            continue
        begin, end, word = span
        parts += [text[done:begin], word]
        done = look = max(end, begin)
    return "".join(parts) + text[done:]


def _header_value(text: str, found: re.Match[str]) -> Span | None:
    """To the end of the line, or to the quote that was opened before the name."""
    before = text[found.start() - 1 : found.start()]
    stop = re.compile(r"\n|\\r|\\n" + ("|" + before if before in ("'", '"') else ""))
    end = ends.start() if (ends := stop.search(text, found.end())) else len(text)
    value = text[found.end() : end]
    word = "[cookie]" if "cookie" in found["name"] else "[token]"
    return None if _SENTENCE.match(value) or value == word else (found.end(), end, word)


def _labelled_value(text: str, found: re.Match[str]) -> Span | None:
    if _ABOUT.search(found["rest"]) or ("," in found["between"] and not _in_pair(text, found)):
        return None
    value = _VALUE.match(text, found.end())
    if value is None:
        return None
    begin, end = _quoted(text, value) if value["quote"] else _unquoted(text, found, value)
    told = text[begin:end]
    return (begin, end, _word_for(found["name"])) if _is_secret(told, found, value) else None


def _is_secret(told: str, found: re.Match[str], value: re.Match[str]) -> bool:
    if MASKED.fullmatch(told) or not told.strip():
        return False
    if value["plain"] and found["between"].strip()[:2] in ("==", "!="):
        return False
    if found["number"]:
        return _is_number(told)
    return (bool(found["sure"]) or telling(told)) and not _harmless(told, found, value)


def _in_pair(text: str, found: re.Match[str]) -> bool:
    """("name", "value") is a header or a field; "name", "other" in a list are two names."""
    return re.search(r"\(b?\\*[\"'][\w.-]*\Z", text[max(0, found.start() - 60) : found.start()]) is not None


def _option_value(text: str, found: re.Match[str]) -> Span | None:
    word = _SHELL_WORD.match(text, found.end())
    told = word[0].rstrip(",)]}") if word and not MASKED.fullmatch(word[0].rstrip(",)]}") + "]") else ""
    return (found.end(), found.end() + len(told), _word_for(found["name"])) if told else None


def _quoted(text: str, value: re.Match[str]) -> tuple[int, int]:
    """Up to the same quote; to the end of the line where there is none."""
    quote, begin = value["quote"], value.end()
    if inner := _INNER.get(quote):
        closed = inner.match(text, begin)
        return begin, closed.end() if closed else begin
    line = text.find("\n", begin) if "\\" in quote else -1
    closes = re.compile(r"(?<!\\)" + re.escape(quote)).search(text, begin, line if line >= 0 else len(text))
    return begin, closes.start() if closes else (line if line >= 0 else len(text))


def _unquoted(text: str, found: re.Match[str], value: re.Match[str]) -> tuple[int, int]:
    begin = value.start()
    if not found["number"] and _fills_its_line(text, found):
        end = text.find("\n", begin)
        return begin, len(text) if end < 0 else end
    if value["list"]:
        return begin, value.end()
    in_query = re.search(r"[?&][\w.-]*\Z", text[max(0, found.start() - 60) : found.start()])
    ends = rf"{_CLOSING_TAG}|&" if in_query else _CLOSING_TAG
    return begin, begin + len(re.split(ends, value[0], maxsplit=1)[0].rstrip(",;)]}>\\"))


def _fills_its_line(text: str, found: re.Match[str]) -> bool:
    line = text.rfind("\n", 0, found.start()) + 1
    before = text[line : found.start()] if found.start() - line < 100 else "…"
    is_key = bool(found["sure"]) and re.fullmatch(r":[ \t]+|:[^\n]*\n\s*", found["between"])
    return bool((found["between"] == "=" and _ENV_LINE.match(before)) or (is_key and _KEY_LINE.match(before)))


def _harmless(told: str, found: re.Match[str], value: re.Match[str]) -> bool:
    """What is no secret though it is called one: nothing, a type, stars, a sentence, code that fetches it."""
    if value["quote"]:
        return told.lower() in LITERALS or set(told) <= _NOTHING
    first = re.split(r"[,;)\]}\s]", told, maxsplit=1)[0]
    if found["name"] == "pass" and re.match(r"[0-9]{1,3}\s*(?:[,;)\]}]|$)", told):  # pass: 3, fail: 0
        return True
    if first.lower() in LITERALS or set(told) <= _NOTHING or _OBJECT.match(told):
        return True
    if ":" in found["between"] and _SENTENCE.match(told):
        return True
    same = re.search(rf"(?:^|[._]){re.escape(found['name'])}\Z", first.lower())
    is_place = found["name"] in ("pwd", "oldpwd") and re.match(r"[/~]|[A-Z]:", first)
    return bool(same or is_place or _CALL.match(told) or told.startswith(("http://", "https://")))


def _is_number(told: str) -> bool:
    return re.fullmatch(r"[0-9][0-9 -]{1,10}[0-9]", told) is not None


def telling(told: str) -> bool:
    """Letters and digits together, or too long to be a word."""
    has_both = re.search(r"[0-9]", told) and re.search(r"[A-Za-z]", told)
    return len(told) >= 6 and not told.startswith(("http://", "https://", "<")) and bool(has_both or len(told) >= 20)


def _token_or(told: str) -> str:
    inside = re.search(r"[0-9=+/~]|[a-z][A-Z]|[A-Z][A-Z][a-z]", told)
    return "[token]" if inside or len(told) > 24 else told


def _word_for(name: str) -> str:
    small = name.lower()
    words = (("pass", "password"), ("pwd", "password"), ("cookie", "cookie"), ("key", "key"), ("secret", "secret"))
    return next((f"[{word}]" for sign, word in words if sign in small), "[token]")
