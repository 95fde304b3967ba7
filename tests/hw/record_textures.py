"""Records what a real GPU's texture units return: `python -m tests.hw.record_textures FILE.npz`.

Needs an NVIDIA GPU, `cuda.bindings` and NumPy. Runs the cases of `tests.hw.textures`, and keeps the arrays
that were bound, the coordinates, and the words that `tex` returned.
"""

from __future__ import annotations

import functools
import sys
from typing import Any

import numpy as np
from cuda.bindings import driver as cuda

from tests.hw.textures import Array, Case, cases, places, texels

ADDRESSINGS = ("wrap", "clamp", "mirror", "border")
FORMATS = {
    "u1": "CU_AD_FORMAT_UNSIGNED_INT8", "i1": "CU_AD_FORMAT_SIGNED_INT8",
    "u2": "CU_AD_FORMAT_UNSIGNED_INT16", "i2": "CU_AD_FORMAT_SIGNED_INT16",
    "u4": "CU_AD_FORMAT_UNSIGNED_INT32", "i4": "CU_AD_FORMAT_SIGNED_INT32",
    "f2": "CU_AD_FORMAT_HALF", "f4": "CU_AD_FORMAT_FLOAT",
}  # fmt: skip
LANES = 128
SEED = 71

KERNEL = """
.version 7.0
.target sm_75
.address_size 64
.visible .entry k(.param .u64 pt, .param .u64 pin, .param .u64 pout, .param .u32 pn)
{{
    .reg .pred p;
    .reg .b32 i, n, x, y, z, w, d<4>;
    .reg .b64 t, a, b, o;
    mov.u32 i, %tid.x;
    mov.u32 x, %ctaid.x;
    mov.u32 y, %ntid.x;
    mad.lo.u32 i, x, y, i;
    ld.param.u32 n, [pn];
    setp.ge.u32 p, i, n;
    @p ret;
    ld.param.u64 t, [pt];
    ld.param.u64 a, [pin];
    ld.param.u64 b, [pout];
    mul.wide.u32 o, i, 16;
    add.u64 a, a, o;
    add.u64 b, b, o;
    ld.global.v4.b32 {{x, y, z, w}}, [a];
    {opcode} {{d0, d1, d2, d3}}, [t, {coordinates}];
    st.global.v4.b32 [b], {{d0, d1, d2, d3}};
    ret;
}}
"""
COORDINATES = {"1d": "{x}", "2d": "{x, y}", "3d": "{x, y, z, w}"}


def check(answer: Any) -> Any:
    """The value of a driver call. Raises RuntimeError with its error."""
    code, *values = answer
    if code != cuda.CUresult.CUDA_SUCCESS:
        raise RuntimeError(str(code))
    return values[0] if len(values) == 1 else values


def device_array(case: Case, data: Array) -> Any:
    shape = case.extents
    description = cuda.CUDA_ARRAY3D_DESCRIPTOR()
    description.Width, description.Height, description.Depth = (*shape[::-1], 0, 0)[:3]
    description.Format = getattr(cuda.CUarray_format, FORMATS[case.dtype])
    description.NumChannels = case.channels
    array = check(cuda.cuArray3DCreate(description))
    copy = cuda.CUDA_MEMCPY3D()
    copy.srcMemoryType, copy.dstMemoryType = (
        cuda.CUmemorytype.CU_MEMORYTYPE_HOST,
        cuda.CUmemorytype.CU_MEMORYTYPE_ARRAY,
    )
    copy.srcHost, copy.dstArray = data.ctypes.data, array
    copy.WidthInBytes = copy.srcPitch = shape[-1] * case.channels * data.itemsize
    copy.srcHeight = copy.Height = shape[-2] if len(shape) > 1 else 1
    copy.Depth = shape[0] if len(shape) > 2 else 1
    check(cuda.cuMemcpy3D(copy))
    return array


