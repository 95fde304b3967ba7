"""Formats and arguments of device-side printf, for the recorder and for the test of what it recorded."""

from __future__ import annotations

import math
import struct
from pathlib import Path

RECORDED = Path(__file__).parent / "vectors" / "printf.json"
"""A list of [format, text, what `vprintf` returned], one for each case."""
PTX = """.version 6.0
.target sm_30
.address_size 64

.extern .func (.param .b32 count) vprintf (.param .b64 format, .param .b64 arguments);

.visible .entry print_packed(.param .u64 entries, .param .u64 results)
{
    .reg .u64 %a<6>;
    .reg .u32 %i, %cta, %size, %lane;
    .reg .s32 %n;
    mov.u32 %cta, %ctaid.x;
    mov.u32 %size, %ntid.x;
    mov.u32 %lane, %tid.x;
    mad.lo.u32 %i, %cta, %size, %lane;
    ld.param.u64 %a0, [entries];
    mad.wide.u32 %a1, %i, 16, %a0;
    ld.global.u64 %a2, [%a1];
    ld.global.u64 %a3, [%a1+8];
    {
        .param .b64 first;
        .param .b64 second;
        .param .b32 count;
        st.param.b64 [first], %a2;
        st.param.b64 [second], %a3;
        call.uni (count), vprintf, (first, second);
        ld.param.b32 %n, [count];
    }
    ld.param.u64 %a4, [results];
    mad.wide.u32 %a5, %i, 4, %a4;
    st.global.s32 [%a5], %n;
    exit;
}
"""
"""Every thread prints a format with its packed arguments, as the host laid them out."""


class Wide(int):
    """An argument of 8 bytes."""


Argument = int | float | str | None
"""An int has 4 bytes, None is a null pointer, a str is passed by its address."""
Case = tuple[str, tuple[Argument, ...]]

INTEGERS = (0, 1, -1, 42, -42, 2**31 - 1, -(2**31))
LONG = (0, 7, -7, 2**63 - 1, -(2**63), 123456789012)
FLOATS = (0.0, -0.0, 1.0, -2.5, 0.1, 1 / 3, 1e10, 1.5e-7, 123456.789, 1e300, 5e-324, 0.5, 1.5, 2.5)
SPECIAL = (math.inf, -math.inf, math.nan)


def simple_cases() -> list[Case]:
    cases: list[Case] = [("plain", ()), ("", ()), ("100%%\n", ()), ("%", ()), ("%5%|", ()), ("a%", ())]
    for flags in ("", "-", "+", " ", "0", "#", "-+", "0+", " 0", "#0", "-#"):
        for size in ("", "8", "08", "20", ".0", ".3", "8.3", "-8.5"):
            kinds = "diuxXo" if len(flags) < 2 else "dx"
            cases += [(f"<%{flags}{size}{k}>", (n,)) for k in kinds for n in (0, 42, -42)]
    cases += [(f"%{k}", (n,)) for k in "diuxXo" for n in INTEGERS]
    cases += [(f"%{w}{k}", (Wide(n),)) for w in ("l", "ll") for k in "diuxXo" for n in LONG]
    cases += [(f"%h{k}", (n,)) for k in "diux" for n in (3, -3, 70000)]
    return cases


def float_cases() -> list[Case]:
    cases: list[Case] = []
    for flags in ("", "-", "+", " ", "0", "#"):
        for size in ("", "12", "012", ".0", ".3", "12.3", ".17"):
            numbers = (1.0, -2.5, 0.1) if flags else (*FLOATS, *SPECIAL)
            cases += [(f"<%{flags}{size}{k}>", (x,)) for k in "feg" for x in numbers]
    cases += [(f"%{k}", (x,)) for k in "FEGaA" for x in (*FLOATS, *SPECIAL)]
    cases += [
        (f"<%{s}a>", (x,)) for s in (".0", ".1", ".2", "20", "020", "-20", "+", "#", ".14") for x in FLOATS
    ]
    cases += [(f"<%{s}{k}>", (x,)) for s in ("08", "+", " ", "-8") for k in "fega" for x in SPECIAL]
    return [*cases, ("%lf %Lf", (1.5, 2.5))]


def other_cases() -> list[Case]:
    strings = ("", "x", "some words", "ünïcödé")
    cases: list[Case] = [
        (f"<%{s}s>", (t,)) for s in ("", "8", "-8", ".3", "8.3", ".0", "08", "-20.4") for t in strings
    ]
    cases += [(f"<%{s}s>", (None,)) for s in ("", "10", ".3")]
    cases += [(f"<%{s}c>", (n,)) for s in ("", "5", "-5", "05", ".3") for n in (65, 126)]
    cases += [
        (f"<%{s}p>", (Wide(n),)) for s in ("", "20", "-20", "020", "+", "#") for n in (0x1234, 2**48 - 1)
    ]
    cases += [("%p", (None,)), ("<%*d>", (8, 42)), ("<%*d>", (-8, 42)), ("<%-*d>", (8, 42))]
    cases += [("<%.*d>", (3, 42)), ("<%.*d>", (-3, 42)), ("<%*.*f>", (9, 2, 1.25)), ("<%*s>", (6, "abc"))]
    cases += [
        ("<%.*s>", (2, "abc")),
        ("%d %s %f %c %lld", (1, "two", 3.0, 52, Wide(5))),
        ("%d%d%d", (1, 2, 3)),
    ]
    cases += [("%f %d %f %d", (1.0, 2, 3.0, 4)), ("%d %lld %d %f", (1, Wide(2), 3, 4.0)), ("%%%d%%", (5,))]
    cases += [
        ("%zu %jd %td", (Wide(7), Wide(8), Wide(9))),
        ("%y and %d", (5,)),
        ("%k%d", (5,)),
        ("%5y|", ()),
        ("%-", ()),
    ]
    cases += [
        ("%m|", ()),
        ("%'d|", (1234567,)),
        ("%I|", ()),
        ("%ld %hd|", (Wide(5), 6)),
        ("%5.|", ()),
        ("%l|", ()),
    ]
    return cases


def all_cases() -> list[Case]:
    return simple_cases() + float_cases() + other_cases()


def packed(case: Case, address: int) -> bytes:
    """Format, argument buffer (256 bytes on) and strings (512 bytes on), as they lie at `address`."""
    format, arguments = case
    buffer, strings = b"", b""
    for argument in arguments:
        kind, value = "i", argument
        if isinstance(argument, str):
            kind, value = "Q", address + 512 + len(strings)
            strings += argument.encode() + b"\0"
        elif argument is None or isinstance(argument, Wide):
            kind, value = "Q", (argument or 0) % 2**64
        elif isinstance(argument, float):
            kind = "d"
        buffer += b"\0" * (-len(buffer) % struct.calcsize(kind)) + struct.pack(kind, value)
    return (format.encode() + b"\0").ljust(256, b"\0") + buffer.ljust(256, b"\0") + strings
