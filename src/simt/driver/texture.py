"""Texture references: what Python binds to a module's `.tex` and `.texref` variables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simt.driver.array import DeviceArray
from simt.errors import LaunchError

if TYPE_CHECKING:
    from simt.driver.module import Module
    from simt.machine.textures import Addressing, Filter, ReadAs


class TextureReference:
    """A `.tex` or `.global .texref` variable of a module.

    The modes are those of `bind`: what a `.texref` is initialized with is checked when the module is loaded,
    and has no effect.
    """

    def __init__(self, module: Module, name: str) -> None:
        self.module = module
        self.name = name

    def bind(
        self,
        array: DeviceArray,
        *,
        filter: Filter = "point",
        address: Addressing = "clamp",
        normalized: bool = False,
        read_as: ReadAs = "element",
        channels: int = 1,
    ) -> None:
        """Binds an array of 1 to 3 dimensions, x last; later changes of the array are seen.

        `filter` point or linear; `address` clamp, border, wrap or mirror; `normalized`: real coordinates
        run from 0 to 1; `read_as` element, or float (8 and 16-bit integers as floats in [0, 1] or [-1, 1]);
        `channels`: 1, or 2 to 4 with an axis of that length in the last place. Raises `LaunchError`.
        """
        if not isinstance(array, DeviceArray):  # pyright: ignore[reportUnnecessaryIsInstance]
            given = type(array).__name__
            raise LaunchError(f"texture {self.name}: expected an array of Device.array, {given} given")
        if array.device is not self.module.device:
            raise LaunchError(f"texture {self.name}: the array lies on another device: {array!r}")
        from simt.machine.textures import make_texture  # only for textures: start-up time

        made = make_texture(array.numpy(), filter, address, normalized, read_as, channels)
        for name in self._names:
            self.module.textures[name] = made

    def unbind(self) -> None:
        for name in self._names:
            self.module.textures.pop(name, None)

    @property
    def _names(self) -> list[str]:
        """All names of the texture: those of one `.tex` statement mean the same (section 5.1.8)."""
        variables = self.module.program.variables
        first = variables[self.name].shares or self.name
        return [v.name for v in variables.values() if v.name == first or v.shares == first]
