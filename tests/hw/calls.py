"""Programs about calls, parameters in memory and addresses (PTX 2.0 to 8.x): for the recorder and for the
test of what it recorded. What they store are values and relations between addresses, never addresses.

Every kernel is `k (out)`: thread `i` writes `WIDTH` words of 64 bits.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

RECORDED = Path(__file__).parent / "vectors" / "calls.npz"
THREADS = 32
WIDTH = 8


@dataclass(frozen=True)
class Program:
    """`alone`: it may end its process with an error; then that is what is recorded. `level`: of the driver's
    optimisation, if not its own choice."""

    functions: str
    body: str
    version: str = "8.3"
    target: str = "sm_80"
    alone: bool = False
    parameters: str = ""
    level: int | None = None

    @property
    def text(self) -> str:
        return (
            f".version {self.version}\n.target {self.target}\n.address_size 64\n{self.functions}\n"
            f".entry k (.param .u64 out{self.parameters})\n{{\n"
            "    .reg .b64 %out, %o, %a<20>, %w<8>; .reg .b32 %i, %r<20>; .reg .pred %p<9>;\n"
            "    ld.param.u64 %out, [out]; cvta.to.global.u64 %out, %out; mov.u32 %i, %tid.x;\n"
            f"    mul.wide.u32 %o, %i, {8 * WIDTH}; add.u64 %out, %out, %o;\n{self.body}\n    ret;\n}}\n"
        )


def word(place: int, register: str) -> str:
    return f"    st.global.u64 [%out+{8 * place}], {register};\n"


def truth(place: int, predicate: str) -> str:
    return f"    selp.u64 %a19, 1, 0, {predicate};\n" + word(place, "%a19")


def narrow(place: int, register: str) -> str:
    return f"    cvt.u64.u32 %a19, {register};\n" + word(place, "%a19")


# ---------------------------------------------------------------- parameters in memory


def pick(load: str, convert: str = "") -> Program:
    """A device function reads an element of a structure through the address of its parameter."""
    function = f""".func (.param .b32 r) pick(.param .align 8 .b8 p[16], .param .b32 n)
{{
    .reg .b32 %n, %x; .reg .b64 %a, %b;
    ld.param.b32 %n, [n]; and.b32 %n, %n, 3; mul.wide.u32 %b, %n, 4; mov.b64 %a, p; {convert}
    add.u64 %a, %a, %b; {load} %x, [%a]; st.param.b32 [r], %x; ret;
}}"""
    body = """    {
    .param .align 8 .b8 p[16]; .param .b32 n; .param .b32 r;
    add.u32 %r1, %i, 100; st.param.v4.b32 [p], {%r1, %i, %r1, %i}; st.param.b32 [n], %i;
    call (r), pick, (p, n); ld.param.b32 %r2, [r];
    }
""" + narrow(0, "%r2")
    return Program(function, body, alone=True)


def variadic(load: str, convert: str = "") -> Program:
    """A function of any number of arguments adds up the words after the first."""
    function = f""".func (.param .b32 r) total(.param .b32 n, .param .align 8 .b8 more[])
{{
    .reg .b32 %n, %x, %s; .reg .b64 %a; .reg .pred %p;
    ld.param.b32 %n, [n]; mov.u32 %s, 0; mov.b64 %a, more; {convert}
next:
    setp.eq.u32 %p, %n, 0; @%p bra end;
    {load} %x, [%a]; add.u32 %s, %s, %x; add.u64 %a, %a, 4; sub.u32 %n, %n, 1; bra next;
end:
    st.param.b32 [r], %s; ret;
}}"""
    body = (
        """    {
    .param .b32 n; .param .align 8 .b8 more[12]; .param .b32 r;
    st.param.b32 [n], 3; st.param.b32 [more], %i; st.param.b32 [more+4], 10; st.param.b32 [more+8], 20;
    call (r), total, (n, more); ld.param.b32 %r1, [r];
    }
    {
    .param .b32 n; .param .b32 r;
    st.param.b32 [n], 0; call (r), total, (n); ld.param.b32 %r2, [r];
    }
