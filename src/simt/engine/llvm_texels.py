"""Functions that fetch from textures of one kind, as LLVM IR.

`void simt_fetch(texture, coordinates, found, lanes)`: `texture` is the address of its `TextureSlot`s,
`coordinates` that of three columns of 32 lanes of 32 bits, x first, `found` that of four, of which those in
`lanes` (32 bits) are written. Whatever the coordinates are, no other memory is read than the array's.

Kernels call such functions by addresses that they find in a table (`llvm_textures.py`), so that they need not
be compiled again if something else is bound.
"""

from __future__ import annotations

from simt.analysis.shape import WARP
from simt.engine.abi import FETCH, TextureSlot
from simt.engine.llvm_builder import Builder, ModuleText, Value, spell
from simt.engine.llvm_float import LlvmAlgebra
from simt.isa.texels import Sampling, fetch
from simt.isa.texture import COMPONENTS
from simt.ptx.types import U64

_WORD = U64.bits
_EXTENTS = TextureSlot.WIDTH, TextureSlot.HEIGHT, TextureSlot.DEPTH


class LlvmTexels(LlvmAlgebra):
    """Columns of some lanes that read one texture."""

    def __init__(self, sampling: Sampling, module: ModuleText, features: frozenset[str]) -> None:
        super().__init__(Builder(), module, lanes_at_once(features), features)
        self.sampling = sampling

    def extent(self, axis: int) -> Value:
        return Value(f"%extent.{axis}", "i32")

    def texels(self, place: Value) -> tuple[Value, ...]:
        """Loaded lane by lane: all channels of a texel at once, if these are a power of two, in words of 64
        bits or less."""
        element, channels = self.sampling.element, self.sampling.channels
        whole = element.bits * channels
        word = element.bits if channels & (channels - 1) else min(_WORD, whole)
        column = self.vector(place)
        offsets = self.binary("mul", column, self.number(column.type, whole // 8))
        words = [Value("poison", f"i{word}", self.width) for _ in range(0, whole, word)]
        for lane in range(self.width):
            offset = self.builder.emit(f"extractelement {offsets.typed}, i64 {lane}")
            start = self.builder.emit(f"getelementptr i8, ptr %data, i64 {offset}")
            for i, collected in enumerate(words):
                at = self.builder.emit(f"getelementptr i8, ptr {start}, i64 {i * word // 8}")
                one = self.builder.emit(f"load i{word}, ptr {at}, align {element.bytes}")
                text = f"insertelement {collected.typed}, i{word} {one}, i64 {lane}"
                words[i] = self.emit(text, collected.type, self.width)
        return tuple(self._part(column, shift) for column in words for shift in range(0, word, element.bits))

    def _part(self, word: Value, shift: int) -> Value:
        """A channel, some bits above the last one."""
        bits = self.sampling.element.bits
        if shift:
            word = self.binary("lshr", word, self.number(word.type, shift))
        return word if word.type == f"i{bits}" else self.cast("trunc", f"i{bits}", word)


def lanes_at_once(features: frozenset[str]) -> int:
    """As many as vectors have elements of 32 bits."""
    return 16 if "avx512f" in features else 8


def fetch_text(sampling: Sampling, features: frozenset[str], attributes: str) -> str:
    """The LLVM module for a kind of textures, and a CPU with these features."""
    module = ModuleText(attributes)
    m = LlvmTexels(sampling, module, features)
    element = "i32" if sampling.integral else "float"
    columns = [_loaded(m, f"%coordinates.{axis}", element) for axis in range(sampling.axes)]
    active = Value("%active", "i1", m.width)
    for number, word in enumerate(fetch(m, sampling, columns)):
        kept = m.pick(active, m.vector(word), _loaded(m, f"%found.{number}", "i32"))
        m.builder.void(f"store {kept.typed}, ptr %found.{number}, align 4")
    module.define(FETCH, "\n".join([*_head(m), *m.builder.lines, *_tail(m)]))
    return str(module)


def _loaded(m: LlvmTexels, place: str, element: str) -> Value:
    return m.emit(f"load {spell(element, m.width)}, ptr {place}, align 4", element, m.width)


def _head(m: LlvmTexels) -> list[str]:
    """Up to the code for some lanes, which is passed by if none of them is to fetch."""
    return [
        f"define void @{FETCH}(ptr %texture, ptr %coordinates, ptr %found, i32 %lanes) "
        f"{m.module.attributes} {{",
        "entry:",
        *_loaded_slot("data", "ptr", TextureSlot.DATA),
        *(line for axis, slot in enumerate(_EXTENTS) for line in _loaded_slot(f"extent.{axis}", "i32", slot)),
        "  br label %some",
        "some:",
        "  %first = phi i32 [ 0, %entry ], [ %next, %after ]",
        "  %shifted = lshr i32 %lanes, %first",
        f"  %bits = trunc i32 %shifted to i{m.width}",
        f"  %none = icmp eq i{m.width} %bits, 0",
        "  br i1 %none, label %after, label %fetch",
        "fetch:",
        f"  %active = bitcast i{m.width} %bits to <{m.width} x i1>",
        *(line for axis in range(len(_EXTENTS)) for line in _column("coordinates", axis)),
        *(line for number in range(COMPONENTS) for line in _column("found", number)),
    ]


def _loaded_slot(name: str, kind: str, slot: int) -> list[str]:
    return [
        f"  %{name}.p = getelementptr i64, ptr %texture, i64 {slot}",
        f"  %{name} = load {kind}, ptr %{name}.p, align 8",
    ]


def _column(columns: str, number: int) -> list[str]:
    """Where one of some columns has the present lanes."""
    name = f"%{columns}.{number}"
    return [
        f"  {name}.i = add i32 %first, {WARP * number}",
        f"  {name} = getelementptr i32, ptr %{columns}, i32 {name}.i",
    ]


def _tail(m: LlvmTexels) -> list[str]:
    return [
        "  br label %after",
        "after:",
        f"  %next = add i32 %first, {m.width}",
        f"  %more = icmp ult i32 %next, {WARP}",
        "  br i1 %more, label %some, label %done",
        "done:",
        "  ret void",
        "}",
    ]
