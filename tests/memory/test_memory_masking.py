"""Secrets planted where they are found in real output never survive; ordinary output stays as it is."""

import base64
import json
import random
import re
import shlex
import string
import time
from collections.abc import Callable
from urllib.parse import quote

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from whet.memory.masking import masked

WORD = string.ascii_letters + string.digits
URL_SAFE = WORD + "-_"


def letters(alphabet: str, least: int, most: int | None = None) -> st.SearchStrategy[str]:
    return st.text(alphabet, min_size=least, max_size=most or least)


# Six characters at least, one of them a digit: shorter ones might stand in the text around them.
PASSWORDS = st.tuples(
    letters(WORD, 1), letters(WORD + "!#$%^&*+-_.,:;@~?/|()[]{}<>=", 2, 20), letters(string.digits, 4)
).map("".join)
QUOTED_PASSWORDS = st.tuples(st.text(min_size=2, max_size=20), letters(string.digits, 4)).map("".join)
JWT = st.binary(min_size=20, max_size=60).map(
    lambda raw: ".".join(("eyJhbGciOiJIUzI1NiJ9", base64.urlsafe_b64encode(raw).decode().rstrip("="), "c2lnbmF0dXJl9"))
)


def is_number_after_all(text: str) -> bool:
    return text[0] in string.digits + "/"  # user:8080/… is a port


# What is known by its form alone, so that it may stand anywhere.
FORMS: dict[str, st.SearchStrategy[str]] = {
    "aws": letters(string.ascii_uppercase + "234567", 16).map("AKIA".__add__),
    "github": letters(WORD, 36).map("ghp_".__add__),
    "github fine-grained": letters(WORD + "_", 60, 82).map("github_pat_11".__add__),
    "gitlab": letters(URL_SAFE, 20).map("glpat-".__add__),
    "slack": st.tuples(letters(string.digits, 11), letters(WORD, 24)).map(lambda two: f"xoxb-{two[0]}-{two[1]}"),
    "stripe": letters(WORD, 24, 60).map("sk_live_".__add__),
    "openai": letters(WORD, 40, 48).map("sk-proj-".__add__),
    "anthropic": letters(URL_SAFE, 60, 90).map("sk-ant-api03-".__add__),
    "google": letters(URL_SAFE, 35).map("AIza".__add__),
    "npm": letters(WORD, 36).map("npm_".__add__),
    "docker": letters(WORD, 27).map("dckr_pat_".__add__),
    "figma": letters(WORD, 40).map("figd_".__add__),
    "pulumi": letters("0123456789abcdef", 40).map("pul-".__add__),
    "telegram": letters(WORD, 33).map("bot123456789:AA".__add__),
    "sonar": letters("0123456789abcdef", 40).map("sqp_".__add__),
    "terraform": letters(WORD, 60).map("abcdefghij1234.atlasv1.".__add__),
    "jwt": JWT,
    "e-mail": st.tuples(letters(WORD + "._+", 3, 12), letters(string.ascii_lowercase, 4, 12)).map(
        lambda two: f"{two[0]}@{two[1]}.com"
    ),
    "idn e-mail": letters("jürgenäößéñ", 4, 12).map(lambda name: f"{name}@münchen.example"),
    "quoted e-mail": letters(string.ascii_letters + " ", 3, 12).map(lambda name: f'"{name}"@example.org'),
}
ANYWHERE: list[Callable[[str], str]] = [
    lambda secret: secret,
    lambda secret: f"E   AssertionError: assert {secret!r} in ['a', 'b']",
    lambda secret: f"HOME=/root\nVALUE={secret}\nPATH=/usr/bin:/bin\n",
    lambda secret: f'  File "/srv/app.py", line 12, in send\n    send("{secret}", timeout=3)\nValueError: refused',
    lambda secret: json.dumps({"a": 1, "items": [{"value": secret}]}, indent=2),
    lambda secret: repr(json.dumps({"value": f"x {secret} y"})),
    lambda secret: f"\x1b[31m{secret}\x1b[0m failed",
    lambda secret: f"first line\\n{secret}\\nlast line",
    lambda secret: f"GET /things/{quote(secret, safe='@')}?page=2 HTTP/1.1",
    lambda secret: f"<li>{secret}</li>",
    lambda secret: f"rejected ({secret}).",
]

