"""Bad files are refused as a whole, with one sentence that names them."""

import gzip
import json
import os
import struct
import tracemalloc
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.tools.results.reports import JEST, SUREFIRE, case, only, read, suite, write

from whet.core.errors import WhetError
from whet.tools.results.documents import LARGEST_FILE_BYTES, MIB
from whet.tools.results.refusing import BadResults

LAUGHS = """<?xml version="1.0"?>
<!DOCTYPE {root} [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;">]>
<{root}><testcase classname="c" name="&c;"/></{root}>
"""
REACHING_OUT = """<!DOCTYPE testsuite [<!ENTITY x SYSTEM "file:///etc/passwd">]>
<testsuite><testcase classname="c" name="&x;"/></testsuite>
"""
RESULT = '{"historyId": "h", "status": "passed", "name": "n", "fullName": "c#n", "start": 1714557600000, "stop": %s}'

BAD: dict[str, tuple[str | bytes, str]] = {
    "laughs": (LAUGHS.format(root="testsuite"), "declares a document type"),
    "laughs under another root": (LAUGHS.format(root="lolz"), "declares a document type"),
    "external entity": (REACHING_OUT, "declares a document type"),
    "external DTD": ('<!DOCTYPE testsuite SYSTEM "http://127.0.0.1/x.dtd"><testsuite/>', "declares a document type"),
    "nested": ("<testsuite>" * 101, "nests elements more than 100 deep"),
    "nested in a case": (suite(case("a", "<x>" * 200)), "nests elements more than 100 deep"),
    "cut off": (JEST[:400], "is not well-formed XML or is cut off"),
    "null bytes": (suite(case("a")).replace("name='s'", "name='\0'"), "is not well-formed XML or is cut off"),
    "wrong encoding": (suite(case("ü")).encode("latin-1"), "is not well-formed XML or is cut off"),
    "unknown encoding": ("<?xml version='1.0' encoding='x-klingon'?>" + suite(case("a")), "is in an encoding"),
    "no JUnit": ("<coverage/>", "is no JUnit XML: its root is <coverage>"),
    "a web page": ("<!doctype html><p>hello", "is not well-formed XML or is cut off"),
    "nameless": ("<testsuite><testcase time='1'/></testsuite>", "has a test case without a name at line 1"),
    "NaN": (suite(case("a", time="NaN")), "has a test that took time='NaN'"),
    "infinite": (suite(case("a", time="inf")), "has a test that took time='inf'"),
    "too large to be finite": (suite(case("a", time="1e999")), "has a test that took"),
    "negative": (suite(case("a", time="-0.1")), "has a test that took time='-0.1'"),
    "no number": (suite(case("a", time="1.000.5")), "has a test that took"),
    "a century": (suite(case("a", time="3e9")), "has a test that took"),
    "empty": ("", "holds nothing: it is empty"),
    "blank": (" \n", "holds nothing: it is empty"),
    "text": ("hello\n", "holds no test results"),
    "text with odd line ends": ("\rtitle,status", "holds no test results"),
    "binary": (bytes(range(128, 256)) + bytes(range(128)), "holds no test results"),
    "other JSON": ('{"a": 1}', "holds no test results"),
    "JSON cut off": (RESULT[:50], "is not valid JSON or is cut off"),
    "JSON with NaN": (RESULT % "NaN", "holds NaN"),
    "JSON with Infinity": (RESULT % "-Infinity", "holds -Infinity"),
    "JSON too deep": ("[" * 200_000, "is nested too deeply"),
    "JSON too deep in a record": ('[{"title": ' + "[" * 200_000, "is nested too deeply"),
    "JSON with a key twice": (RESULT % '1, "stop": 2', "has the key 'stop' twice"),
    "JSON with a giant number": (RESULT % ("9" * 5000), "holds a number with thousands of digits"),
    "JSON not in UTF-8": (b'{"title": "\xff"}', "is not UTF-8 text"),
    "null character in a name": (RESULT.replace("c#n", "c#\\u0000") % "1714557600001", "null character"),
    "half a character in a name": (RESULT.replace("c#n", "c#\\ud800") % "1714557600001", "half a character"),
    "CSV with null bytes": ("title,status\na\0,passed\n", "holds null bytes"),
    "CSV with a giant cell": (f"title,status\n{'x' * 200_000},passed\n", "is no valid CSV"),
    "CSV cut off": ('title,status\n"a', "is no valid CSV or is cut off"),
    "gzip cut off": (gzip.compress(SUREFIRE.encode())[:-30], "is damaged or cut off"),
    "gzip damaged": (gzip.compress(SUREFIRE.encode())[:40] + b"x" * 400, "is damaged or cut off"),
    "zip cut off": (b"PK\x03\x04" + b"x" * 100, "is a damaged or cut-off zip"),
}  # fmt: skip


