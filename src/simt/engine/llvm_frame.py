"""The names that code of a warp uses, and how the functions that it calls come to know them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from simt.analysis.shape import WARP
from simt.engine.abi import LaunchSlot, WorkerSlot
from simt.engine.llvm_machine import WARP_FIRST
from simt.records import dataclass

COORDINATES = "i32 %cta.x, i32 %cta.y, i32 %cta.z, i32 %warp"
NAMES = ("ptr %launch", "ptr %worker", *COORDINATES.split(", "), "i64 %sp")
"""What all others are made of."""
FRAME = f"{{ {', '.join(name.split()[0] for name in NAMES)} }}"

_NAME = re.compile(r"%[\w.]+")


@dataclass(frozen=True, slots=True)
class Frame:
    """What functions get besides operands (typed names, the same in both functions), and the lines with which
    they begin."""

    parameters: tuple[str, ...]
    lines: list[str]

    def cut_to(self, lines: Sequence[str]) -> Frame:
        """What some lines of a function need of it."""
        used, kept = {name for line in lines for name in _NAME.findall(line)}, list[str]()
        for line in reversed(self.lines):
            made, _, text = line.strip().partition(" = ")
            if made in used:
                used.update(_NAME.findall(text))
                kept.append(line)
        return Frame(tuple(p for p in self.parameters if p.split()[1] in used), kept[::-1])


def load_slot(base: str, slot: int, name: str) -> list[str]:
    return [
        f"  %{name}.p = getelementptr i64, ptr {base}, i64 {slot}",
        f"  %{name} = load i64, ptr %{name}.p",
    ]


def environment() -> list[str]:
    """Names that all code of a function uses: see `simt.engine.llvm_memory.Region`."""
    return [
        *load_slot("%launch", LaunchSlot.BASE, "arena.base"),
        *load_slot("%launch", LaunchSlot.LIMIT, "arena.limit"),
        "  %arena.room = sub i64 %arena.limit, %arena.base",
        "  %arena.room1 = add i64 %arena.room, 1",
        *load_slot("%launch", LaunchSlot.SHARED_BYTES, "shared.bytes"),
        "  %shared.room1 = add i64 %shared.bytes, 1",
        *load_slot("%worker", WorkerSlot.SHARED, "shared.host"),
        "  %shared.start = inttoptr i64 %shared.host to ptr",
        *load_slot("%launch", LaunchSlot.LOCAL_BYTES, "local.bytes"),
        "  %local.room1 = add i64 %local.bytes, 1",
        f"  %local.warp = mul i64 %local.bytes, {WARP}",
        "  %woven.room1 = add i64 %local.warp, 1",
        *load_slot("%worker", WorkerSlot.LOCAL, "local.first"),
        *load_slot("%launch", LaunchSlot.PARAMETERS, "parameters"),
        *load_slot("%launch", LaunchSlot.SYMBOLS, "symbols"),
    ]


def local_of_warp() -> list[str]:
    return [
        f"  {WARP_FIRST} = mul i32 %warp, {WARP}",
        "  %warp.wide = zext i32 %warp to i64",
        "  %local.skip = mul i64 %local.warp, %warp.wide",
        "  %local.host = add i64 %local.first, %local.skip",
    ]


def passed() -> Frame:
    """Each name is an argument."""
    return Frame(NAMES, [*environment(), *local_of_warp()])


def in_memory() -> Frame:
    """One argument, the place where `kept` has put them: in large functions, all of them as arguments of
    thousands of calls would take LLVM's allocation of registers longer than anything else."""
    lines = [line for i, name in enumerate(NAMES) for line in (_place(i, name), _load(name))]
    return Frame(("ptr %frame",), [*lines, *environment(), *local_of_warp()])


def allocated() -> str:
    """The memory for `in_memory`."""
    return f"  %frame = alloca {FRAME}, align 64"


def kept() -> list[str]:
    """The names of a warp, put into that memory."""
    return [line for i, name in enumerate(NAMES) for line in (_place(i, name), _store(name))]


def _place(number: int, name: str) -> str:
    return f"  %frame.{name.split('%')[1]}.p = getelementptr {FRAME}, ptr %frame, i64 0, i32 {number}"


def _load(name: str) -> str:
    kind, text = name.split()
    return f"  {text} = load {kind}, ptr %frame.{text[1:]}.p"


def _store(name: str) -> str:
    return f"  store {name}, ptr %frame.{name.split('%')[1]}.p"


def whole(head: str, allocas: Sequence[str], lines: Sequence[str]) -> str:
    """A function that returns an i1: whether it went to `finished`, and not to `abort`, after a fault."""
    body = ["entry:", *allocas, *environment(), *lines]
    return "\n".join([f"{head} {{", *body, "finished:", "  ret i1 true", "abort:", "  ret i1 false", "}"])