LABELS: tuple[str, ...] = (
    "password",
    "passwd",
    "DB_PASSWORD",
    "userPassword",
    "secret",
    "client_secret",
    "SECRET_KEY",
    "api_key",
)
LABELS += ("Passwort", "mot_de_passe")
LABELS += ("apiKey", "X-Api-Key", "access_token", "refreshToken", "AWS_SECRET_ACCESS_KEY", "passphrase", "sessionid")
UNQUOTED: list[Callable[[str, str], str]] = [
    lambda label, secret: f"{label.upper().replace('-', '_')}={secret}\nLANG=C\n",
    lambda label, secret: f"export {label.upper().replace('-', '_')}={secret}\n",
    lambda label, secret: f"connecting with {label}={secret} failed",
    lambda label, secret: f"config:\n  {label}: {secret}\n  other: 3\n",
    lambda label, secret: f"config:\n  {label}: |\n    {secret}\n  other: 3\n",
    lambda label, secret: f"config:\n  {label}: correct horse {secret}\n  other: 3\n",
    lambda label, secret: f"<{label}>{secret}</{label}>",
    lambda label, secret: f"run --{label} {secret} --verbose",
    lambda label, secret: f"run --{label}={secret} --verbose",
]
QUOTED: list[Callable[[str, str], str]] = [
    lambda label, secret: json.dumps({"user": "bob", label: secret, "n": 3}),
    lambda label, secret: json.dumps({"user": "bob", label: secret}, indent=4, ensure_ascii=False),
    lambda label, secret: json.dumps({"body": json.dumps({label: secret, "n": 3})}),
    lambda label, secret: repr({"user": "bob", label: secret, "n": 3}),
    lambda label, secret: repr([("user", "bob"), (label, secret)]),
    lambda label, secret: f"E   {label} = {secret!r}\nE   assert False",
    lambda label, secret: f"login({label.replace('-', '_')}={secret!r}, user='bob')",
    lambda label, secret: f"E  assert {label} == {secret!r}",
]


@pytest.mark.parametrize("name", FORMS)
@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_a_secret_known_by_its_form_survives_nowhere(name: str, data: st.DataObject) -> None:
    secret = data.draw(FORMS[name])
    for around in ANYWHERE:
        shown = masked(around(secret))
        assert secret not in shown
        assert secret[6:-4] not in shown, around(secret)


@pytest.mark.parametrize("label", LABELS)
@settings(max_examples=15, deadline=None)
@given(secret=PASSWORDS)
@example("a b,c;d1234".replace(" ", ","))
@example("hunter2222")
@example("None1234")
@example("0</A0000")
def test_a_secret_behind_a_label_survives_nowhere(label: str, secret: str) -> None:
    for around in (*UNQUOTED, *QUOTED):
        assert secret[-5:] not in masked(around(label, secret)), around(label, secret)


@pytest.mark.parametrize("label", LABELS)
@settings(max_examples=15, deadline=None)
@given(secret=QUOTED_PASSWORDS)
@example('"\'\\"1234')
@example("\n'x\"\\1234")
@example("\\\\\\1234")
def test_a_quoted_secret_may_be_made_of_anything(label: str, secret: str) -> None:
    for around in QUOTED:
        assert secret[-4:] not in masked(around(label, secret)), around(label, secret)


@settings(max_examples=50, deadline=None)
@given(st.sampled_from(("postgresql", "mysql+pymysql", "redis", "amqp", "https", "mongodb+srv")), PASSWORDS)
def test_a_password_in_an_address(scheme: str, password: str) -> None:
    if is_number_after_all(password):
        password = "p" + password
    for address in (f"{scheme}://bob:{password}@db.example:5432/shop", f"{scheme}://:{quote(password)}@host/0"):
        shown = masked(f"could not connect to {address} (attempt 2)")
        assert password[-5:] not in shown
        assert quote(password)[-5:] not in shown
        assert "attempt 2" in shown


