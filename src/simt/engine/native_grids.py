"""Grids and blocks of launches that are made once more, as LLVM IR: whether a shape of Python's is the known
one, and what another grid is."""

from __future__ import annotations

from simt.engine.abi import LaunchSlot, RepeatSlot
from simt.engine.native_fibers import field
from simt.machine.launch import GRID_CELL

TYPE_AT = object.__basicsize__ - 8
COUNT_AT = object.__basicsize__
"""Where the number of a tuple's items is."""
ITEMS_AT = tuple.__basicsize__
LIST_ITEMS_AT = tuple.__basicsize__
"""Where the address of a list's items is."""


def same_shape() -> list[str]:
    """Whether a shape is the known one: the same object, an equal integer, or a tuple of such."""
    return [
        "define internal i1 @same.shape(i64 %a, i64 %b, ptr %slots) {",
        "entry:",
        "  %same = call i1 @same.number(i64 %a, i64 %b, ptr %slots)",
        "  br i1 %same, label %yes, label %types",
        "types:",
        *_types_of_both(RepeatSlot.TUPLE),
        "  br i1 %both, label %sizes, label %no",
        "sizes:",
        *(line for x in "ab" for line in (
            f"  %size.{x}.p = getelementptr i8, ptr %{x}.p, i64 {COUNT_AT}",
            f"  %size.{x} = load i64, ptr %size.{x}.p, align 8",
            f"  %items.{x} = getelementptr i8, ptr %{x}.p, i64 {ITEMS_AT}",
        )),
        "  %as.many = icmp eq i64 %size.a, %size.b",
        "  br i1 %as.many, label %items, label %no",
        "items:",
        "  %i = phi i64 [ 0, %sizes ], [ %i.next, %item ]",
        "  %more = icmp ult i64 %i, %size.a",
        "  br i1 %more, label %item, label %yes",
        "item:",
        *(line for x in "ab" for line in (
            f"  %item.{x}.p = getelementptr i64, ptr %items.{x}, i64 %i",
            f"  %item.{x} = load i64, ptr %item.{x}.p, align 8",
        )),
        "  %i.next = add i64 %i, 1",
        "  %alike = call i1 @same.number(i64 %item.a, i64 %item.b, ptr %slots)",
        "  br i1 %alike, label %items, label %no",
        "yes:",
        "  ret i1 true",
        "no:",
        "  ret i1 false",
        "}",
    ]  # fmt: skip


def same_number() -> list[str]:
    """Whether two objects are the same, or equal integers of Python's that are not too large."""
    return [
        "define internal i1 @same.number(i64 %a, i64 %b, ptr %slots) {",
        "entry:",
        "  %itself = icmp eq i64 %a, %b",
        "  br i1 %itself, label %yes, label %types",
        "types:",
        *_types_of_both(RepeatSlot.INTEGER),
        "  br i1 %both, label %ask, label %no",
        "ask:",
        *field("%slots", RepeatSlot.AS_NUMBER, "as.number", "ptr"),
        "  %value.a = call i64 %as.number(i64 %a)",
        "  %value.b = call i64 %as.number(i64 %b)",
        "  %equal = icmp eq i64 %value.a, %value.b",
        "  %known = icmp sge i64 %value.b, 0",
        "  %is.wild = icmp slt i64 %value.a, 0",
        "  br i1 %is.wild, label %wild, label %told",
        "wild:",
        *field("%slots", RepeatSlot.CLEAR, "clear", "ptr"),
        "  call void %clear()",
        "  br label %no",
        "told:",
        "  %good = and i1 %equal, %known",
        "  ret i1 %good",
        "yes:",
        "  ret i1 true",
        "no:",
        "  ret i1 false",
        "}",
    ]


def _type_of(name: str, slot: int) -> list[str]:
    """i1 `%name.is`: whether an object has a type of Python's. `%name.p` is its address."""
    return [
        *field("%slots", slot, f"{name}.wanted"),
        f"  %{name}.p = inttoptr i64 %{name} to ptr",
        f"  %{name}.type.p = getelementptr i8, ptr %{name}.p, i64 {TYPE_AT}",
        f"  %{name}.type = load i64, ptr %{name}.type.p, align 8",
        f"  %{name}.is = icmp eq i64 %{name}.type, %{name}.wanted",
    ]


def _types_of_both(slot: int) -> list[str]:
    """i1 `%both`: the objects `%a` and `%b` have it."""
    return [*_type_of("a", slot), *_type_of("b", slot), "  %both = and i1 %a.is, %b.is"]


