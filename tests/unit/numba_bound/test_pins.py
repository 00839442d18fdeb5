"""Which strings of a pyproject.toml are pins of numba, and that nothing else changes."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from packaging.version import Version

from observatory.numba_bound.pins import exchanged, quoted, read
from observatory.numba_bound.plan import plan
from observatory.numba_bound.status import UnsafeError
from observatory.store.base.decode import MOST_TOML

END = Version("0.68.1")
NEW = '"numba>=0.58,<=0.68.1"'


def bumped(text: str | bytes) -> bytes:
    """A whole file with every pin made canonical."""
    content = text if isinstance(text, bytes) else text.encode()
    return plan(read(content), END, lambda _: None).content()


FORMS = {
    "main dependency": '[project]\ndependencies = ["numpy", %s]\n',
    "several lines with comments": "[project]\ndependencies = [ # numba\n  'a', # \"numba<1\"\n"
    '  # "numba<1",\n  %s, # "numba<1"\n]\n',
    "dotted key": "project.dependencies = [%s]\n",
    "dotted key with spaces and quotes": "project . \"dependencies\" = [ %s ]\n",
    "inline table": 'project = { name = "x", dependencies = [%s] }\n',
    "extra": "[project.optional-dependencies]\nnumba = [%s, 'llvmlite']\n",
    "extra with a strange name": "[project.optional-dependencies]\n'a \"b.c' = [%s]\n",
    "extras as an inline table": '[project]\noptional-dependencies = {"numba" = [%s]}\n',
    "dependency group": "[dependency-groups]\nt = [{include-group = \"numba\"}, %s]\n",
    "what builds it": "[build-system]\nrequires = ['setuptools', %s]\n",
    "uv": "[tool.uv]\ndev-dependencies = [%s]\n",
    "pdm": "[tool.pdm.dev-dependencies]\ntest = [%s]\n",
    "hatch": "[tool.hatch.envs.test]\ndependencies = [%s]\nextra-dependencies = ['x']\n",
    "no newline at the end": "project.dependencies = [%s]",
    "tabs": "[project]\n\tdependencies\t=\t[\t%s\t,\t]\t\n",
    "after quotes of every kind": 'a = "\'"\nb = \'"\'\nc = """\n"numba<1" \'numba<1\'"""\n'
    "d = '''\"numba<1\"\n'''\nproject.dependencies = [%s]\n",
    "beside strings that look alike": "[project]\nkeywords = ['numba', \"numba<1\"]\n"
    'description = "numba<1"\ndependencies = ["numba-scipy<1", "numba_stats<1", "numbagg", '
    '"llvmlite<1", "pytensor[numba]", "a; extra == \'numba\'", %s]\n',
}  # fmt: skip
TOKENS = {
    "double quotes": '"numba>=0.58,<0.63"',
    "single quotes": "'numba>=0.58,<0.63'",
    "spaces": '" numba >= 0.58 , < 0.63 "',
    "three double quotes": '"""numba>=0.58,<0.63"""',
    "three single quotes": "'''\nnumba>=0.58,<0.63'''",
    "several lines": '"""\\\n   numba>=0.58,\\\n   <0.63"""',
    "canonical in single quotes": "'numba>=0.58,<=0.68.1'",
    "an escape": '"numba\\u003e=0.58,<0.63"',
}
ENDS = {
    "CRLF": lambda text: text.replace("\n", "\r\n").encode(),
    "BOM": lambda text: b"\xef\xbb\xbf" + text.encode(),
}


@pytest.mark.parametrize("form", FORMS.values(), ids=list(FORMS))
@pytest.mark.parametrize("token", TOKENS.values(), ids=list(TOKENS))
def test_only_the_token_of_a_pin_changes(form: str, token: str) -> None:
    before, after = (form.replace("%s", text).encode() for text in (token, NEW))
    assert bumped(before) == after
    assert bumped(after) == after