"""
        + narrow(0, "%r1")
        + narrow(1, "%r2")
    )
    return Program(function, body, alone=True)


LARGE = Program(
    """.func (.param .align 1 .b8 r[1021]) turned(.param .align 4 .b8 s[1024])
{
    .reg .b32 %x, %y;
    ld.param.b32 %x, [s+1020]; ld.param.b32 %y, [s]; xor.b32 %x, %x, %y; st.param.b8 [r], %x;
    shr.u32 %x, %x, 8; st.param.b8 [r+1020], %x; ret;
}""",
    """    {
    .param .align 4 .b8 s[1024]; .param .align 1 .b8 r[1021];
    mul.lo.u32 %r1, %i, 1234567; st.param.b32 [s], %r1; st.param.b32 [s+1020], 0x01020304;
    call (r), turned, (s); ld.param.u8 %r2, [r]; ld.param.u8 %r3, [r+1020];
    }
""" + narrow(0, "%r2") + narrow(1, "%r3"),
)  # fmt: skip

NOWHERE = Program(
    "",
    """    mov.u64 %a1, 0; any: .callprototype _ ();
    call %a1, (), any;
""" + narrow(0, "%i"),
    alone=True,
)  # fmt: skip


def dispatch(target: str, leave: bool) -> Program:
    """Three calls in a loop that all threads go through together, each through a table of functions; every
    thread has its own. `leave`: two of the threads end before."""
    functions = "".join(
        f".func (.param .b32 r) f{k}(.param .b32 a) {{ .reg .b32 %x; ld.param.b32 %x, [a]; "
        f"mad.lo.u32 %x, %x, {2 * k + 3}, {k}; st.param.b32 [r], %x; ret; }}\n"
        for k in range(4)
    )
    body = (
        """    mov.u32 %r1, 0; mov.u32 %r2, %i;
"""
        + ("    setp.ge.u32 %p1, %i, 30; @%p1 bra end;\n" if leave else "")
        + """next:
    add.u32 %r3, %i, %r1; mul.lo.u32 %r3, %r3, 7; shr.u32 %r3, %r3, 1; and.b32 %r3, %r3, 3;
    mul.wide.u32 %a1, %r3, 8; mov.u64 %a2, table; add.u64 %a1, %a1, %a2; ld.global.u64 %a3, [%a1];
    {
    .param .b32 a; .param .b32 r; st.param.b32 [a], %r2;
    any: .callprototype (.param .b32 _) _ (.param .b32 _);
    call (r), %a3, (a), any; ld.param.b32 %r2, [r];
    }
    add.u32 %r1, %r1, 1; setp.lt.u32 %p2, %r1, 3; @%p2 bra next;
"""
        + narrow(0, "%r2")
        + "end:\n"
    )
    return Program(f"{functions}.global .u64 table[4] = {{f0, f1, f2, f3}};", body, "6.0", target)


STEPS = 9
"""Of `wander`."""
FACTORS = tuple((2 * k + 3, k) for k in range(4))
"""What the four functions of `wander` multiply by and add."""
FUNCTIONS = "".join(
    f".func (.param .b32 r) f{k}(.param .b32 a) {{ .reg .b32 %x; ld.param.b32 %x, [a]; "
    f"mad.lo.u32 %x, %x, {factor}, {more}; st.param.b32 [r], %x; ret; }}\n"
    for k, (factor, more) in enumerate(FACTORS)
)
TABLE = f"{FUNCTIONS}.global .u64 table[4] = {{f0, f1, f2, f3}};"
CALL = """    mul.wide.u32 %a1, %r3, 8; mov.u64 %a2, table; add.u64 %a1, %a1, %a2; ld.global.u64 %a3, [%a1];
    {
    .param .b32 a; .param .b32 r; st.param.b32 [a], %r2;
    any: .callprototype (.param .b32 _) _ (.param .b32 _);
    call (r), %a3, (a), any; ld.param.b32 %r2, [r];
    }