@pytest.mark.parametrize("kind", BAD)
def test_bad_files_are_refused_with_a_sentence_that_names_them(tmp_path: Path, kind: str) -> None:
    content, sentence = BAD[kind]
    write(tmp_path, {"good.xml": JEST, "bad-file": content})
    with pytest.raises(BadResults) as refused:
        read(tmp_path / "good.xml", tmp_path / "bad-file")
    assert str(tmp_path / "bad-file") in str(refused.value)
    assert sentence in str(refused.value)
    assert refused.value.remedy
    reading = read(tmp_path / "good.xml", tmp_path / "bad-file", skip_bad=True)
    assert len(only(reading).tests) == 3
    assert [Path(refusal.file).name for refusal in reading.refused] == ["bad-file"]
    assert sentence in reading.refused[0].why


def test_what_is_plainly_not_results_is_passed_by_in_directories(tmp_path: Path) -> None:
    others = {
        "index.html": "<!doctype html><p>",
        "coverage.xml": '<!DOCTYPE coverage SYSTEM "x.dtd"><coverage/>',
        "tsconfig.json": "{ // comment",
        "notes.csv": "a,b\n1,2\n",
        "empty.xml": "",
    }
    reading = read(write(tmp_path, {"junit.xml": JEST, **others}))
    assert len(only(reading).tests) == 3
    assert sum(reading.left_out_files.values()) == len(others)


@pytest.mark.parametrize("content", [JEST[:400], '{"historyId": "x", "sta', LAUGHS.format(root="testsuites")])
def test_broken_results_in_directories_are_not_passed_by(tmp_path: Path, content: str) -> None:
    with pytest.raises(BadResults, match="broken"):
        read(write(tmp_path, {"junit.xml": JEST, "broken": content}))


@pytest.mark.parametrize("tag", ["<testcase name='{}", "<!-- {}", "<testcase name='a'><failure message='{}"])
def test_a_giant_tag_is_refused_after_a_bounded_amount(tmp_path: Path, tag: str) -> None:
    start, end = suite(tag).split("{}")
    with (tmp_path / "r.xml").open("wb") as file:
        file.write(start.encode())
        for _ in range(100):
            file.write(b"x" * MIB)
        file.write(f"'/>{end}".encode())
    tracemalloc.start()
    with pytest.raises(BadResults, match=r"r\.xml holds one tag of more than 16 MiB"):
        read(tmp_path / "r.xml")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 64 * MIB  # the parser holds the tag so far, twice while its buffer grows


def test_memory_does_not_grow_with_captured_output(tmp_path: Path) -> None:
    output = f"<system-out><![CDATA[{'x' * (48 * MIB)}]]></system-out>"
    write(tmp_path, {"r.xml": suite(case("a", output))})
    tracemalloc.start()
    assert only(read(tmp_path)).outcomes == "p"
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * MIB


def test_a_giant_file_is_refused_by_its_size(tmp_path: Path) -> None:
    write(tmp_path, {"r.xml": suite(case("a"))})
    os.truncate(tmp_path / "r.xml", LARGEST_FILE_BYTES + 1)
    with pytest.raises(BadResults, match=r"r\.xml has more than 1024 MiB"):
        read(tmp_path)


def test_what_is_read_whole_is_refused_when_it_is_large(tmp_path: Path) -> None:
    write(tmp_path, {"r.json": b'[{"title": "a", "status": "passed"}]' + b" " * (64 * MIB)})
    with pytest.raises(BadResults, match=r"r\.json has more than 64 MiB"):
        read(tmp_path / "r.json")


@pytest.mark.parametrize("packed", ["gz", "zip", "zip with gz"])
def test_what_bursts_is_refused(tmp_path: Path, packed: str) -> None:
    content = suite(case("a", " " * (40 * MIB))).encode()
    inner = gzip.compress(content, 9) if "gz" in packed else content
    file = tmp_path / "r"
    if "zip" in packed:
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("r.xml", inner)
    else:
        file.write_bytes(inner)
    with pytest.raises(BadResults, match="unpacks to more than 200 times its size"):
        read(file)


def archive_with(path: Path, *names: str, mode: int = 0o100644) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name in names:
            info = zipfile.ZipInfo(name)
            info.external_attr = mode << 16
            archive.writestr(info, JEST)
    return path


@pytest.mark.parametrize("name", ["../r.xml", "/etc/r.xml", "a/../../r.xml", "..\\r.xml", "C:\\r.xml", "C:r.xml"])
def test_archives_that_reach_outside_are_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(BadResults, match=r"r\.zip holds a file that would lie outside"):
        read(archive_with(tmp_path / "r.zip", "good.xml", name))


