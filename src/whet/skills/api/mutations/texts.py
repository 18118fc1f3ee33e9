"""Texts that programs stumble over."""

from whet.skills.api.contract.model import Json
from whet.skills.api.mutations.rules import NewValue, Rule, always, at_sites, one_of
from whet.skills.api.mutations.sites import Site

# A longer request line or header is cut off by servers before the service sees it.
_LONGEST_HEAD = 4_000


def _is_text(site: Site) -> bool:
    return site.allows("string") and site.kind != "binary" and not _is_choice(site)


def _is_choice(site: Site) -> bool:
    return "enum" in site.schema or "const" in site.schema


def _in_body(site: Site) -> bool:
    return site.place.where == "body"


def _long(length: int) -> NewValue:
    return lambda site, _: "A" * (length if _in_body(site) else min(length, _LONGEST_HEAD))


def _after(*endings: str) -> NewValue:
    """The value as it was, so that it gets as far as it did, and something at its end."""
    return lambda site, rng: (site.value if isinstance(site.value, str) else "a") + rng.choice(endings)


def _has_cases(site: Site) -> bool:
    return isinstance(site.value, str) and site.value.swapcase() != site.value


def _flipped(site: Site, _: Json) -> str:
    return str(site.value).swapcase()


def _spaced(site: Site, _: Json) -> str:
    return f" {site.value} "


def _rule(name: str, new: NewValue) -> Rule:
    return at_sites(name, _is_text, new)


TEXTS = (
    at_sites("empty-string", lambda site: _is_text(site) and site.place.where != "path", always("")),
    _rule("blank-string", one_of(" ", "   ", "\t", "\u00a0\u2003")),
    _rule("long-string", _long(10_000)),
    at_sites("very-long-string", lambda site: _is_text(site) and _in_body(site), _long(100_000)),
    _rule("nul-character", _after("\x00", "\x00x")),
    _rule("control-characters", _after("\x01\x08\x0b", "\x1b[31m", "\x7f\x85")),
    _rule("lone-surrogate", _after("\ud800", "\udfff", "\udc00\ud800")),
    _rule("emoji", _after("😀", "👩‍👩‍👧‍👦", "🏳️‍🌈🇩🇪")),
    _rule("right-to-left", one_of("\u202egnp.txt", "שלום עולם", "\u2066\u0627\u0644\u2069")),
    _rule("combining-marks", one_of("Z\u0351\u036b\u0343\u036a", "e\u0301" * 60, "\u0301")),
    _rule("case-folding", one_of("İstanbul", "ßẞſ", "ŉǰΐ", "K\u212bΩ")),
    _rule("full-width", one_of("１２３", "ａｄｍｉｎ", "＜ｂ＞＇")),
    _rule("line-breaks", _after("\r\nb", "\nb", "\u2028b", "\x85b")),
    _rule("sql-characters", one_of("'", "' OR '1'='1", '"; --', "1) OR (1=1", "\\'")),
    _rule("like-wildcards", one_of("%", "_%_", "*", "?*", "\\%")),
    _rule("format-string", one_of("%s%s%n", "%(a)s", "{0}{1}", "{a.__class__}", "%")),
    _rule("template-characters", one_of("{{7*7}}", "${7*7}", "<%= 7*7 %>", "#{7*7}", "{{", "{% raw")),
    _rule("markup", one_of("<script>alert(1)</script>", "<![CDATA[x", "&lt;&#0;", "<!--")),
    _rule("traversal", one_of("../../../../etc/passwd", "..\\..\\windows", "/etc/passwd", "....//x", "..", "a/../b")),
    _rule("encoded-slash", one_of("a/b", "a%2Fb", "a%252Fb", "%2e%2e%2f", "%00", "%zz", "a\\b")),
    _rule("shell-characters", one_of("$(true)", "`true`", "a;b|c&d", "a > b")),
    _rule("regex-characters", one_of("(((", "[a-", "*a", "(?P<a", "a{99999}", "(a+)+$")),
    _rule("json-in-text", one_of('{"a":', "[]", '{"$ref": "#"}', "null,", '"')),
    _rule("url-characters", one_of("a?b=c&d#e", "a;b=c", "//example.com", "http://", "javascript:1", "http://[::1")),
    _rule("odd-number", one_of("1e999", "0x1F", "-0", "١٢٣", "1_000", "+1", "1,5", "00012", "Infinity", "nan")),
    _rule("odd-word", one_of("null", "undefined", "None", "NaN", "true", "[object Object]", "nil")),
    _rule("reserved-word", one_of("con", "admin", "root", "new", "__init__", "select", "default", ".git", "me")),
    at_sites("case-changed", lambda site: _is_text(site) and _has_cases(site), _flipped),
    _rule("spaces-around", _spaced),
)