@pytest.mark.parametrize("form", FORMS.values(), ids=list(FORMS))
@pytest.mark.parametrize("end", ENDS.values(), ids=list(ENDS))
def test_line_ends_and_a_byte_order_mark_stay(form: str, end: Callable[[str], bytes]) -> None:
    before, after = (end(form.replace("%s", text)) for text in ("'numba>=0.58,<1'", NEW))
    assert bumped(before) == after
    assert bumped(after) == after


def test_every_pin_of_a_file_is_found_with_its_place_and_line() -> None:
    project = read(
        b'[project]\ndynamic = ["version"]\nrequires-python = ">=3.12"\n'
        b'dependencies = [\n  "x",\n  "numba<1"]\n[project.optional-dependencies]\n'
        b'"a.b" = ["numba"]\n[dependency-groups]\ndev = ["numba", "numba"]\n'
    )
    assert [pin.name for pin in project.pins] == [
        "project.dependencies[1], line 6",
        'project.optional-dependencies."a.b"[0], line 8',
        "dependency-groups.dev[0], line 10",
        "dependency-groups.dev[1], line 10",
    ]
    assert project.requires_python == ">=3.12"
    assert not project.dynamic


def test_a_marker_in_other_quotes_keeps_the_quotes_that_it_needs() -> None:
    form = "project.dependencies = [%s]"
    double = "'numba<1; python_version < \"3.13\"'"
    assert bumped(form % double) == (form % double.replace("<1;", "<=0.68.1;")).encode()
    escaped = '"numba<1; python_version < \\"3.13\\""'
    assert bumped(form % escaped) == (form % double.replace("<1;", "<=0.68.1;")).encode()
    both = '"numba<1; python_version < \\"3\\" and os_name == \'nt\'"'
    assert bumped(form % both) == (form % both.replace("<1;", "<=0.68.1;")).encode()


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ('[tool.pixi.dependencies]\nnumba = ">=0.58,<0.63"', "tool.pixi.dependencies.numba"),
        ('[tool.pixi.feature.numba.pypi-dependencies]\nnumba = {version = "*"}',
         "tool.pixi.feature.numba.pypi-dependencies.numba"),
        ('[tool.poetry.dependencies]\nNumba = "^0.58"', "tool.poetry.dependencies.Numba"),
        ('[tool.poetry.dependencies]\nnumba = [{version = "1"}, {version = "2"}]',
         "tool.poetry.dependencies.numba"),
        ('[tool.poetry.group.dev.dependencies.numba]\nversion = "^0.58"',
         "tool.poetry.group.dev.dependencies.numba"),
        ('[tool.uv]\nconstraint-dependencies = ["numba<1"]', "tool.uv.constraint-dependencies[0]"),
        ('[tool.cibuildwheel]\ntest-requires = "pytest numba"', "tool.cibuildwheel.test-requires"),
        ('[tool.cibuildwheel]\ntest-requires = ["numba"]', "tool.cibuildwheel.test-requires[0]"),
        ('[tool.tox.env.test]\ndeps = ["numba"]', "tool.tox.env.test.deps[0]"),
        ('[tool.conda-lock.dependencies]\nnumba = ">=0.5"', "tool.conda-lock.dependencies.numba"),
        ('[tool.setuptools.dynamic.optional-dependencies]\nnumba = {file = "n.txt"}',
         "tool.setuptools.dynamic.optional-dependencies.numba"),
    ],
)  # fmt: skip
def test_dependencies_in_another_form_are_named_and_stay(text: str, places: str) -> None:
    project = read(text.encode())
    assert project.elsewhere == (places,)
    assert project.pins == ()


