"""Arrays in device memory."""

from __future__ import annotations

import math
import weakref
from collections.abc import Sequence
from operator import index
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from simt.errors import SimtError
from simt.machine.memory import Arena, Bytes

if TYPE_CHECKING:
    from simt.driver.device import Device

Shape: TypeAlias = "int | Sequence[int]"


class Allocation:
    """A piece of an arena, freed when the last array or view on it is gone, or by `free`. `lasting`: not by
    `free`, as others know the address."""

    __slots__ = ("__weakref__", "_finalizer", "address", "alive", "arena", "lasting", "nbytes")

    def __init__(self, arena: Arena, nbytes: int, align: int = 1, lasting: bool = False) -> None:
        self.lasting = lasting
        self.arena = arena
        self.nbytes = nbytes
        self.address = arena.allocate(nbytes, align)
        self._finalizer = weakref.finalize(self, arena.free, self.address)
        self._finalizer.atexit = False
        self.alive = True

    def free(self) -> None:
        """Frees it now; harmless if it is free already. Views on it stay safe, their contents do not. Raises
        `SimtError` for what lasts."""
        if self.lasting:
            raise SimtError("a variable lives as long as its module: its array cannot be freed")
        self.alive = False
        self._finalizer()

    def view(self) -> NDArray[np.uint8]:
        """The bytes, shared. The view keeps the allocation alive."""
        return np.asarray(Bytes(self.address, self.nbytes, self))


class DeviceArray:
    """A C-contiguous array in device memory. Made by `Device.array`, `empty`, `zeros`, `Module.symbol`.

    `ptr` is its device address, `nbytes`, `shape` and `dtype` are NumPy's.
    """

    __slots__ = ("__weakref__", "allocation", "device", "dtype", "nbytes", "shape")

    def __init__(
        self, device: Device, allocation: Allocation, shape: tuple[int, ...], dtype: np.dtype[Any]
    ) -> None:
        self.device = device
        self.shape = shape
        self.dtype = dtype
        self.nbytes = math.prod(shape) * dtype.itemsize
        self.allocation = allocation

    @property
    def ptr(self) -> int:
        """The device address. Raises `SimtError` if the array was freed."""
        return self._owned().address

    @property
    def size(self) -> int:
        """The number of elements."""
        return math.prod(self.shape)

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def is_freed(self) -> bool:
        return not self.allocation.alive

    @property
    def arena(self) -> Arena:
        """The arena that the array lies in."""
        return self.allocation.arena

    def _owned(self) -> Allocation:
        if self.is_freed:
            raise SimtError("the device array was freed")
        return self.allocation

    def numpy(self) -> NDArray[Any]:
        """A zero-copy view, writable; it stays valid as long as it lives. Raises `SimtError` if freed."""
        return self.bytes().view(self.dtype).reshape(self.shape)

    def bytes(self) -> NDArray[np.uint8]:
        """The array's bytes, shared."""
        return self._owned().view()[: self.nbytes]

    def copy_from(self, values: ArrayLike | DeviceArray) -> None:
        """Copies values in, of the same shape or broadcast to it, converted as NumPy assignment does."""
        self.device.check_not_captured("copy_from")
        source = values.numpy() if isinstance(values, DeviceArray) else values
        self.numpy()[...] = source

    def copy(self) -> DeviceArray:
        """A new array on the same device with the same contents."""
        self.device.check_not_captured("copy")
        return self.device.array(self.numpy())

    def free(self) -> None:
        """Frees the memory now rather than when the array and its views are garbage. Raises `SimtError` for
        a module's variable."""
        self.allocation.free()

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        view = self.numpy()
        if dtype is not None and np.dtype(dtype) != view.dtype:
            if copy is False:
                raise ValueError(f"converting {view.dtype} to {np.dtype(dtype)} needs a copy")
            return view.astype(dtype)
        return view.copy() if copy else view

    def __dlpack__(self, **options: Any) -> object:
        return cast("Any", self.numpy()).__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0  # kDLCPU: device memory is host memory

    def __reduce__(self) -> str:
        raise TypeError("a device array belongs to its device and process; copy or pickle its numpy()")

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of a device array without dimensions")
        return self.shape[0]

    def __repr__(self) -> str:
        where = "freed" if self.is_freed else f"at {self.ptr:#x}"
        return f"<DeviceArray {self.dtype} {self.shape} {where} on {self.device.name}>"


def as_shape(shape: Shape) -> tuple[int, ...]:
    """A NumPy shape. Raises ValueError for negative extents, TypeError for anything but integers."""
    try:
        extents = [shape] if np.ndim(shape) == 0 else list(cast("Sequence[int]", shape))
        found = tuple(index(cast("int", n)) for n in extents)
    except TypeError:
        raise TypeError(f"bad shape {shape!r}: expected an integer or a tuple of integers") from None
    if any(n < 0 for n in found):
        raise ValueError(f"negative extent in shape {found}")
    return found


def as_dtype(dtype: DTypeLike) -> np.dtype[Any]:
    """A dtype that device memory can hold. Raises TypeError for Python objects and swapped bytes."""
    found = np.dtype(dtype)
    if found.hasobject:
        raise TypeError(f"dtype {found} holds Python objects, which device memory cannot")
    if not found.isnative:
        raise TypeError(f"dtype {found} has its bytes in the other order than the device; use astype")
    if not found.itemsize:
        raise TypeError(f"dtype {found} has no size")
    return found
