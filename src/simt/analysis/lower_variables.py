"""Sizes, shapes and initial images of variables (sections 5.1.4 to 5.4)."""

from __future__ import annotations

import math

from simt.analysis.lower_constants import constant_bits, single_bits
from simt.analysis.program import ModuleVariable
from simt.ptx.nodes import FieldValue, Float, Initializer, InitializerList, Integer, SymbolValue, Variable
from simt.ptx.types import F64, Kind

Relocation = tuple[int, str, int, bool, int | None]


def round_up(value: int, align: int) -> int:
    return -(-value // align) * align


def element_bytes(node: Variable) -> int:
    """Bytes of one array element, vectors counted whole."""
    return node.type.bytes * node.vector


def alignment(node: Variable) -> int:
    """As declared, else the natural one of the element."""
    natural = 1 << (element_bytes(node) - 1).bit_length()
    return node.align if node.align else natural


def shape(node: Variable) -> tuple[int, ...]:
    """The dimensions; each `[]` takes its length from the initialiser, 0 without one (section 5.3.3)."""
    inner = tuple(
        _longest(node.initializer, depth) if length is None else length
        for depth, length in enumerate(node.dimensions[1:], 1)
    )
    if not node.dimensions or node.dimensions[0] is not None:
        return (*(d or 0 for d in node.dimensions[:1]), *inner)
    return (_inferred(node, math.prod(inner)), *inner)


def _longest(initializer: Initializer | None, depth: int) -> int:
    """Elements of the longest list that lies inside so many others."""
    lists = [initializer] if isinstance(initializer, InitializerList) else []
    for _ in range(depth):
        lists = [e for around in lists for e in around.elements if isinstance(e, InitializerList)]
    return max((len(found.elements) for found in lists), default=0)


def _inferred(node: Variable, stride: int) -> int:
    if not isinstance(node.initializer, InitializerList):
        return 0
    elements = node.initializer.elements
    scalars = sum(not isinstance(e, InitializerList) for e in elements)
    per_row = stride * node.vector
    return len(elements) - scalars + (-(-scalars // per_row) if per_row else 0)


def size(node: Variable) -> int:
    """Bytes of a variable."""
    return math.prod(shape(node)) * element_bytes(node)


def module_variable(node: Variable, name: str, single: bool = False) -> ModuleVariable:
    """A module-scope variable with its image and relocations. `single`: doubles are single precision."""
    nbytes = size(node)
    plain = node.initializer is not None and node.type.kind is not Kind.OPAQUE
    image = _Image(node, nbytes, single) if plain else None
    return ModuleVariable(
        name, node.space, node.type, nbytes, alignment(node), bytes(image.data) if image else None,
        tuple(image.relocations) if image else (), node.linkage, shape(node), node.vector,
    )  # fmt: skip


class _Image:
    """The bytes of an initialiser, filled row by row."""

    def __init__(self, node: Variable, nbytes: int, single: bool) -> None:
        self.type = node.type
        self.bytes = node.type.bytes
        self.single = single and node.type is F64
        self.data = bytearray(nbytes)
        self.relocations: list[Relocation] = []
        vector = (node.vector,) if node.vector > 1 else ()
        assert node.initializer is not None
        self._put(node.initializer, 0, (*shape(node), *vector))

    def _put(self, value: Initializer, position: int, dimensions: tuple[int, ...]) -> None:
        """Writes a value at an element position; a list fills rows of the first dimension."""
        if not isinstance(value, InitializerList):
            if not isinstance(value, FieldValue):
                self._scalar(value, position * self.bytes)
            return
        row = math.prod(dimensions[1:])
        for element in value.elements:
            if isinstance(element, FieldValue):
                continue  # of opaque types, which have no image
            if isinstance(element, InitializerList):
                position = round_up(position, row) if row else position
                self._put(element, position, dimensions[1:])
                position += row
            else:
                self._scalar(element, position * self.bytes)
                position += 1

    def _scalar(self, value: Integer | Float | SymbolValue, offset: int) -> None:
        if offset + self.bytes > len(self.data):
            return  # more values than elements: the verifier's business
        if isinstance(value, SymbolValue):
            byte = None if value.mask is None else (value.mask & -value.mask).bit_length() // 8
            self.relocations.append((offset, value.name.name, value.offset, value.generic, byte))
            return
        bits = single_bits(value) if self.single else constant_bits(value, self.type)
        self.data[offset : offset + self.bytes] = bits.to_bytes(self.bytes, "little")