@pytest.mark.parametrize(
    "text",
    [
        '[tool.mypy]\noverrides = [{module = ["numba", "numba.*"]}]',
        '[tool.isort]\nknown_third_party = ["numba"]',
        "[tool.hatch.envs.numba]\ndependencies = []",
        '[tool.pytest.ini_options]\nmarkers = ["numba: needs it"]',
        "[project.optional-dependencies]\nnumba = []",
        '[dependency-groups]\nnumba = [{include-group = "numba"}]',
        '[project]\nname = "numba"\nurls.numba = "x"',
        '[tool.cibuildwheel]\ntest-requires = "numba-scipy"',
        "# numba\n",
        "",
    ],
)
def test_what_is_no_dependency_on_numba_is_not_spoken_of(text: str) -> None:
    project = read(text.encode())
    assert project.pins == project.elsewhere == ()


def test_dependencies_that_are_declared_in_another_file_are_known_of() -> None:
    assert read(b'[project]\ndynamic = ["version", "dependencies"]').dynamic


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"[project\n", "not valid TOML"),
        (b'project.dependencies = ["numba<1"]\nx = \n', "not valid TOML"),
        (b'project.dependencies = ["numba<1"]\nx = "\xff"\n', "byte 40 is not UTF-8"),
        (b"\xff\xfep\x00", "byte 0 is not UTF-8"),
        (b"a = " + b"9" * 5000, "not valid TOML: "),
        (b"a = " + b"[" * 5000, "not valid TOML: it is nested too deep"),
        (b"a = " + b"[" * 60 + b"]" * 60, "nests deeper than 50 levels"),
        (b"[" + b"a." * 5000 + b"a]", "line 1 has a key of more than 20 parts"),
        (b"#" * (MOST_TOML + 1), "bytes, which no pyproject.toml needs"),
        (b"project.dependencies = [" + b'"numba",' * 101 + b"]", "more than 100 strings"),
        (b'project.dependencies = ["\\u006eumba<1"]', "project.dependencies[0] is written in a"),
        (b"project.dependencies = ['numba<1']\r", "not valid TOML"),
    ],
)
def test_a_file_that_cannot_be_understood_for_certain_is_a_sentence(
    content: bytes, why: str
) -> None:
    with pytest.raises(UnsafeError) as error:
        read(content)
    assert why in str(error.value)


def test_a_pin_that_pip_would_not_understand_stops_everything() -> None:
    with pytest.raises(UnsafeError, match=r"dependencies\[1\], line 1: 'numba 0.58' is not a req"):
        bumped('project.dependencies = ["numba<1", "numba 0.58"]')


def test_an_exchange_that_would_say_something_else_is_refused() -> None:
    project = read(b'project.dependencies = ["numba<1"]')
    with pytest.raises(UnsafeError, match="with the new pins it could not be read"):
        exchanged(project, {project.pins[0]: "numba\x7f"})


@pytest.mark.parametrize(
    ("start", "end", "why"),
    [
        (0, len("project"), "more than the pins would change"),
        (35, 44, "more than the pins would change"),  # the other pin
        (24, 32, "could not be read"),
    ],
)
def test_a_token_in_the_wrong_place_is_noticed(start: int, end: int, why: str) -> None:
    project = read(b'project.dependencies = ["numba<1", "numba<2", "x"]')
    first, second = project.pins
    assert (first.start, first.end, second.start, second.end) == (24, 33, 35, 44)
    wrong = replace(first, start=start, end=end)
    with pytest.raises(UnsafeError, match=why):
        exchanged(replace(project, pins=(wrong, second)), {wrong: "numba"})
    wide = replace(second, end=second.end + len(', "x"'))
    with pytest.raises(UnsafeError, match="more than the pins would change"):
        exchanged(replace(project, pins=(first, wide)), {wide: "numba"})


@pytest.mark.parametrize(
    ("text", "token"),
    [("a", '"a"'), ("a'b", '"a\'b"'), ('a"b', "'a\"b'"), ("a\"b'", '"a\\"b\'"'),
     ("a\\", '"a\\\\"'), ("a\x1b", '"a\\u001b"')],
)  # fmt: skip
def test_a_string_is_in_double_quotes_unless_there_are_some_inside(text: str, token: str) -> None:
    assert quoted(text) == token
    assert tomllib.loads(f"x = {token}")["x"] == text