@pytest.mark.parametrize("scheme", ["Bearer", "Basic", "Token", "bearer"])
@settings(max_examples=15, deadline=None)
@given(token=letters(WORD + "+/", 20, 60))
def test_headers(scheme: str, token: str) -> None:
    for line in (
        f"> Authorization: {scheme} {token}\n> Host: x",
        f"{{'Authorization': '{scheme} {token}', 'Host': 'x'}}",
        f'"authorization":"{scheme} {token}"',
        f"curl -H 'Authorization: {scheme} {token}' https://x/",
        f"b'Authorization: {scheme} {token}\\r\\nHost: x\\r\\n'",
        f"Cookie: theme=dark; sid={token}\nHost: x",
        f"Set-Cookie: sid={token}; Path=/; HttpOnly",
        f"{{'Set-Cookie': ['sid={token}; Path=/']}}",
        f"GET /a?page=2&session_id={token}&x=1",
        f"https://x/callback?code={token}",
        f"curl -u bob:{token} https://x/",
        f"requests.get(url, auth=('bob', '{token}'))",
    ):
        assert token not in masked(line), line


@pytest.mark.parametrize("kind", ["RSA PRIVATE KEY", "PRIVATE KEY", "OPENSSH PRIVATE KEY", "PGP PRIVATE KEY BLOCK"])
@pytest.mark.parametrize("lines", [1, 3, 25])
def test_private_keys_whole_cut_and_in_one_line(kind: str, lines: int) -> None:
    draw = random.Random(lines)
    body = [base64.b64encode(draw.randbytes(48)).decode() for _ in range(lines)]
    begin, end = f"-----BEGIN {kind}-----", f"-----END {kind}-----"
    whole = "\n".join((begin, *body, end))
    for text in (
        whole,
        whole.replace("\n", "\n    "),
        repr(whole),
        json.dumps({"k": whole}),
        "\n".join((begin, *body)),
    ):
        shown = masked(f"before it\n{text}\nafter it")
        assert not any(line[:8] in shown or line[-8:] in shown for line in body)
        assert "before it" in shown
        assert "after it" in shown


@pytest.mark.parametrize(
    "number",
    [
        *("2223003122003222", "2720 9900 0000 0007", "DE89-3704-0044-0532-0130-00"),
        *("4111111111111111", "4111 1111 1111 1111", "5500-0000-0000-0004", "378282246310005", "3782 822463 10005"),
        *("DE89370400440532013000", "DE89 3704 0044 0532 0130 00", "GB29 NWBK 6016 1331 9268 19", "NO93 8601 1117 947"),
        *("+49 30 1234567", "+1 (212) 555-0123", "+44 20 7946 0958", "(212) 555-0123"),
    ],
)
def test_numbers_of_people(number: str) -> None:
    shown = masked(f"charged {number} today")
    assert number[-4:] not in shown
    assert shown.startswith("charged [")
    assert shown.endswith(" today")


@pytest.mark.parametrize("alphabet", [WORD, URL_SAFE, WORD + "+/"])
def test_random_words_without_a_label_hardly_ever_survive(alphabet: str) -> None:
    draw = random.Random(5)
    words = ["".join(draw.choices(alphabet, k=40)) for _ in range(500)]
    survived = [word for word in words if word in masked(f"E  assert '{word}' is None")]
    assert len(survived) <= 10