def linear_memory(resource: Any, case: Case, data: Array) -> None:
    """A resource of plain memory: outside it reads zeros."""
    memory = check(cuda.cuMemAlloc(256))
    check(cuda.cuMemcpyHtoD(memory, data.ctypes.data, data.nbytes))
    resource.resType = cuda.CUresourcetype.CU_RESOURCE_TYPE_LINEAR
    resource.res.linear.devPtr = memory
    resource.res.linear.format = getattr(cuda.CUarray_format, FORMATS[case.dtype])
    resource.res.linear.numChannels = case.channels
    resource.res.linear.sizeInBytes = data.nbytes


def texture_object(case: Case, data: Array) -> Any:
    resource, texture = cuda.CUDA_RESOURCE_DESC(), cuda.CUDA_TEXTURE_DESC()
    if case.geometry == "1d" and case.coordinate == "s32":
        linear_memory(resource, case, data)
    else:
        resource.resType = cuda.CUresourcetype.CU_RESOURCE_TYPE_ARRAY
        resource.res.array.hArray = device_array(case, data)
    texture.addressMode = [cuda.CUaddress_mode(ADDRESSINGS.index(case.address))] * 3
    texture.filterMode = cuda.CUfilter_mode(case.filter == "linear")
    texture.flags = (case.read_as == "element") * 1 | case.normalized * 2
    return check(cuda.cuTexObjectCreate(resource, texture, None))


@functools.cache
def kernel(geometry: str, opcode: str) -> Any:
    text = KERNEL.format(opcode=opcode, coordinates=COORDINATES[geometry])
    return check(cuda.cuModuleGetFunction(check(cuda.cuModuleLoadData(text.encode() + b"\0")), b"k"))


def record(case: Case, data: Array, where: Array) -> Array:
    """The words of each lane."""
    given, words = np.zeros((len(where), 4), where.dtype), np.zeros((len(where), 4), "u4")
    given[:, : where.shape[1]] = where
    source, target = check(cuda.cuMemAlloc(given.nbytes)), check(cuda.cuMemAlloc(words.nbytes))
    check(cuda.cuMemcpyHtoD(source, given.ctypes.data, given.nbytes))
    values = [np.array([int(v)], "u8") for v in (texture_object(case, data), source, target, len(where))]
    pointers = np.array([v.ctypes.data for v in values], "u8")
    blocks = -(-len(where) // LANES)
    function = kernel(case.geometry, case.opcode)
    check(cuda.cuLaunchKernel(function, blocks, 1, 1, LANES, 1, 1, 0, 0, pointers.ctypes.data, 0))
    check(cuda.cuCtxSynchronize())
    check(cuda.cuMemcpyDtoH(words.ctypes.data, target, words.nbytes))
    for memory in (source, target):
        check(cuda.cuMemFree(memory))
    return words


def main(path: str) -> None:
    check(cuda.cuInit(0))
    device = check(cuda.cuDeviceGet(0))
    check(cuda.cuCtxSetCurrent(check(cuda.cuDevicePrimaryCtxRetain(device))))
    chance = np.random.default_rng(SEED)
    arrays: dict[str, Array] = {}
    everywhere: dict[str, Array] = {}
    found: dict[str, Array] = {}
    for case in cases():
        if case.bound not in arrays:
            arrays[case.bound] = texels(case, chance)
        if case.places not in everywhere:
            everywhere[case.places] = places(case, chance)
        found[case.name] = record(case, arrays[case.bound], everywhere[case.places])
    kept: dict[str, Any] = {f"texels/{k}": v for k, v in arrays.items() if "-ramp-" not in k}
    kept |= {f"places/{k}": v for k, v in everywhere.items()}
    kept["names"] = np.array([*found])
    kept["words"] = np.concatenate([*found.values()])
    np.savez_compressed(path, **kept)
    print(len(found), "cases,", len(kept["words"]), "fetches")


if __name__ == "__main__":
    main(sys.argv[1])
