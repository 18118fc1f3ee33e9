"""Secrets known by their form, wherever they stand."""

import re
from collections.abc import Callable
from typing import NamedTuple


class Form(NamedTuple):
    signs: tuple[str, ...]  # small letters; a text without any of them is not searched
    pattern: re.Pattern[str]
    replaced: Callable[[re.Match[str]], str] | str


# Where a word begins; behind an escaped line break or a terminal's colour a letter may stand before it.
BEGIN = r"(?:(?<![A-Za-z0-9])|(?<=\\[nrt])|(?<=[0-9]m))"

# Prefixes that nothing but a key has, so that they count inside of longer words too.
_DISTINCT = (
    r"gh[pousr]_\w{8}|github_pat_\w{8}|gl(?:pat|ptt|dt|rt|cbt|ft|soat|agent|oas|imt|ffct)-[\w-]{8}|glsa_\w{8}"
    r"|xox[abcdeoprs]-[\w-]{6}|xapp-[\w-]{6}|[sr]k_(?:live|test)_\w{6}|whsec_[\w+/=]{6}"
    r"|AIza[\w-]{16}|ya29\.[\w-]{6}|GOCSPX-[\w-]{6}|npm_\w{16}|pypi-[\w-]{16}|hf_[A-Za-z0-9]{16}"
    r"|SG\.[\w-]{8,64}\.[\w-]{8}|shp(?:at|ca|pa|ss)_\w{8}|do[opr]_v1_\w{8}|sq0[a-z]{3}-[\w-]{8}|hv[sbr]\.[\w-]{8}"
    r"|dapi[0-9a-f]{16}|lin_api_\w{8}|AGE-SECRET-KEY-1\w{8}|ATATT3x[\w=-]{8}|dp\.(?:pt|st|sa)\.\w{8}|PMAK-[\w-]{8}"
    r"|NRAK-\w{8}|dckr_[po]at_[\w-]{8}|fig[du]_[\w-]{16}|ntn_[A-Za-z0-9]{16}|pul-[0-9a-f]{40}|GR1348941[\w-]{8}"
    r"|rubygems_[0-9a-f]{16}|sntry[su]_[\w+/=-]{16}|EAACEdEose0cBA\w{8}|[A-Za-z0-9]{14}\.atlasv1\.[\w-]{16}"
    r"|secret_[A-Za-z0-9]{43}|sq[apu]_[0-9a-f]{40}|(?:AKIA|ASIA|AGPA|AIDA|AROA|ANPA|ANVA|AIPA)[A-Z0-9]{12}"
)
# Prefixes that are also the end or the beginning of ordinary words.
_LEADING = (
    r"sk-[A-Za-z0-9_-]{0,40}[0-9][\w-]{6}|sk-(?:proj|ant|or|svcacct)-[\w-]{6}|(?:SK|AC)[0-9a-f]{32}"
    r"|key-[0-9a-f]{32}|[0-9a-f]{32}-us[0-9]{1,2}|(?:bot)?[0-9]{8,10}:AA[\w-]{30}"
)
_SIGNS = (
    *("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "glptt-", "gldt-", "glrt-", "glcbt-", "glft-"),
    *("glsoat-", "glagent-", "gloas-", "glimt-", "glffct-", "glsa_", "xox", "xapp-", "k_live_", "k_test_", "whsec_"),
    *("aiza", "ya29.", "gocspx-", "npm_", "pypi-", "hf_", "sg.", "shpat_", "shpca_", "shppa_", "shpss_", "_v1_", "sq0"),
    *("hvs.", "hvb.", "hvr.", "dapi", "lin_api_", "age-secret", "atatt3x", "dp.", "pmak-", "nrak-", "akia", "asia"),
    *("agpa", "aida", "aroa", "anpa", "anva", "aipa", "dckr_", "figd_", "figu_", "ntn_", "pul-", "gr1348941"),
    *("rubygems_", "sntrys_", "sntryu_", "eaacedeose0cba", ".atlasv1.", "secret_", "sqa_", "sqp_", "squ_"),
)
# A body goes on over lines, quotes, escapes and what a diff or a shortened repr puts between them.
_KEY_BODY = (
    r"""(?:\\[nr][A-Za-z0-9+/=]*|[\s\\'"|>,.+-]|E(?=\s)|(?:Proc-Type|DEK-Info|Version|Comment):[^\n]*"""
    r"""|[A-Za-z0-9+/=]{16,}|(?<=\n)[A-Za-z0-9+/=]+(?=\s*(?:\n|\Z|\\|-)))"""
)
_PRIVATE_KEY = rf"-----BEGIN [A-Z0-9 ]{{0,40}}PRIVATE KEY[A-Z ]{{0,20}}-----{_KEY_BODY}*+"
_PRIVATE_KEY += r"(?:(?<=-----)END [A-Z0-9 ]{0,40}PRIVATE KEY[A-Z ]{0,20}-----)?"


def _private_key_replaced(found: re.Match[str]) -> str:
    """A heading that is only spoken of stays."""
    body = found[0].partition("KEY")[2]
    return "[private key]" if re.search(r"[A-Za-z0-9+/=]{6}", body.partition("-----END")[0]) else found[0]


def _address_replaced(found: re.Match[str]) -> str:
    """scheme://user:password@host: everything between the first colon and the last @, since either may be in it."""
    scheme, rest = found[1], found[2]
    login, at, host = rest.rpartition("@")
    user, colon, password = login.partition(":")
    if not at or (colon and re.match(r"[0-9]{1,5}(?:/|$)", password) and "/" in login):
        return found[0]
    if not colon:
        return f"{scheme}[token]@{host}" if len(user) >= 16 and not re.search(r"[/\[]", user) else found[0]
    return f"{scheme}{user}:[password]@{host}"


FORMS = (
    Form(("private key",), re.compile(_PRIVATE_KEY), _private_key_replaced),
    Form(("://",), re.compile(r"([A-Za-z][A-Za-z0-9+.-]{0,30}://)([^\s\"'<>]++)"), _address_replaced),
    Form(
        ("hooks.", "webhooks/"),
        re.compile(r"((?:hooks\.[\w.]{1,40}/(?:services|workflows|triggers)|/api/webhooks)/)[\w/-]{8,}+"),
        r"\1[token]",
    ),
    Form(("eyj",), re.compile(r"eyJ[\w-]{8,}+(?:\.[\w-]*+){0,4}"), "[token]"),
    Form(_SIGNS, re.compile(rf"(?:{_DISTINCT})[\w-]*+"), "[key]"),
    Form(("sk-", "sk", "ac", "key-", "-us", ":aa"), re.compile(rf"{BEGIN}(?:{_LEADING})[\w-]*+"), "[key]"),
)