ORDINARY = r"""
tests/billing/test_prices.py::TestPrices::test_total_of_cart[3-EUR-None] FAILED [ 12%]
E       assert 3 == 4
E        +  where 3 = len([<Order 1 at 0x7f3c2a1b4d90>, <Order 2>, 'x'])
E       AssertionError: expected call: mock(token=ANY, password=None)
E       KeyError: 'password'
E       TypeError: login() got an unexpected keyword argument 'password'
tests/auth/test_token.py:128: AssertionError
src/app/secrets.py:33: in load_secret
    token = os.environ["API_TOKEN"]
    user = login(password=password, token=self.token)
    secret = get_secret(name)
    password: str = field(default="")
E   TokenError: ('EOF in multi-line statement', (2, 0))
E   pydantic.ValidationError: 1 validation error for Login; password: field required
E   password: must be at least 8 characters
commit 9fceb02d0ae598e95dc970b74767f19372d61af8 (HEAD -> main)
sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
request id 123e4567-e89b-12d3-a456-426614174000 took 0.4111111111111111 seconds
max_tokens=4096 tokens: 128 session: <Session 3> cookies={} auth=None token_type: bearer
GET http://localhost:8080/users/@me?page=2&limit=50 HTTP/1.1 -> 404 in 12.3 ms
sqlite:////tmp/pytest-of-user/pytest-12/test_x0/whet.db postgresql+psycopg://localhost:5432/shop
2026-11-16T13:10:00.123456+00:00 1763298600123456789 port 55432, line 4096, 1234567890 items
    result = weights @ inputs.T + 3.0e+10
@pytest.mark.parametrize("name", ["a", "b"])
"import pytest\\n\\n@pytest.fixture\\ndef wallet():\\n    return 1"
@@ -1,4 +1,4 @@
-1234567890
+1234567891
numpy==2.4.6 manylinux_2_27_x86_64.manylinux_2_28_x86_64 lodash@4.17.21 cp311-cp311
test_getUserByIdReturns404WhenTheUserIsMissing_and_two_more_things
/usr/lib/python3.11/site-packages/sqlalchemy/orm/session.py:4352: in _flush
Basic authentication is required; Bearer token missing; basic configuration
'-----BEGIN PRIVATE KEY-----' was expected, got b''
PWD=/home/user OLDPWD=/tmp PASSED FAILED test_password_reset: PASSED
# tests 15, pass: 12, fail: 3
pytest tests/mysql -p no:cacheprovider; docker run -p 8080:80 mysql; mysql -p -h db
SORT_KEY=name CACHE_KEY=users E    +  where 'abcd' = User(id=1).name
pytest -k mysql -p no:cacheprovider; nox -s mysql -p 3.12; mysql was not found -an error; redis-cli -p 6379 ping
the login page password reset works; CACHE_KEY=user:123:profile S3_KEY=path/to/file2.csv APP_PARTITION_KEY=id_2024
E    +  where 'None' = user.password
E    +  where 'Your word' = form.password_label
pass: 3, fail: 0
pass=12, fail=3
e5f0f061b095daef224a12b513c653b966df5c58922040424950fd3bf5a1722e
E   [SQL: SELECT name FROM users WHERE id = ?]
E   [parameters: (4711, 'bob2024')]
INSERT INTO carts (id, owner) VALUES (4711, 'bob2024')
the token is expired; the password is required; its secret was bcrypt-hashed; the token is sha256-based
name: retries\n  value: abc12345
test_ids[256-512-1024] test_ids[100-10-1000] 12:34:56:78:90:ab 10.0.0.1:5432 app.py:1234:error
class BasicAuth(AuthBase): authkey=key http://localhost --auth bearer:env:TOKEN --passed-at HEAD~1 --bypass x12345
curl -s http://localhost:8000/users -a; https works; zip -r out2024.zip . ; mongo -h db shop2024
AB12-CDEF-0123 DE89ABCD-0044-4532-8130-00426614AB17 secret_santa_list pul-01234
"""


def test_ordinary_output_stays_as_it_is() -> None:
    for line in ORDINARY.splitlines():
        assert masked(line) == line
    assert masked(ORDINARY) == ORDINARY


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_masking_again_changes_nothing(data: st.DataObject) -> None:
    secret = data.draw(st.one_of(*FORMS.values(), PASSWORDS, QUOTED_PASSWORDS))
    label = data.draw(st.sampled_from(LABELS))
    parts = [around(secret) for around in ANYWHERE] + [around(label, secret) for around in (*UNQUOTED, *QUOTED)]
    text = "".join(data.draw(st.lists(st.sampled_from(parts) | st.text(max_size=20), max_size=4)))
    assert masked(masked(text)) == masked(text)


