"""Texture look-up in kernels as LLVM IR.

A function of the runtime finds out which textures lanes read, and calls for each of them what fetches from it
(`llvm_texels.py`).
"""

from __future__ import annotations

from simt.analysis.shape import WARP
from simt.engine.abi import BoundSlot, FaultKind, LaunchSlot, TableSlot, TextureSlot, slot_count
from simt.engine.llvm_algebra import element_type
from simt.engine.llvm_builder import ModuleText, Value
from simt.engine.llvm_memory import MemoryAlgebra
from simt.engine.llvm_runtime import fault
from simt.isa.texture import COMPONENTS, DIMENSIONS
from simt.ptx.types import U64, Type, unsigned

AXES = max(DIMENSIONS.values())


class TextureAlgebra(MemoryAlgebra):
    """`MemoryAlgebra` with textures."""

    def texture(
        self, geometry: str, result: Type, coordinate: Type, texture: Value, coordinates: tuple[Value, ...]
    ) -> tuple[Value, Value, Value, Value]:
        ways = self.module.fetches
        slot = TextureSlot.FETCH + ways.setdefault((geometry, coordinate.name), len(ways))
        self.asked = True
        self._need_computed()
        handles = self.spilled(self.vector(self.resize(unsigned(int(texture.type[1:])), U64, texture)))
        given, found = self.buffer("i32", AXES * WARP), self.buffer("i32", COMPONENTS * WARP)
        for axis, column in enumerate(coordinates):
            place = self.builder.emit(f"getelementptr i32, ptr {given}, i64 {axis * WARP}")
            self.builder.void(f"store {self.vector(column).typed}, ptr {place}, align 64")
        self.go_on_if(
            self.builder.emit(
                f"call i1 {look_up(self.module)}(ptr {self.launch}, ptr {self.worker}, ptr {handles}, "
                f"{self.mask_bits(self.mask).typed}, i64 {self.line}, i64 {slot}, ptr {given}, ptr {found})"
            )
        )
        x, y, z, w = (self._component(found, i, element_type(result)) for i in range(COMPONENTS))
        return x, y, z, w

    def _component(self, found: str, number: int, element: str) -> Value:
        place = self.builder.emit(f"getelementptr i32, ptr {found}, i64 {number * WARP}")
        return self.emit(f"load <{WARP} x {element}>, ptr {place}, align 64", element, WARP)


def look_up(module: ModuleText) -> str:
    """`i1 texture(launch, worker, handles, mask, line, slot, coordinates, found)`: fetches for the active
    lanes, each from the texture at its handle (i64). `slot`: where a texture has the function. False if a
    fault was recorded, as nothing is bound to a handle."""
    name = "simt.texture"
    if module.has(name):
        return f"@{name}"
    lines = [
        f"define internal i1 @{name}(ptr %launch, ptr %worker, ptr %handles, i32 %mask, i64 %line, "
        f"i64 %slot, ptr %coordinates, ptr %found) noinline {module.attributes} {{",
        "entry:",
        f"  %table.p = getelementptr i64, ptr %launch, i64 {LaunchSlot.TEXTURES}",
        "  %table = load ptr, ptr %table.p, align 8",
        f"  %count.p = getelementptr i64, ptr %table, i64 {TableSlot.COUNT}",
        "  %count = load i64, ptr %count.p, align 8",
        "  br label %next",
        "next:",
        "  %left = phi i32 [ %mask, %entry ], [ %rest, %fetch ]",
        "  %none = icmp eq i32 %left, 0",
        "  br i1 %none, label %done, label %one",
        *_found(),
        *_fetched(),
        "unknown:",
        f"  call void {fault(module)}(ptr %launch, ptr %worker, i64 {FaultKind.TEXTURE}, i64 %line, "
        "i64 %handle, i64 %lane, i64 0, i64 0)",
        "  ret i1 false",
        "done:",
        "  ret i1 true",
        "}",
    ]
    module.declare("llvm.cttz.i32", "i32", ("i32", "i1"))
    module.define(name, "\n".join(lines))
    return f"@{name}"


def _found() -> list[str]:
    """The first lane's texture, one after the other of the table."""
    return [
        "one:",
        "  %lane.32 = call i32 @llvm.cttz.i32(i32 %left, i1 true)",
        "  %lane = zext i32 %lane.32 to i64",
        "  %handle.p = getelementptr i64, ptr %handles, i64 %lane",
        "  %handle = load i64, ptr %handle.p, align 8",
        "  br label %look",
        "look:",
        "  %number = phi i64 [ 0, %one ], [ %number.next, %compare ]",
        "  %is.left = icmp ult i64 %number, %count",
        "  br i1 %is.left, label %compare, label %unknown",
        "compare:",
        f"  %skipped = mul i64 %number, {slot_count(BoundSlot)}",
        f"  %at = add i64 %skipped, {TableSlot.BOUND}",
        "  %bound = getelementptr i64, ptr %table, i64 %at",
        f"  %known.p = getelementptr i64, ptr %bound, i64 {BoundSlot.HANDLE}",
        "  %known = load i64, ptr %known.p, align 8",
        "  %is.it = icmp eq i64 %known, %handle",
        "  %number.next = add i64 %number, 1",
        "  br i1 %is.it, label %fetch, label %look",
    ]


def _fetched() -> list[str]:
    """What it gives to all lanes with the same handle."""
    column = f"<{WARP} x i64>"
    return [
        "fetch:",
        f"  %all = load {column}, ptr %handles, align 64",
        f"  %one.v = insertelement {column} poison, i64 %handle, i64 0",
        f"  %same.v = shufflevector {column} %one.v, {column} poison, <{WARP} x i32> zeroinitializer",
        f"  %same = icmp eq {column} %all, %same.v",
        f"  %same.bits = bitcast <{WARP} x i1> %same to i32",
        "  %lanes = and i32 %left, %same.bits",
        "  %others = xor i32 %same.bits, -1",
        "  %rest = and i32 %left, %others",
        f"  %texture.p = getelementptr i64, ptr %bound, i64 {BoundSlot.TEXTURE}",
        "  %texture = load ptr, ptr %texture.p, align 8",
        "  %function.p = getelementptr i64, ptr %texture, i64 %slot",
        "  %function = load ptr, ptr %function.p, align 8",
        "  call void %function(ptr %texture, ptr %coordinates, ptr %found, i32 %lanes)",
        "  br label %next",
    ]
