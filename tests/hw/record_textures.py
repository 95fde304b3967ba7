"""Records what a real GPU's texture units return: `python -m tests.hw.record_textures FILE.npz`.

Needs an NVIDIA GPU, `cuda.bindings` and NumPy. Each case is an array bound as described by its name and
60 lanes of coordinates inside, at the edges of and outside it; the words that `tex` returned are kept.
"""

from __future__ import annotations

import itertools
import sys
from typing import Any

import numpy as np
from cuda.bindings import driver as cuda

LANES = 60
SHAPES = {"1d": (7,), "2d": (3, 5), "3d": (2, 3, 4)}
ADDRESSINGS = ("wrap", "clamp", "mirror", "border")
FORMATS = {
    "u1": "CU_AD_FORMAT_UNSIGNED_INT8", "i1": "CU_AD_FORMAT_SIGNED_INT8",
    "u2": "CU_AD_FORMAT_UNSIGNED_INT16", "i2": "CU_AD_FORMAT_SIGNED_INT16",
    "u4": "CU_AD_FORMAT_UNSIGNED_INT32", "i4": "CU_AD_FORMAT_SIGNED_INT32",
    "f2": "CU_AD_FORMAT_HALF", "f4": "CU_AD_FORMAT_FLOAT",
}  # fmt: skip

KERNEL = """
.version 7.0
.target sm_75
.address_size 64
.visible .entry k(.param .u64 pt, .param .u64 pin, .param .u64 pout, .param .u32 pn)
{{
    .reg .pred p;
    .reg .b32 i, n, x, y, z, d<4>;
    .reg .b64 t, a, b, o;
    mov.u32 i, %tid.x;
    ld.param.u32 n, [pn];
    setp.ge.u32 p, i, n;
    @p ret;
    ld.param.u64 t, [pt];
    ld.param.u64 a, [pin];
    ld.param.u64 b, [pout];
    mul.wide.u32 o, i, 16;
    add.u64 a, a, o;
    add.u64 b, b, o;
    ld.global.v2.b32 {{x, y}}, [a];
    ld.global.b32 z, [a+8];
    tex.{geometry}.v4.{result}.{coordinate} {{d0, d1, d2, d3}}, [t, {coordinates}];
    st.global.v4.b32 [b], {{d0, d1, d2, d3}};
    ret;
}}
"""
COORDINATES = {"1d": "{x}", "2d": "{x, y}", "3d": "{x, y, z, z}"}


def check(answer: Any) -> Any:
    """The value of a driver call. Raises RuntimeError with its error."""
    code, *values = answer
    if code != cuda.CUresult.CUDA_SUCCESS:
        raise RuntimeError(str(code))
    return values[0] if len(values) == 1 else values


def cases() -> list[dict[str, Any]]:
    """Every combination that `make_texture` accepts."""
    found: list[dict[str, Any]] = []
    axes = (
        SHAPES,
        FORMATS,
        (1, 2, 4),
        ("point", "linear"),
        ADDRESSINGS,
        (False, True),
        ("element", "normalized"),
    )
    for geometry, dtype, channels, filter_, address, normalized, read_as in itertools.product(*axes):
        wide, real = dtype in ("u4", "i4"), dtype[0] == "f"
        impossible = (
            (address in ("wrap", "mirror") and not normalized)
            or (read_as == "normalized" and (wide or real))
            or (filter_ == "linear" and read_as == "element" and not real)
            or (channels == 2 and dtype not in ("u1", "f4"))
            or (geometry == "3d" and dtype not in ("u1", "f4"))
        )
        if not impossible:
            found.append({
                "geometry": geometry, "dtype": dtype, "channels": channels, "filter": filter_,
                "address": address, "normalized": normalized, "read_as": read_as, "coordinate": "f32",
            })  # fmt: skip
    # Integer coordinates in one dimension want linear memory: from an array they read zeros.
    for geometry, dtype, address in itertools.product(("2d", "3d"), ("u1", "i2", "f4"), ("clamp", "border")):
        found.append({
            "geometry": geometry, "dtype": dtype, "channels": 1, "filter": "point", "address": address,
            "normalized": False, "read_as": "element", "coordinate": "s32",
        })  # fmt: skip
    for dtype in ("u1", "i2", "f4"):
        found.append({
            "geometry": "1d", "dtype": dtype, "channels": 1, "filter": "point", "address": "border",
            "normalized": False, "read_as": "element", "coordinate": "s32",
        })  # fmt: skip
    found.append({
        "geometry": "3d", "dtype": "i2", "channels": 1, "filter": "point", "address": "wrap",
        "normalized": True, "read_as": "element", "coordinate": "f32",
    })  # fmt: skip
    return found


def texels(case: dict[str, Any], chance: np.random.Generator) -> np.ndarray[Any, Any]:
    shape = (*SHAPES[case["geometry"]], case["channels"])
    dtype = np.dtype(case["dtype"])
    if dtype.kind == "f":
        return chance.integers(-50, 50, shape).astype(dtype)
    limits = np.iinfo(dtype)
    return chance.integers(limits.min, limits.max, shape, endpoint=True).astype(dtype)


