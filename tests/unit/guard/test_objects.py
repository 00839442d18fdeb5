from __future__ import annotations

import platform

import pytest

from observatory.guard.scan.elf import ObjectError
from observatory.guard.scan.objects import read
from tests.factories_scan import c_source, compiled, mangled, object_of

X86_64 = platform.machine() == "x86_64"
LARGE = ("-mcmodel=large", "-fno-pic", "-O1") if X86_64 else ()
"""numba's code model: addresses in full."""


def body(code: bytes, symbol: str = "f") -> bytes:
    return {function.symbol: function.body for function in read(code).functions}[symbol]


def test_global_and_weak_functions_are_found_and_nothing_else() -> None:
    code = compiled(
        c_source({"strong": "x + 1"})
        + '__attribute__((weak)) double w(double x) __asm__("weak"); double w(double x) {return x;}'
        + "__attribute__((noinline)) static double local(double x) { return x * x; }"
        + "double data = 3; double common; extern double far(double);"
        + "double user(double x) { return local(x) + far(x) + data; }"
    )
    assert {function.symbol for function in read(code).functions} == {"strong", "weak", "user"}


def test_own_functions_are_told_from_copies_and_what_was_inlined_is_known() -> None:
    add, mul, gone = (mangled(f"pytensor.{name}", 7) for name in ("add", "mul", "gone"))
    code = read(object_of({add: "x + 1", mul: "x * 2"}, copies=[mul], linked=[gone]))
    assert {function.symbol: function.own for function in code.functions} == {add: True, mul: False}
    assert sorted(code.linked) == sorted([add, mul, gone])


@pytest.mark.parametrize("flags", [(), LARGE, ("-O2", "-fPIC")])
def test_a_body_is_the_same_wherever_it_stands(flags: tuple[str, ...]) -> None:
    head = "int puts(const char *);"
    bodies = {"f": 'x * 0.1 + __builtin_sin(x) + puts("one")'}
    others = {"before": 'x * 0.3 - puts("zero")', **bodies, "after": 'x - 0.9 + puts("two")'}
    alone = compiled(head + c_source(bodies), *flags)
    among = compiled(head + c_source(others), *flags)
    assert alone != among
    assert body(alone) == body(among)


@pytest.mark.parametrize("flags", [(), LARGE, ("-O2", "-fPIC")])
@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("x * 0.1", "x * 0.2"),
        ("x + __builtin_sin(x)", "x + __builtin_cos(x)"),
        ("x + 1", "x - 1"),
        ('x + puts("one")', 'x + puts("two")'),
        ("x + numbers[1]", "x + numbers[2]"),
    ],
    ids=["constant", "callee", "code", "text", "element"],
)
def test_bodies_differ_by_code_by_constants_and_by_what_they_call(
    one: str, other: str, flags: tuple[str, ...]
) -> None:
    head = "int puts(const char *); extern double numbers[];"

    def made(expression: str) -> bytes:
        return compiled(head + c_source({"f": expression}), *flags)

    assert body(made(one)) != body(made(other))


@pytest.mark.parametrize("flags", [(), LARGE, ("-O2", "-fPIC")])
def test_a_constant_is_compared_as_a_whole_though_another_refers_into_it(
    flags: tuple[str, ...],
) -> None:
    source = """
    static const double pair[] = {{1.5, {value}}};
    const double *f(void) __asm__("f");
    const double *f(void) {{ return pair; }}
    const double *second(void) {{ return pair + 1; }}
    """
    one, other = (compiled(source.format(value=value), *flags) for value in (2.5, 3.5))
    assert body(one) != body(other)


TABLE = """
static const double table[] = {{{values}}};
static const double *const pointers[] = {{table, table + 2}};
double f(unsigned i) __asm__("f");
double f(unsigned i) {{ return *pointers[i & 1] + table[i % 3]; }}
"""


@pytest.mark.parametrize("flags", [(), LARGE, ("-O2", "-fPIC")])
def test_bodies_differ_by_what_their_constants_refer_to(flags: tuple[str, ...]) -> None:
    one = compiled(TABLE.format(values="1.5, 2.5, 3.5"), *flags)
    other = compiled(TABLE.format(values="1.5, 2.5, 4.5"), *flags)
    moved = compiled(
        "static const double *const more[] = {0}; const void *keep(void) { return more; }"
        + TABLE.format(values="1.5, 2.5, 3.5"),
        *flags,
    )
    assert body(one) != body(other)
    assert body(one) == body(moved)


