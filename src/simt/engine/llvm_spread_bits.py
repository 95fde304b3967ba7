"""Masks that come from integers, where the CPU has no registers for masks (no AVX-512BW).

A mask that is kept over a barrier, or comes from a caller, is an integer: `bitcast i32 %bits to <32 x i1>`,
or with the load of the integer a load of a mask. Unless all that follows is a choice, LLVM takes each bit out
by itself there: 100 instructions and more on x86 without AVX-512. A lane has its bit if the integer, in every
lane, has it in common with the lane's power of two: an `and` and a comparison for each register, and the mask
is where comparisons leave theirs.

That is written into the code that LLVM's passes leave: before, they would no longer see that a mask which is
made an integer and a mask again is the same one. (What large functions do themselves, LLVM selects quickly,
and not for speed: they are left as they are.)
"""

from __future__ import annotations

import re

NEEDLESS = frozenset({"avx512bw"})
"""CPUs with these have registers of a bit for each lane."""
_WIDTHS = "32|16|8"
_LOADED = re.compile(
    rf"^  (?P<name>%[\w.]+) = load (?P<how>volatile )?<(?P<width>{_WIDTHS}) x i1>(?P<rest>, .*)$",
    re.MULTILINE,
)
_OF_BITS = re.compile(
    rf"^  (?P<name>%[\w.]+) = bitcast i(?P<width>{_WIDTHS}) (?P<bits>\S+) to <(?P=width) x i1>$", re.MULTILINE
)
_NAME = re.compile(r"%[\w.]+")
_BIT_BY_BIT = re.compile(
    r"@llvm\.masked\.(?:gather|scatter|(?:load|store)\.v\d+i(?:8|16)\.)"
    r"|= bitcast <\d+ x i1>|= select <\d+ x i1> %[\w.]+, <\d+ x i8>"
)
"""What looks at a mask's bits one by one, or is made of it well as it is."""
_EMITTED = re.compile(
    rf" = bitcast i\d+ \S+ to <(?:{_WIDTHS}) x i1>$| = load (?:volatile )?<\d+ x i1>, ptr %v\d", re.MULTILINE
)
"""The same before LLVM's passes, which leave nothing of masks in slots of a function's own."""


def has_masks_of_bits(text: str) -> bool:
    """Whether code as it was emitted has masks of integers, or of memory."""
    return _EMITTED.search(text) is not None


def with_spread_bits(text: str) -> str:
    """LLVM's code of a module, with masks of integers as comparisons."""
    text = _LOADED.sub(_as_integer, text)
    if _OF_BITS.search(text) is None:
        return text
    return "\n}\n".join(map(_function, text.split("\n}\n")))


def _as_integer(found: re.Match[str]) -> str:
    name, width = found["name"], found["width"]
    bits = f"%bits.{name[1:]}"
    return (
        f"  {bits} = load {found['how'] or ''}i{width}{found['rest']}\n"
        f"  {name} = bitcast i{width} {bits} to <{width} x i1>"
    )


def _function(text: str) -> str:
    masks = {found["name"]: f"%spread.{found['name'][1:]}" for found in _OF_BITS.finditer(text)}
    if not masks:
        return text
    lines = list[str]()
    for line in text.split("\n"):
        found = _OF_BITS.fullmatch(line)
        if found is not None:
            lines += [line, *_comparison(found, masks[found["name"]])]
        elif " x i1> " in line and _BIT_BY_BIT.search(line) is None:
            lines.append(_NAME.sub(lambda name: masks.get(name[0], name[0]), line))
        else:
            lines.append(line)
    return "\n".join(lines)


def _comparison(found: re.Match[str], name: str) -> list[str]:
    """The mask as lanes of comparisons, which nobody may need."""
    width, bits = int(found["width"]), found["bits"]
    column, powers = f"<{width} x i32>", ", ".join(f"i32 {1 << lane}" for lane in range(width))
    lines = list[str]()
    if width < 32:
        lines, bits = [f"  {name}.wide = zext i{width} {bits} to i32"], f"{name}.wide"
    return [
        *lines,
        f"  {name}.first = insertelement {column} poison, i32 {bits}, i64 0",
        f"  {name}.all = shufflevector {column} {name}.first, {column} poison, {column} zeroinitializer",
        f"  {name}.had = and {column} {name}.all, <{powers}>",
        f"  {name} = icmp ne {column} {name}.had, zeroinitializer",
    ]