"""
BRANCH = "    ways: .branchtargets w0, w1, w2, w3;\n    brx.idx %r3, ways;\n" + "".join(
    f"w{k}: mad.lo.u32 %r2, %r2, {factor}, {more}; bra.uni met;\n" for k, (factor, more) in enumerate(FACTORS)
) + "met:\n"  # fmt: skip
"""What the call does, by a branch."""


def wander(target: str, way: str = CALL, chosen: str = "%r2", level: int | None = None) -> Program:
    """As many steps for every thread, which nothing but their counter counts; in each, a thread goes the way
    that its value (or what else is `chosen`) chooses out of four, which changes the value."""
    body = f"""    ld.param.u32 %r4, [last]; mov.u32 %r1, -{STEPS}; mov.u32 %r2, %i;
next:
    setp.ge.s32 %p2, %r1, %r4; @%p2 bra end;
    shr.u32 %r3, {chosen}, 1; and.b32 %r3, %r3, 3;
{way}    add.u32 %r1, %r1, 1; bra.uni next;
end:
""" + narrow(0, "%r2")
    return Program(TABLE, body, "6.0", target, parameters=", .param .b64 last", level=level)


def meeting(target: str, way: str = CALL) -> Program:
    """Which lanes vote together after each thread went one of four ways."""
    body = f"    mov.u32 %r2, %i; and.b32 %r3, %i, 3;\n{way}    vote.ballot.b32 %r4, 1;\n"
    return Program(TABLE, body + narrow(0, "%r2") + narrow(1, "%r4"), "6.0", target)


def wandered(thread: int) -> list[int]:
    """The values of a thread in `wander`, from the first to the last."""
    values = [thread]
    for _ in range(STEPS):
        factor, more = FACTORS[values[-1] >> 1 & 3]
        values.append((values[-1] * factor + more) % 2**32)
    return values


# ---------------------------------------------------------------- addresses

SPACES = ("global", "const", "shared", "local", "param")


def spaces(space: str) -> Program:
    """Into which state spaces the generic address of a variable falls; whether conversion changes it."""
    declared = {
        "global": ".global .align 8 .b64 v = 5;", "const": ".const .align 8 .b64 v = 5;",
        "shared": ".shared .align 8 .b64 v;",
    }.get(space, "")  # fmt: skip
    body = "    .local .align 8 .b64 v; st.local.u64 [v], %out;\n" if space == "local" else ""
    body += f"    mov.u64 %a1, v; cvta.{space}.u64 %a2, %a1; cvta.to.{space}.u64 %a3, %a2;\n"
    body += "    setp.eq.u64 %p1, %a1, %a3;\n" + truth(0, "%p1")
    body += "".join(f"    isspacep.{s} %p1, %a2;\n" + truth(i, "%p1") for i, s in enumerate(SPACES, 1))
    body += "    setp.eq.u64 %p1, %a1, %a2;\n" + truth(6, "%p1")
    extra = ", .param .b64 v" if space == "param" else ""
    return Program(declared, body, parameters=extra)


NUMBERS: tuple[tuple[str, int], ...] = (
    *(("", n) for n in (0, 1, 8, 4095, 2**16, 2**31, 2**32 - 1, 2**32)),
    *(("", 2**n - 1) for n in (40, 47, 48, 49, 52, 56, 57, 63, 64)),
    *(("", 2**n) for n in (40, 47, 48, 49, 52, 56, 57, 63)),
    *(("", 2**64 - 2**n) for n in (8, 32, 47, 48, 49, 56, 57)),
)
"""Addresses for `scattered`: of what (nothing), and how far from there."""

PLACES: tuple[tuple[str, int], ...] = (
    *(("shared", n) for n in (0, 255, -1, 256, 2**14, 2**18, 2**24 - 1, 2**24, 2**32 - 1, 2**32)),
    *(("local", n) for n in (0, 63, -1, -(2**10), 64, 2**18, 2**24 - 1, 2**24, 2**32 - 1, 2**32)),
    *(("global", n) for n in (0, 2**63, 2**57, 2**48, -(2**40))),
    *(("const", n) for n in (0, 15, 2**20)),
    *(("param", n) for n in (0, 7, -1, 2**20)),
)
"""Likewise, from the first variable of a state space on."""

PLACED = """    .local .align 8 .b8 lv[64]; st.local.u64 [lv], %out;
    cvta.shared.u64 %a1, sv; cvta.local.u64 %a2, lv; cvta.global.u64 %a3, gv; cvta.const.u64 %a4, cv;
    cvta.param.u64 %a5, v;