def coordinates(case: dict[str, Any], chance: np.random.Generator) -> np.ndarray[Any, Any]:
    extents = SHAPES[case["geometry"]][::-1]
    if case["coordinate"] == "s32":
        columns = [chance.integers(-2, n + 2, LANES) for n in extents]
        return np.stack(columns + [columns[0]] * (4 - len(columns)), -1).astype("i4")
    found = np.zeros((LANES, 4), "f4")
    for axis, n in enumerate(extents):
        real = chance.uniform(-1.5 * n, 2.5 * n, LANES)
        found[:, axis] = np.where(np.arange(LANES) % 3 == 0, np.rint(real * 4) / 4, real)
        found[:, axis] /= n if case["normalized"] else 1
    return found


def texture_object(case: dict[str, Any], data: np.ndarray[Any, Any]) -> Any:
    resource, texture = cuda.CUDA_RESOURCE_DESC(), cuda.CUDA_TEXTURE_DESC()
    if case["geometry"] == "1d" and case["coordinate"] == "s32":
        linear_memory(resource, case, data)
    else:
        resource.resType = cuda.CUresourcetype.CU_RESOURCE_TYPE_ARRAY
        resource.res.array.hArray = device_array(case, data)
    texture.addressMode = [cuda.CUaddress_mode(ADDRESSINGS.index(case["address"]))] * 3
    texture.filterMode = cuda.CUfilter_mode(case["filter"] == "linear")
    texture.flags = (case["read_as"] == "element") * 1 | case["normalized"] * 2
    return check(cuda.cuTexObjectCreate(resource, texture, None))


def linear_memory(resource: Any, case: dict[str, Any], data: np.ndarray[Any, Any]) -> None:
    """A resource of plain memory: outside it reads zeros."""
    memory = check(cuda.cuMemAlloc(256))
    check(cuda.cuMemcpyHtoD(memory, data.ctypes.data, data.nbytes))
    resource.resType = cuda.CUresourcetype.CU_RESOURCE_TYPE_LINEAR
    resource.res.linear.devPtr = memory
    resource.res.linear.format = getattr(cuda.CUarray_format, FORMATS[case["dtype"]])
    resource.res.linear.numChannels = case["channels"]
    resource.res.linear.sizeInBytes = data.nbytes


def device_array(case: dict[str, Any], data: np.ndarray[Any, Any]) -> Any:
    shape = SHAPES[case["geometry"]]
    description = cuda.CUDA_ARRAY3D_DESCRIPTOR()
    description.Width, description.Height, description.Depth = (*shape[::-1], 0, 0)[:3]
    description.Format = getattr(cuda.CUarray_format, FORMATS[case["dtype"]])
    description.NumChannels = case["channels"]
    array = check(cuda.cuArray3DCreate(description))
    copy = cuda.CUDA_MEMCPY3D()
    copy.srcMemoryType, copy.dstMemoryType = (
        cuda.CUmemorytype.CU_MEMORYTYPE_HOST,
        cuda.CUmemorytype.CU_MEMORYTYPE_ARRAY,
    )
    copy.srcHost, copy.dstArray = data.ctypes.data, array
    copy.WidthInBytes = copy.srcPitch = shape[-1] * case["channels"] * data.itemsize
    copy.srcHeight = copy.Height = shape[-2] if len(shape) > 1 else 1
    copy.Depth = shape[0] if len(shape) > 2 else 1
    check(cuda.cuMemcpy3D(copy))
    return array


def record(case: dict[str, Any], number: int) -> dict[str, np.ndarray[Any, Any]]:
    chance = np.random.default_rng(number)
    data, places = texels(case, chance), coordinates(case, chance)
    floats = data.dtype.kind == "f" or case["read_as"] == "normalized"
    result = "f32" if floats else "s32" if data.dtype.kind == "i" else "u32"
    ptx = KERNEL.format(
        geometry=case["geometry"], result=result, coordinate=case["coordinate"],
        coordinates=COORDINATES[case["geometry"]],
    )  # fmt: skip
    module = check(cuda.cuModuleLoadData(ptx.encode() + b"\0"))
    kernel = check(cuda.cuModuleGetFunction(module, b"k"))
    words = np.zeros((LANES, 4), "u4")
    source, target = check(cuda.cuMemAlloc(places.nbytes)), check(cuda.cuMemAlloc(words.nbytes))
    check(cuda.cuMemcpyHtoD(source, places.ctypes.data, places.nbytes))
    values = [np.array([int(texture_object(case, data))], "u8"), np.array([int(source)], "u8"),
              np.array([int(target)], "u8"), np.array([LANES], "u4")]  # fmt: skip
    pointers = np.array([v.ctypes.data for v in values], "u8")
    check(cuda.cuLaunchKernel(kernel, 1, 1, 1, 64, 1, 1, 0, 0, pointers.ctypes.data, 0))
    check(cuda.cuCtxSynchronize())
    check(cuda.cuMemcpyDtoH(words.ctypes.data, target, words.nbytes))
    check(cuda.cuModuleUnload(module))
    return {"data": data, "coordinates": places, "words": words}


def name(case: dict[str, Any]) -> str:
    """A case as one word, for the file: its values in order, joined."""
    return "-".join(str(v) for v in case.values())


def main(path: str) -> None:
    check(cuda.cuInit(0))
    device = check(cuda.cuDeviceGet(0))
    check(cuda.cuCtxSetCurrent(check(cuda.cuDevicePrimaryCtxRetain(device))))
    found: dict[str, Any] = {}
    for number, case in enumerate(cases()):
        for key, values in record(case, number).items():
            found[f"{name(case)}/{key}"] = values
    np.savez_compressed(path, **found)
    print(len(cases()), "cases")


if __name__ == "__main__":
    main(sys.argv[1])