# A file is put together from pieces; what it has to become is known without the code under test.
NOISE = st.sampled_from([
    "# \"numba<1\" 'numba'", "", "    ", "#", "# it's", '# say "', "#'''", '#"""',
    'd{} = "numba<1"', "d{} = 'numba'", 'd{} = """\n"numba<1",\n"""', "d{} = '''\n'numba'\n\"'''",
    'd{} = ["numba<1", "numba", \'numba~=0.5\'] # "numba"', "d{} = [nan, inf, 1979-05-27]",
    'd{} = {numba = "numba<1", dependencies = ["numba<1"]}', "d{}.numba.dependencies.x = 'numba'",
    "d{} = 'é\\U0001f600'", "d{} = \"\\\"numba<1\\\" it's\"", "d{} = '\"'", 'd{} = "\'"',
    '"numba{}" = ["numba"]', "'\"numba<1\"{}' = 'x'",
])  # fmt: skip
PIN = st.sampled_from([*TOKENS.values(), "'numba>=0.58'", '"numba[]>=0.58,<1"', '"numba~=0.58"'])
OTHER = st.sampled_from(['"numpy"', "'numba-scipy<1'", '"a[numba]"', '"""numbagg"""', "'it\"s'"])
BETWEEN = st.sampled_from([",", ", ", ",\n", ', # "numba<1", \'numba\n  ', "\n,\n# numba\n"])
HEADS = st.sampled_from([
    "[project]\ndependencies = [{}]", "[project.optional-dependencies]\nnumba = [{}]",
    "[dependency-groups]\n'numba<1' = [{}]", "[build-system]\nrequires = [{}]",
    '[tool.hatch.envs."numba"]\ndependencies = [\n{}\n]',
])  # fmt: skip


@st.composite
def files(draw: st.DrawFn) -> tuple[bytes, bytes]:
    """A file, and what it has to become."""
    before, after = [], []
    for number, head in enumerate(draw(st.lists(HEADS, max_size=3, unique=True))):
        noise = [line.replace("{}", f"{number}{at}")
                 for at, line in enumerate(draw(st.lists(NOISE, max_size=4)))]  # fmt: skip
        items = draw(st.lists(st.tuples(st.booleans(), PIN, OTHER, BETWEEN), max_size=4))
        old = "".join((pin if is_pin else other) + sep for is_pin, pin, other, sep in items)
        new = "".join((NEW if is_pin else other) + sep for is_pin, _, other, sep in items)
        for made, listed in ((before, old), (after, new)):
            made.append("\n".join([head.replace("{}", listed), f"[tool.x{number}]", *noise]))
    newline, last = draw(st.sampled_from(["\n", "\r\n"])), draw(st.sampled_from(["", "\n"]))
    bom = draw(st.sampled_from([b"", b"\xef\xbb\xbf"]))
    old, new = (("\n".join(made) + last).replace("\n", newline) for made in (before, after))
    return bom + old.encode(), bom + new.encode()


@given(files())
def test_whatever_stands_around_the_pins_stays_byte_for_byte(file: tuple[bytes, bytes]) -> None:
    before, after = file
    assert bumped(before) == after
    assert bumped(after) == after


@given(files(), st.integers(0, 400), st.integers(0, 3), st.binary(max_size=2))
def test_a_damaged_file_is_refused_or_still_says_the_rest(
    file: tuple[bytes, bytes], at: int, gone: int, put: bytes
) -> None:
    damaged = file[0][:at] + put + file[0][at + gone :]
    try:
        made = bumped(damaged)
    except UnsafeError:
        return
    assume(made != damaged)
    texts = (content.removeprefix(b"\xef\xbb\xbf").decode() for content in (damaged, made))
    before, after = (_without_numba(repr(tomllib.loads(text))) for text in texts)
    assert before == after


def _without_numba(said: str) -> str:
    """What is parsed, with every string that names numba the same."""
    return "".join(c for c in said if c not in "0123456789.<>=,! ~[]()\"'\\n")