@settings(max_examples=150, deadline=None)
@given(
    st.lists(
        st.sampled_from(["password", "=", ": ", '"', "'", "\\", "[token]", "a1b2c3d4", " ", "\n", "@", "://", ","])
    )
)
def test_masking_again_changes_nothing_of_fragments(fragments: list[str]) -> None:
    text = "".join(fragments)
    assert masked(masked(text)) == masked(text)


HOSTILE = (
    *("a", "1", "@", "a@", "a.", '"', "\\", "password", "password=", "password:'", 'token="', "://", "a://b:", "x@y."),
    *("eyJ", "eyJa.", "-----BEGIN PRIVATE KEY-----", "-----BEGIN PRIVATE KEY-----\nA", "4", "41 ", "DE89", "DE89 "),
    *("+1 ", "curl -u ", "auth=(", "Authorization: ", "Cookie:", "bearer ", "?token=", "sk-", "ghp_", "%40", "A1b"),
    *(
        "SG.aaaaaaaa",
        "where 'aaaa' = .",
        "mysql ",
        "login a ",
        "A_KEY=",
        "AB12-CDEF-",
        "('password', ",
        "é",
        "tel:",
        "[0-9]m",
        "pass",
        "identified by '",
        "name=password value=",
        'name="password"\n',
        "[SQL: [parameters: ",
        "[SQL: ",
        "insert into a (password",
        "insert into a (",
        "token is ",
        "a.b:5432:c:d:",
        "a.b.",
        "WIFI:S:;",
        "jwt.encode(",
        "BasicAuth('",
        "mongo -p ",
        "http -a a",
        "sqlplus a/",
        "<password>",
        "-us1",
        "\n",
        " ",
    ),
)


@pytest.mark.parametrize("fragment", HOSTILE)
def test_hostile_text_takes_no_longer_than_any_other(fragment: str) -> None:
    """Measured against a quarter of it, in seconds of the processor: four times as much text, not sixteen."""
    short = min(_seconds((fragment * 15_000)[:15_000]) for _ in range(2))
    assert _seconds((fragment * 60_000)[:60_000]) < 8 * short + 0.1


def test_many_values_that_pytest_says_are_passwords_take_no_longer() -> None:
    lines = [f"E    +  where 'val{number:06}' = u.password\n" for number in range(4_000)]
    short = min(_seconds("".join(lines[:1_000])) for _ in range(2))
    assert _seconds("".join(lines)) < 8 * short + 0.1
    assert "val" not in masked("".join(lines))


def test_a_megabyte_of_everything_hostile_at_once() -> None:
    everything = "".join(HOSTILE)
    assert _seconds((everything * 10_000)[:1_000_000]) < 20


def _seconds(text: str) -> float:
    begun = time.process_time()
    masked(text)
    return time.process_time() - begun


@pytest.mark.parametrize("text", ["", "\0", "\ud800 password=x1234567 \udfff", "password=\0\0x1\0", "\x1b[0m"])
def test_any_text_is_masked(text: str) -> None:
    assert "x1" not in masked(text)


@pytest.mark.parametrize(
    "line",
    [
        *("mysql -uroot -phunter2 shop", "['mysqldump', '-u', 'root', '-phunter2']", "sshpass -p hunter2 ssh x"),
        *("docker login -u bob -p hunter2 registry", "redis-cli -h db -p 6379 -a hunter2 ping"),
        *('mysql -uroot -p"my hunter2" db', "sshpass -p 'my hunter2' ssh h", "['sshpass', '-p', 'hunter2', 'ssh']"),
        *("machine example.com login bob password hunter2", "STRIPE_KEY=hunter2 ./run", "MAPS_KEY='hunter2'"),
        "E   assert not 'hunter2'\nE    +  where 'hunter2' = User(name='bob').password",
        *("where 'hunter2' = user.password()", "where b'hunter2' = get_password()\r\n", "login bob password hunter2"),
        *("hunter2%40example.com", r'{"to": "hunter2\u0040example.com"}', "<b>hunter2&#64;example.com</b>"),
    ],
)
def test_a_secret_known_by_where_it_stands(line: str) -> None:
    assert "hunter2" not in masked(line)
    assert masked(masked(line)) == masked(line)


