"""Personal data known by its form: addresses, cards, accounts, phone numbers."""

import re

from whet.memory.masking_forms import BEGIN, Form

_LOCAL = r"[\w.+%!#$&*?^~-]|(?<![\W_][bBrRuUfF])(?<=\w)'(?=\w)"
_DOMAIN = r"[\w-]++(?:\.[\w-]++)++"
_ADDRESS = rf"""(?:(?<=\\[nrt])|(?<![\\\w.+%!#$&*?^~-]))(?:{_LOCAL})++@(?:{_DOMAIN}|\[[0-9A-Fa-f:.IPv]{{2,50}}\])"""
_ADDRESS += r"(?:[\w.+%!#$&*?^~-]*+@[\w.-]++)*+"  # several that were written without a space between them
_QUOTED = rf"""\\{{0,7}}"[^"\\\n@]{{1,64}}\\{{0,7}}"@{_DOMAIN}"""
_ENCODED = rf"(?<![\w.+-])[\w.+-]++(?:%40|\\{{1,7}}u0040|&#(?:64|x40);){_DOMAIN}"
# Not between letters: of digests, one in three hundred has digits in a row that check like a card's.
_CARD = r"(?:(?<=\\[nrt])|(?<![0-9A-Za-z.]))(?:[3-6][0-9]|2[2-7])[0-9]{2}"
_CARD += r"(?:[0-9]{9,15}|(?:[ -][0-9]{4}){3}|[ -][0-9]{6}[ -][0-9]{4,5})(?![0-9A-Za-z]|\.[0-9])"
_ACCOUNT = rf"{BEGIN}[A-Z]{{2}}[0-9]{{2}}(?:(?:-[A-Z0-9]{{4}}){{2,7}}(?:-[A-Z0-9]{{1,3}})?|(?: ?[A-Z0-9]){{11,30}}+)"
_PHONE = (
    r"(?<![\w+.\-\n])(?<!^)\+[1-9](?:[ ./()-]{0,2}[0-9]){8,14}(?![0-9])"  # a line that begins with + is a diff's
    r"|(?<=tel:)\+?[0-9 ().-]{7,20}"
    r"|(?<![\w.])\([2-9][0-9]{2}\) ?[2-9][0-9]{2}[ .-][0-9]{4}(?![0-9])"
)
_LABELLED_PHONE = (
    r"(?i)((?:phone|mobile|telephone|(?<![a-z])fax|(?<![a-z])tel)(?:[-_ ]?(?:number|no))?[\\\"']{0,4}\s{0,4}[:=]\s{0,4}"
    r"[\\\"']{0,4})(\+?\(?[0-9](?:[ ./()-]{0,2}[0-9]){6,14})(?![0-9])"
)


def _address_replaced(found: re.Match[str]) -> str:
    last = found[0].rpartition(".")[2]
    is_address = found[0].endswith("]") or (len(last) >= 2 and not last[0].isdigit())
    return "[e-mail]" if is_address else found[0]


def _card_replaced(found: re.Match[str]) -> str:
    digits = [int(digit) for digit in found[0] if digit.isdigit()]
    doubled = (sum(divmod(2 * digit, 10)) for digit in digits[-2::-2])
    valid = (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0 and 13 <= len(digits) <= 19 and len(set(digits)) > 1
    return "[card]" if valid else found[0]


def _account_replaced(found: re.Match[str]) -> str:
    """The longest part, up to the end of a word, whose check digits are right (ISO 7064)."""
    for end in (*(place.end() for place in reversed(list(re.finditer(r"[A-Z0-9](?= )", found[0])))),):
        if _checks(found[0][:end]):
            return "[account]" + found[0][end:]
    return "[account]" if _checks(found[0]) else found[0]


def _checks(account: str) -> bool:
    compact = account.replace(" ", "").replace("-", "")
    turned = compact[4:] + compact[:4]
    return 15 <= len(compact) <= 34 and int("".join(str(int(sign, 36)) for sign in turned)) % 97 == 1


_ANY_DIGITS = tuple("0123456789")

PERSONAL = (
    Form(("@",), re.compile(rf"{_QUOTED}|{_ADDRESS}"), _address_replaced),
    Form(("%40", "u0040", "&#64;", "&#x40;"), re.compile(_ENCODED), _address_replaced),
    Form(("2", "3", "4", "5", "6"), re.compile(_CARD), _card_replaced),
    Form(_ANY_DIGITS, re.compile(_ACCOUNT), _account_replaced),
    Form(("+", "tel:", "("), re.compile(_PHONE), "[phone]"),
    Form(("phone", "mobile", "fax", "tel"), re.compile(_LABELLED_PHONE), r"\1[phone]"),
)
