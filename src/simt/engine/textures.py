"""The textures of a launch, as compiled code finds them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from simt.engine.abi import BoundSlot, TableSlot, TextureSlot, slot_count
from simt.engine.blocks import Block
from simt.isa.texels import Sampling
from simt.machine.launch import Launch
from simt.machine.textures import Texture, TextureTable, sampling
from simt.ptx.types import TYPES


class NativeTextures:
    """A table for the launches of one kernel, which reads textures in some ways (`Compiled.fetches`).

    `fetcher`: gives the address of the function that fetches from textures of a kind.
    """

    def __init__(self, fetches: Sequence[tuple[str, str]], fetcher: Callable[[Sampling], int]) -> None:
        self._fetches = fetches
        self._fetcher = fetcher
        self._bound: list[tuple[str, object]] = []
        self._block = Block(slot_count(TableSlot))
        self._textures: list[Block] = []

    def begin(self, launch: Launch) -> int:
        """Address of the `TableSlot`s for a launch: of what is bound when it begins."""
        if not self._has(launch.textures):
            self._bound = list(launch.textures.items())
            self._block = self._made(TextureTable(launch.textures, launch.symbols))
        return self._block.address

    def _has(self, textures: Mapping[str, object]) -> bool:
        """Whether the table is of just these. (Textures are not changed, and arrays have no plain `==`.)"""
        if len(textures) != len(self._bound):
            return False
        return all(n == name and t is bound for (n, t), (name, bound) in zip(textures.items(), self._bound))

    def _made(self, table: TextureTable) -> Block:
        found = table.by_address
        self._textures = [self._texture(texture) for texture in found.values()]
        block = Block(TableSlot.BOUND + slot_count(BoundSlot) * len(found))
        block.slots[TableSlot.COUNT] = len(found)
        for number, (address, texture) in enumerate(zip(found, self._textures)):
            start = TableSlot.BOUND + slot_count(BoundSlot) * number
            block.slots[start + BoundSlot.HANDLE] = address
            block.slots[start + BoundSlot.TEXTURE] = texture.address
        return block

    def _texture(self, texture: Texture) -> Block:
        """Its `TextureSlot`s."""
        block = Block(TextureSlot.FETCH + len(self._fetches))
        block.slots[TextureSlot.DATA] = texture.data.ctypes.data
        depth, height, width = texture.data.shape[:3]
        extents = {TextureSlot.WIDTH: width, TextureSlot.HEIGHT: height, TextureSlot.DEPTH: depth}
        for slot, extent in extents.items():
            block.slots[slot] = extent
        for number, (geometry, coordinate) in enumerate(self._fetches):
            kind = sampling(texture, geometry, TYPES[coordinate])
            block.slots[TextureSlot.FETCH + number] = self._fetcher(kind)
        return block