"""
BASES = {"shared": "%a1", "local": "%a2", "global": "%a3", "const": "%a4", "param": "%a5"}


def scattered(addresses: tuple[tuple[str, int], ...], before: str = "") -> Program:
    """Into which state spaces an address falls: another one for each thread."""
    assert len(addresses) == THREADS
    declared = ".global .align 8 .b64 gv = 5; .const .align 8 .b64 cv[2] = {5, 6};"
    declared += " .shared .align 8 .b8 sv[256];"
    body = before + "    mov.u64 %a6, 0;\n"
    for i, (base, distance) in enumerate(addresses):
        far = f"{distance % 2**64:#x}"
        put = f"add.u64 %a6, {BASES[base]}, {far};" if base else f"mov.u64 %a6, {far};"
        body += f"    setp.eq.u32 %p1, %i, {i}; @%p1 {put}\n"
    body += "".join(f"    isspacep.{s} %p1, %a6;\n" + truth(i, "%p1") for i, s in enumerate(SPACES))
    return Program(declared, body, parameters=", .param .b64 v")


INITIAL = Program(
    """.global .align 4 .b32 g[4] = {1, 2, 3, 4};
.const .align 4 .b32 c[4] = {5, 6, 7, 8};
.global .u32 low[2] = {g, g+4};
.const .u64 wide[4] = {g+4, generic(g)+4, c, generic(c)+8};""",
    """    mov.u64 %a1, g; cvt.u32.u64 %r1, %a1; ld.global.u32 %r2, [low]; setp.eq.u32 %p1, %r1, %r2;