INSERTING = "E   [SQL: INSERT INTO users (name, password) VALUES (?, ?)]"
UPDATING = "[SQL: UPDATE [dbo].[users] SET api_key=%(k)s]"
# Where nothing but the phrase tells that it is a secret.
PHRASES: list[Callable[[str], str]] = [
    lambda secret: f"env:\n- name: DB_PASSWORD\n  value: {secret}\n- name: HOME\n",
    lambda secret: json.dumps([{"name": "DB_PASSWORD", "value": secret}]),
    lambda secret: f'Content-Disposition: form-data; name="password"\r\n\r\n{secret}\r\n--x',
    lambda secret: repr(f'form-data; name="user_password"\r\nContent-Type: text/plain\r\n\r\n{secret}\r\n--x'),
    lambda secret: f"INSERT INTO users (name, password) VALUES ('bob', '{secret}')",  # noqa: S608 - a text
    lambda secret: f"{INSERTING}\nE   [parameters: ('bob', '{secret}')]\nE  x",
    lambda secret: f"{UPDATING}\n[parameters: {{'k': '{secret}'}}]",
    lambda secret: f"E  AssertionError: the password is {secret}",
    lambda secret: f"    assert jwt.encode(payload, '{secret}', algorithm='HS256')",
    lambda secret: f"    digest = hmac.new(b'{secret}', body, 'sha256')",
    lambda secret: f"requests.get(url, auth=HTTPBasicAuth('bob', '{secret}'))",
    lambda secret: f"db.example.com:5432:shop:bob:{secret}\n*:*:*:bob:{secret}",
    lambda secret: f"jdbc:oracle:thin:scott/{secret}@//db:1521/x",
    lambda secret: f"sqlplus -S scott/{secret}@db",
    lambda secret: f"dial bob:{secret}@tcp(db:3306)/shop: refused",
    lambda secret: f"WIFI:S:net;T:WPA;P:{secret};;",
    lambda secret: f'CONFIG SET requirepass "{secret}"',
    lambda secret: f"mongosh -u bob -p {secret} --host x",
    lambda secret: f"ldapsearch -D cn=admin -w {secret} -b x",
    lambda secret: f"unzip -P {secret} x.zip",
    lambda secret: f"['curl', '-u', 'bob:{secret}', 'http://x']",
    lambda secret: f"http -a bob:{secret} GET example.org",
    lambda secret: f"run --pass {secret} --verbose",
    lambda secret: f"run --db-pw {secret} --verbose",
    lambda secret: f"SSHPASS={secret} sshpass -e ssh x",
    lambda secret: f"AZURE_DEVOPS_EXT_PAT={secret}\n",
    lambda secret: f"DB_PW: {secret}\n",
    lambda secret: f"> X-Auth-Key: {secret}\n> Host: x",
    lambda secret: f"Ocp-Apim-Subscription-Key: {secret}\n",
    lambda secret: f"login(mnemonic='{secret} able about above')",
]


@settings(max_examples=40, deadline=None)
@given(secret=letters(WORD, 8, 30).filter(lambda drawn: re.search("[0-9]", drawn) and re.search("[a-z]", drawn)))
@example("hunter2222")
def test_a_secret_known_by_its_phrase(secret: str) -> None:
    for around in PHRASES:
        shown = masked(around(secret))
        assert secret not in shown, around(secret)
        assert masked(shown) == shown, around(secret)


def test_a_number_that_does_not_end_its_line_is_masked_too() -> None:
    assert masked("pin=4711 was refused") == "pin=[token] was refused"


def test_a_command_line_is_masked_as_people_write_it() -> None:
    line = shlex.join(["mysql", "-h", "db", "--password", "it's 1234", "shop"])
    assert "1234" not in masked(line)