def other_grid() -> list[str]:
    """`other.grid(given, slots, extents)`: whether a grid other than the known one may take its place: one of
    Python's integers, or a tuple of one to three of them. Writes its three extents."""
    return [
        "define internal i1 @other.grid(i64 %a, ptr %slots, ptr %extents) {",
        "entry:",
        *field("%slots", RepeatSlot.MOST, "most.x"),
        "  %allowed = icmp ne i64 %most.x, 0",
        "  br i1 %allowed, label %types, label %no",
        "types:",
        "  store [3 x i64] [ i64 1, i64 1, i64 1 ], ptr %extents, align 8",
        *_type_of("a", RepeatSlot.TUPLE),
        "  br i1 %a.is, label %sizes, label %number",
        "number:",
        "  %only = call i1 @extent(i64 %a, ptr %slots, i64 0, ptr %extents)",
        "  br i1 %only, label %ctas, label %no",
        "sizes:",
        f"  %size.p = getelementptr i8, ptr %a.p, i64 {COUNT_AT}",
        "  %size = load i64, ptr %size.p, align 8",
        f"  %items = getelementptr i8, ptr %a.p, i64 {ITEMS_AT}",
        "  %any = icmp ne i64 %size, 0",
        "  %few = icmp ule i64 %size, 3",
        "  %fits = and i1 %any, %few",
        "  br i1 %fits, label %item, label %no",
        "item:",
        "  %i = phi i64 [ 0, %sizes ], [ %i.next, %next ]",
        "  %item.p = getelementptr i64, ptr %items, i64 %i",
        "  %object = load i64, ptr %item.p, align 8",
        "  %good = call i1 @extent(i64 %object, ptr %slots, i64 %i, ptr %extents)",
        "  br i1 %good, label %next, label %no",
        "next:",
        "  %i.next = add i64 %i, 1",
        "  %more = icmp ult i64 %i.next, %size",
        "  br i1 %more, label %item, label %ctas",
        "ctas:",
        *(line for i, c in enumerate("xyz") for line in field("%extents", i, f"extent.{c}")),
        "  %ctas.xy = mul i64 %extent.x, %extent.y",
        "  %ctas.all = mul i64 %ctas.xy, %extent.z",  # less than 2**63, by the limits of devices
        *field("%slots", RepeatSlot.LEAST_CTAS, "least"),
        *field("%slots", RepeatSlot.MOST_CTAS, "most"),
        "  %enough = icmp uge i64 %ctas.all, %least",
        "  %not.many = icmp ule i64 %ctas.all, %most",
        "  %taken = and i1 %enough, %not.many",
        "  ret i1 %taken",
        "no:",
        "  ret i1 false",
        "}",
        *_extent(),
    ]


def _extent() -> list[str]:
    """`extent(object, slots, axis, extents)`: whether one of Python's integers may be an extent; it is
    written."""
    return [
        "define internal i1 @extent(i64 %a, ptr %slots, i64 %axis, ptr %extents) {",
        "entry:",
        *_type_of("a", RepeatSlot.INTEGER),
        "  br i1 %a.is, label %ask, label %no",
        "ask:",
        *field("%slots", RepeatSlot.AS_NUMBER, "as.number", "ptr"),
        "  %value = call i64 %as.number(i64 %a)",
        f"  %most.i = add i64 %axis, {RepeatSlot.MOST}",
        "  %most.p = getelementptr i64, ptr %slots, i64 %most.i",
        "  %most = load i64, ptr %most.p, align 8",
        "  %less = sub i64 %value, 1",
        "  %fits = icmp ult i64 %less, %most",
        "  br i1 %fits, label %yes, label %wild",
        "yes:",
        "  %extent.p = getelementptr i64, ptr %extents, i64 %axis",
        "  store i64 %value, ptr %extent.p, align 8",
        "  ret i1 true",
        "wild:",
        *field("%slots", RepeatSlot.CLEAR, "clear", "ptr"),
        "  call void %clear()",
        "  br label %no",
        "no:",
        "  ret i1 false",
        "}",
    ]


def set_grid() -> list[str]:
    """`set.grid(launch, cells, slots, extents)` writes a grid where compiled code and Python read it, as
    `Prepared.begin` does. The last launch's is there."""
    names = "x", "y", "z"
    first = int(LaunchSlot.GRID_X)
    return [
        "define internal void @set.grid(ptr %launch, ptr %cells, ptr %slots, ptr %extents) {",
        "entry:",
        *(
            line
            for i, c in enumerate(names)
            for line in (
                *field("%extents", i, f"new.{c}"),
                *field("%launch", first + i, f"old.{c}"),
                f"  %same.{c} = icmp eq i64 %new.{c}, %old.{c}",
            )
        ),
        "  %same.xy = and i1 %same.x, %same.y",
        "  %same = and i1 %same.xy, %same.z",
        "  br i1 %same, label %end, label %write",
        "write:",
        "  %ctas.xy = mul i64 %new.x, %new.y",
        "  %ctas.all = mul i64 %ctas.xy, %new.z",
        *field("%slots", RepeatSlot.PARTS, "parts"),
        "  %whole = icmp eq i64 %parts, 0",
        "  %divisor = select i1 %whole, i64 1, i64 %parts",
        "  %part = udiv i64 %ctas.all, %divisor",
        "  %none = icmp eq i64 %part, 0",
        "  %chunk = select i1 %none, i64 1, i64 %part",
        *field("%launch", LaunchSlot.RANGES, "ranges"),
        "  %ranges.less = sub i64 %ranges, 1",
        "  %ctas.up = add i64 %ctas.all, %ranges.less",
        "  %range = udiv i64 %ctas.up, %ranges",
        *(
            line
            for i, c in enumerate(names)
            for line in (
                f"  store i64 %new.{c}, ptr %old.{c}.p, align 8",
                f"  %cell.{c} = getelementptr i64, ptr %cells, i64 {GRID_CELL + i}",
                f"  store i64 %new.{c}, ptr %cell.{c}, align 8",
            )
        ),
        *(
            line
            for slot, value in (
                (LaunchSlot.CTAS, "%ctas.all"),
                (LaunchSlot.CHUNK, "%chunk"),
                (LaunchSlot.RANGE, "%range"),
                (LaunchSlot.GRID_COLUMNS, "%new.x"),
            )
            for line in (
                f"  %slot.{slot} = getelementptr i64, ptr %launch, i64 {slot}",
                f"  store i64 {value}, ptr %slot.{slot}, align 8",
            )
        ),
        "  br label %end",
        "end:",
        "  ret void",
        "}",
    ]