def test_links_in_archives_are_refused_and_in_directories_not_followed(tmp_path: Path) -> None:
    with pytest.raises(BadResults, match="would lie outside"):
        read(archive_with(tmp_path / "r.zip", "link", mode=0o120777))
    write(tmp_path, {"outside/junit.xml": JEST, "inside/other.txt": "x"})
    (tmp_path / "inside" / "link").symlink_to(tmp_path / "outside")
    (tmp_path / "inside" / "link.xml").symlink_to(tmp_path / "outside" / "junit.xml")
    assert read(tmp_path / "inside").files == 0


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_archives_with_one_name_twice_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BadResults, match="holds two files of one name"):
        read(archive_with(tmp_path / "r.zip", "r.xml", "r.xml"))


def test_archives_that_claim_a_giant_directory_are_refused_before_it_is_read(tmp_path: Path) -> None:
    file = archive_with(tmp_path / "r.zip", "r.xml")
    content = bytearray(file.read_bytes())
    struct.pack_into("<I", content, content.rfind(b"PK\x05\x06") + 12, 17 * MIB)
    file.write_bytes(content)
    with pytest.raises(BadResults, match="is an archive with too many files"):
        read(file)


def test_archives_whose_directory_leads_nowhere_are_refused(tmp_path: Path) -> None:
    file = archive_with(tmp_path / "r.zip", "r.xml")
    content = bytearray(file.read_bytes())
    place = content.rfind(b"PK\x05\x06") + 16
    struct.pack_into("<I", content, place, struct.unpack_from("<I", content, place)[0] + 50)
    file.write_bytes(content)
    with pytest.raises(BadResults, match=r"r\.zip!r\.xml is damaged or cut off"):
        read(file)


def test_a_damaged_member_is_refused_and_an_inner_archive_passed_by(tmp_path: Path) -> None:
    file = archive_with(tmp_path / "r.zip", "r.xml")
    content = file.read_bytes()
    file.write_bytes(content.replace(b"cart adds", b"cart odds"))
    with pytest.raises(BadResults, match=r"r\.zip!r\.xml is damaged or cut off"):
        read(file)
    with zipfile.ZipFile(tmp_path / "outer.zip", "w") as archive:
        archive.writestr("inner.zip", content)
    assert read(tmp_path / "outer.zip").left_out_files == {"an archive inside an archive": 1}


def test_pipes_are_not_waited_for_and_missing_files_named(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(BadResults, match="pipe is not a regular file"):
        read(tmp_path / "pipe")
    with pytest.raises(WhetError, match=r"There is no file .*nothing\*\.xml"):
        read(tmp_path / "nothing*.xml")


def test_names_too_long_for_any_table_are_left_out_and_counted(tmp_path: Path) -> None:
    reading = read(write(tmp_path, {"r.xml": suite(case("a" * 5000), case("b"))}))
    assert only(reading).tests == ["tests.test_a::b"]
    assert sum(reading.left_out_results.values()) == 1


GOOD = st.sampled_from([JEST.encode(), SUREFIRE.encode(), (RESULT % "1714557600100").encode()])


@given(st.binary(max_size=300), GOOD, st.data())
def test_whatever_the_bytes_it_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, noise: bytes, content: bytes, data: st.DataObject
) -> None:
    cut = data.draw(st.integers(0, len(content)))
    file = tmp_path_factory.mktemp("fuzz") / "r"
    file.write_bytes(content[:cut] + noise + content[cut + len(noise) :])
    try:
        reading = read(file)
    except BadResults:
        return
    for sheet in reading.sheets:
        assert len(sheet.tests) == len(set(sheet.tests)) == len(sheet.outcomes) == len(sheet.seconds)


FIELDS = [
    *(
        "title",
        "status",
        "execution",
        "results",
        "case",
        "time",
        "time_ms",
        "end_time",
        "suites",
        "signature",
        "params",
    ),
    *("historyId", "uuid", "fullName", "name", "start", "stop", "labels", "parameters", "statusDetails", "case_id"),
]
LEAVES = (
    st.none()
    | st.floats()
    | st.integers()
    | st.booleans()
    | st.sampled_from(["passed", "failed", "", "a::b", "\ud800"])
)
SHAPES = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(FIELDS), inner), max_leaves=12
)


@given(SHAPES)
def test_whatever_the_json_it_is_read_or_refused(tmp_path_factory: pytest.TempPathFactory, value: object) -> None:
    file = tmp_path_factory.mktemp("fuzz") / "r.json"
    file.write_text(json.dumps(value), encoding="utf-8")
    try:
        reading = read(file)
    except BadResults:
        return
    for sheet in reading.sheets:
        assert len(sheet.tests) == len(set(sheet.tests)) == len(sheet.outcomes) == len(sheet.seconds)