""" + truth(0, "%p1") + """    ld.global.u32 %r3, [low+4]; sub.u32 %r3, %r3, %r2;
""" + narrow(1, "%r3") + """    ld.const.u64 %a2, [wide]; ld.global.u32 %r4, [%a2];
""" + narrow(2, "%r4") + """    ld.const.u64 %a2, [wide+8]; ld.u32 %r4, [%a2];
""" + narrow(3, "%r4") + """    ld.const.u64 %a2, [wide+16]; ld.const.u32 %r4, [%a2];
""" + narrow(4, "%r4") + """    ld.const.u64 %a2, [wide+24]; ld.u32 %r4, [%a2];
""" + narrow(5, "%r4"),
)  # fmt: skip

ALIGNED = Program(
    ".global .align 1 .b8 x[3]; .global .align 512 .b8 g[3]; .shared .align 1 .b8 y[3];\n"
    ".shared .align 256 .b8 s[3];",
    "    .local .align 1 .b8 z[3]; .local .align 256 .b8 l[8];\n"
    "    mov.u64 %a1, g; and.b64 %a1, %a1, 511;\n" + word(0, "%a1")
    + "    mov.u64 %a1, s; and.b64 %a1, %a1, 255;\n" + word(1, "%a1")
    + "    mov.u64 %a1, l; cvta.local.u64 %a2, %a1; and.b64 %a1, %a1, 255; and.b64 %a2, %a2, 255;\n"
    + word(2, "%a1") + word(3, "%a2"),
)  # fmt: skip

ALLOCATED = Program(
    """.func (.param .b64 r) use(.param .b64 a, .param .b32 n)
{
    .reg .b64 %a, %b; .reg .b32 %n, %m, %x; .reg .pred %p;
    .param .b64 a1; .param .b32 n1; .param .b64 r1;
    ld.param.b64 %a, [a]; ld.param.b32 %n, [n];
    setp.eq.u32 %p, %n, 0; @%p bra end;
    alloca.u64 %b, 24, 16; and.b64 %a, %b, 15; st.local.u32 [%b+20], %n; sub.u32 %m, %n, 1;
    st.param.b64 [a1], %a; st.param.b32 [n1], %m; call (r1), use, (a1, n1); ld.param.b64 %a, [r1];
    ld.local.u32 %x, [%b+20]; cvt.u64.u32 %b, %x; add.u64 %a, %a, %b;
end:
    st.param.b64 [r], %a; ret;
}""",
    """    stacksave.u64 %a1; alloca.u64 %a2, 40; stackrestore.u64 %a1; alloca.u64 %a3, 40;
    setp.eq.u64 %p1, %a2, %a3;
""" + truth(0, "%p1") + """    and.b64 %a4, %a2, 7;
""" + word(1, "%a4") + """    alloca.u64 %a5, 100, 64; and.b64 %a6, %a5, 63;
""" + word(2, "%a6") + """    cvta.local.u64 %a7, %a5; st.u64 [%a7+88], %o; ld.local.u64 %a8, [%a5+88];
""" + word(3, "%a8") + """    {
    .param .b64 a; .param .b32 n; .param .b64 r; and.b32 %r1, %i, 3;
    st.param.b64 [a], 0; st.param.b32 [n], %r1; call (r), use, (a, n); ld.param.b64 %a9, [r];
    }
""" + word(4, "%a9"),
)  # fmt: skip

PROGRAMS: dict[str, Program] = {
    **{f"parameter by {load}": pick(load) for load in ("ld.param.b32", "ld.local.b32", "ld.b32")},
    "parameter by cvta.local": pick("ld.b32", "cvta.local.u64 %a, %a;"),
    "parameter by cvta.param": pick("ld.b32", "cvta.param.u64 %a, %a;"),
    **{f"variadic by {load}": variadic(load) for load in ("ld.param.b32", "ld.local.b32", "ld.b32")},
    "variadic by cvta.local": variadic("ld.b32", "cvta.local.u64 %a, %a;"),
    "variadic by cvta.param": variadic("ld.b32", "cvta.param.u64 %a, %a;"),
    "large structures": LARGE,
    "call of nothing": NOWHERE,
    **{f"calls by each thread, {t}": dispatch(t, leave=False) for t in ("sm_20", "sm_60", "sm_70")},
    "calls after some threads left, sm_60": dispatch("sm_60", leave=True),
    **{f"wandering by calls, {t}": wander(t) for t in ("sm_20", "sm_60", "sm_70")},
    "wandering by calls, sm_60, not optimised": wander("sm_60", level=0),
    "wandering together by calls, sm_60": wander("sm_60", chosen="%r1"),
    "wandering by branches, sm_60": wander("sm_60", BRANCH),
    **{f"meeting after calls, {t}": meeting(t) for t in ("sm_60", "sm_70")},
    "meeting after branches, sm_60": meeting("sm_60", BRANCH),
    **{f"spaces of {space}": spaces(space) for space in SPACES},
    "spaces of numbers": scattered(NUMBERS),
    "spaces of places": scattered(PLACES, PLACED),
    "addresses as initial values": INITIAL,
    "alignment": ALIGNED,
    "allocations": ALLOCATED,
}