SWITCH = """
int f(int i) __asm__("f");
int f(int i) {{ switch (i) {{
case 0: return 17; case 1: return 4; case 2: return {value}; case 3: return 99; case 4: return 3;
case 5: return g(i); case 6: return g(2); default: return -1; }} }}
"""


@pytest.mark.parametrize("flags", [(), LARGE])
def test_jump_tables_are_compared_by_where_they_lead(flags: tuple[str, ...]) -> None:
    head = "int g(int);"
    one = compiled(head + SWITCH.format(value=8), *flags)
    same = compiled(head + "int before(int i) { return i * 3; }" + SWITCH.format(value=8), *flags)
    other = compiled(head + SWITCH.format(value=9), *flags)
    assert body(one) == body(same)
    assert body(one) != body(other)


def test_constants_that_refer_to_each_other_end() -> None:
    source = """
    struct node {{ const struct node *next; long value; }};
    static const struct node second;
    static const struct node first = {{&second, {value}}};
    static const struct node second = {{&first, 2}};
    long f(long i) __asm__("f");
    long f(long i) {{ const struct node *at = &first; while (i--) at = at->next;
    return at->value; }}
    """
    assert body(compiled(source.format(value=1))) != body(compiled(source.format(value=5)))
    assert body(compiled(source.format(value=1))) == body(
        compiled(source.format(value=1) + "int x;")
    )


def test_constants_that_refer_to_one_another_without_end_are_refused() -> None:
    chain = "".join(f"static const void *const n{n} = &n{n - 1};" for n in range(1, 60))
    source = f"static const int n0 = 1; {chain} const void *f(void) {{ return &n59; }}"
    with pytest.raises(ObjectError, match="more than 50 deep"):
        read(compiled(source))


@pytest.mark.parametrize(
    ("content", "name"),
    [
        (b"\xcf\xfa\xed\xfe\x07\0\0\x01", "Mach-O"),
        (b"\xca\xfe\xba\xbe\0\0\0\x02", "Mach-O"),
        (b"\x64\x86\x05\0\0\0\0\0", "COFF"),
        (b"\x64\xaa\x05\0\0\0\0\0", "COFF"),
    ],
)
def test_object_files_of_other_systems_are_named_as_unsupported(content: bytes, name: str) -> None:
    with pytest.raises(ObjectError, match=f"format {name}.* are not supported yet"):
        read(content)


@pytest.mark.parametrize("content", [b"", b"\x7f", b"MZ", b"\0" * 100])
def test_what_is_no_object_file_is_refused(content: bytes) -> None:
    with pytest.raises(ObjectError, match="an unknown format"):
        read(content)


ASM = "assembler"
CONSTANTS = """
.globl f
.type f, @function
f: cmpl $7, second(%rip)
ret
.size f, . - f
.section .rodata.cst8, "aM", @progbits, 8
.quad {first}
second:
.quad {second}
"""


@pytest.mark.skipif(not X86_64, reason="its assembler is x86-64's")
def test_the_constant_before_an_operand_is_the_one_that_is_meant() -> None:
    def made(first: int, second: int) -> bytes:
        return body(compiled(CONSTANTS.format(first=first, second=second), language=ASM))

    assert made(1, 2) == made(3, 2)
    assert made(1, 2) != made(1, 3)


INSIDE = """
.globl g
.type g, @function
g: movl ${value}, %eax
inside: ret
.size g, . - g
.globl f
.type f, @function
f: movabs $inside, %rax
ret
.size f, . - f
"""


@pytest.mark.skipif(not X86_64, reason="its assembler is x86-64's")
def test_a_place_in_a_function_that_others_may_define_is_known_by_its_name() -> None:
    one, other = (compiled(INSIDE.format(value=value), language=ASM) for value in (1, 2))
    assert body(one, "g") != body(other, "g")
    assert body(one) == body(other)


@pytest.mark.skipif(not X86_64, reason="its assembler is x86-64's")
def test_a_function_without_a_size_is_refused() -> None:
    code = compiled(".globl f\n.type f, @function\nf: ret\n", language=ASM)
    with pytest.raises(ObjectError, match="the code of 'f' is not in it"):
        read(code)


@pytest.mark.skipif(not X86_64, reason="its assembler is x86-64's")
def test_functions_that_overlap_without_end_are_refused() -> None:
    heads = "".join(
        f".globl f{n}\n.type f{n}, @function\n.set f{n}, code + {n}\n.size f{n}, 30000\n"
        for n in range(2000)
    )
    code = compiled(f"code: .zero 40000\n{heads}", language=ASM)
    with pytest.raises(ObjectError, match="overlap"):
        read(code)
