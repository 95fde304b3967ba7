"""Texture references of PTX 1.x bound through the API: table 71, section 5.1.8."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import simt

SHAPES = {"1d": (7,), "2d": (3, 5), "3d": (2, 3, 4)}
FORMATS = ("u1", "i1", "u2", "i2", "u4", "i4", "f2", "f4")
N = 40

KERNEL = """
.version 1.4
.target sm_10
.tex .u32 tex_a;
.entry k (.param .u32 in, .param .u32 out)
{{
    .reg .u32 %i, %t, %p; .reg .b32 %c<4>, %d<4>;
    cvt.u32.u16 %i, %tid.x;
    mul.lo.u32 %t, %i, 16;
    ld.param.u32 %p, [in];
    add.u32 %p, %p, %t;
    ld.global.v4.b32 {{%c0, %c1, %c2, %c3}}, [%p];
    tex.{geometry}.v4.{result}.{coordinate} {{%d0, %d1, %d2, %d3}}, {operands};
    ld.param.u32 %p, [out];
    add.u32 %p, %p, %t;
    st.global.v4.b32 [%p], {{%d0, %d1, %d2, %d3}};
    exit;
}}
"""
OPERANDS = {"1d": "[tex_a, {%c0}]", "2d": "[tex_a, {%c0, %c1}]", "3d": "[tex_a, {%c0, %c1, %c2, %c3}]"}


@pytest.fixture
def device(engine: str) -> simt.Device:
    return simt.Device("sm_10", engine=engine, memory="64MiB", timeout=20)


def texels(dtype: str, shape: tuple[int, ...], seed: int) -> np.ndarray[Any, Any]:
    random = np.random.default_rng(seed)
    if dtype[0] == "f":
        return random.integers(-50, 50, shape).astype(dtype)
    limits = np.iinfo(dtype)
    return random.integers(limits.min, limits.max, shape, dtype=dtype, endpoint=True)


def points(shape: tuple[int, ...], normalized: bool, seed: int) -> np.ndarray[Any, Any]:
    """x first, inside and around the array; far enough from where one texel ends and the next begins."""
    random = np.random.default_rng(seed)
    found = np.zeros((N, 4), "f4")
    for axis, n in enumerate(shape[::-1]):
        found[:, axis] = random.integers(-2 * n, 3 * n, N) + random.choice([0.25, 0.5, 0.75], N)
        found[:, axis] /= n if normalized else 1
    return found


def place(address: str, index: int, extent: int) -> int | None:
    """Which texel an index means along one axis; None for the border."""
    if address == "wrap":
        return index % extent
    if address == "mirror":
        return [*range(extent), *reversed(range(extent))][index % (2 * extent)]
    if address == "clamp":
        return min(max(index, 0), extent - 1)
    return index if 0 <= index < extent else None


def texel(data: Any, address: str, indices: list[int]) -> Any:
    """The components at integer coordinates, x first."""
    found = [place(address, i, n) for i, n in zip(indices, data.shape[-2::-1])]
    return np.zeros(data.shape[-1]) if None in found else data[tuple(reversed(found))]


def fetched(device: simt.Device, data: Any, places: Any, geometry: str, result: str, **options: Any) -> Any:
    coordinate = "f32" if places.dtype.kind == "f" else "s32"
    operands = options.pop("operands", OPERANDS[geometry])
    text = KERNEL.format(geometry=geometry, result=result, coordinate=coordinate, operands=operands)
    module = device.load(text)
    channels = data.shape[-1]
    array = device.array(data if channels > 1 else np.ascontiguousarray(data[..., 0]))
    module.texture("tex_a").bind(array, channels=channels, **options)
    out = device.zeros((N, 4), {"f32": "f4", "s32": "i4", "u32": "u4"}[result])
    module["k"](1, N, (device.array(places), out))
    return out.numpy().copy()


@pytest.mark.share(3)
@pytest.mark.parametrize("address", ["clamp", "border", "wrap", "mirror"])
@pytest.mark.parametrize("geometry", SHAPES)
def test_points_of_every_format(device: simt.Device, geometry: str, address: str) -> None:
    normalized = address in ("wrap", "mirror")
    for seed, (dtype, channels) in enumerate(itertools.product(FORMATS, (1, 2, 3, 4))):
        data = texels(dtype, (*SHAPES[geometry], channels), seed)
        places = points(SHAPES[geometry], normalized, seed)
        result = {"f": "f32", "u": "u32", "i": "s32"}[dtype[0]]
        found = fetched(device, data, places, geometry, result, address=address, normalized=normalized)
        extents = SHAPES[geometry][::-1]
        for lane in range(N):
            scaled = [c * (n if normalized else 1) for c, n in zip(places[lane], extents)]
            wanted = texel(data, address, [int(np.floor(c + 1e-3)) for c in scaled])
            np.testing.assert_array_equal(found[lane, :channels], wanted, str((dtype, channels, lane)))
            assert not found[lane, channels:].any()


@pytest.mark.share(2)
@pytest.mark.parametrize("geometry", SHAPES)
def test_linear_filtering(device: simt.Device, geometry: str) -> None:
    """The texels around x - 0.5, weighted in parts of 256 along each axis."""
    shape = SHAPES[geometry]
    cases = itertools.product((("f4", "element"), ("f2", "float"), ("u1", "float"), ("i2", "float")), (1, 4),
                              ("clamp", "border", "wrap", "mirror"))  # fmt: skip
    for seed, ((dtype, read_as), channels, address) in enumerate(cases):
        if geometry == "1d" and address == "border":
            continue  # half of what is filtered lies outside the one row there: decision 20
        normalized = address in ("wrap", "mirror")
        data, places = texels(dtype, (*shape, channels), seed), points(shape, normalized, seed)
        options = {"filter": "linear", "address": address, "normalized": normalized, "read_as": read_as}
        found = fetched(device, data, places, geometry, "f32", **options)
        values = data.astype("f8") if dtype[0] == "f" else data / np.iinfo(dtype).max
        for lane in range(N):
            scaled = [float(c) * (n if normalized else 1) - 0.5 for c, n in zip(places[lane], shape[::-1])]
            low = [int(np.floor(c + 1e-6)) for c in scaled]
            wanted = np.zeros(channels)
            for corner in itertools.product((0, 1), repeat=len(shape)):
                weights = [(c - f) if up else 1 - (c - f) for up, c, f in zip(corner, scaled, low)]
                indices = [f + up for f, up in zip(low, corner)]
                wanted += np.prod(weights) * texel(values, address, indices)
            bound = np.abs(values).max() * len(shape) / 128
            assert np.abs(found[lane, :channels] - wanted).max() <= bound, (dtype, channels, address, lane)


def test_integers_read_as_floats(device: simt.Device) -> None:
    places = np.zeros((N, 4), "f4")
    places[:, 0] = np.arange(N) % 3
    for dtype, values, wanted in (
        ("u1", [0, 51, 255], [0, 0.2, 1]), ("i1", [-128, -127, 127], [-1, -1, 1]),
        ("u2", [0, 13107, 65535], [0, 0.2, 1]), ("i2", [-32768, -32767, 32767], [-1, -1, 1]),
    ):  # fmt: skip
        data = np.array(values, dtype)[:, None]
        found = fetched(device, data, places, "1d", "f32", read_as="float")
        np.testing.assert_allclose(found[:3, 0], wanted, rtol=2**-23)


@pytest.mark.parametrize("geometry", SHAPES)
def test_integer_coordinates(device: simt.Device, geometry: str) -> None:
    shape = SHAPES[geometry]
    random = np.random.default_rng(3)
    places = np.zeros((N, 4), "i4")
    for axis, n in enumerate(shape[::-1]):
        places[:, axis] = random.integers(0, n, N)
    data = texels("i2", (*shape, 2), 5)
    found = fetched(device, data, places, geometry, "s32")
    wanted = [texel(data, "clamp", [int(i) for i in p[: len(shape)]]) for p in places]
    np.testing.assert_array_equal(found[:, :2], wanted)


@pytest.mark.parametrize(
    "operands",
    [
        "tex_a, {%c0, %c1, %c2, %c3}", "[tex_a, {%c0, %c1, %c2, %c3}]", "tex_a, %c0", "[tex_a, %c0]",
        "tex_a, {%c0}",
    ],
)  # fmt: skip
def test_ways_to_write_the_operands(device: simt.Device, operands: str) -> None:
    """Brackets may be left out, and all geometries may have four coordinates (notes of table 71)."""
    data = texels("f4", (7, 1), 1)
    places = points((7,), False, 1)
    plain = fetched(device, data, places, "1d", "f32")
    np.testing.assert_array_equal(fetched(device, data, places, "1d", "f32", operands=operands), plain)


TWO = """
.version 1.4
.target sm_10
.tex .u32 first;
.tex .u32 second;
.tex .u32 many<3>;
.entry k (.param .u32 out)
{
    .reg .u32 %i, %p; .reg .f32 %f<4>, %x, %sum; .reg .pred %q;
    cvt.u32.u16 %i, %tid.x;
    cvt.rn.f32.u32 %x, %i;
    mov.f32 %sum, 0.0;
    setp.ge.u32 %q, %i, 2;
    @%q tex.1d.v4.f32.f32 {%sum, %f1, %f2, %f3}, [first, {%x}];
    @!%q tex.1d.v4.f32.f32 {%sum, %f1, %f2, %f3}, [second, {%x}];
    tex.1d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [many2, {%x}];
    add.f32 %sum, %sum, %f0;
    ld.param.u32 %p, [out];
    mad.lo.u32 %p, %i, 4, %p;
    st.global.f32 [%p], %sum;
    exit;
}
"""


def test_several_textures_and_later_changes(device: simt.Device) -> None:
    module, out = device.load(TWO), device.zeros(4, "f4")
    arrays = {
        n: device.array(np.arange(4, dtype="f4") + 10 * i) for i, n in enumerate(("first", "second", "many2"))
    }
    for name, array in arrays.items():
        module.texture(name).bind(array)
    module["k"](1, 4, (out,))
    np.testing.assert_array_equal(out.numpy(), [30, 32, 24, 26])
    arrays["first"].numpy()[...] = 5
    module["k"](1, 4, (out,))
    np.testing.assert_array_equal(out.numpy(), [30, 32, 27, 28])
    module.texture("first").bind(arrays["second"])
    module["k"](1, 4, (out,))
    np.testing.assert_array_equal(out.numpy(), [30, 32, 34, 36])
    module.texture("second").unbind()
    with pytest.raises(simt.LaunchError, match="nothing is bound to texture second"):
        module["k"](1, 4, (out,))


def test_at_most_128_textures(device: simt.Device) -> None:
    """Section 5.1.8."""
    names = [f".tex .u32 t{i};" for i in range(127)]
    head = ".version 1.4\n.target sm_10\n"
    device.load(head + "\n".join([*names, ".tex .u32 last;"]))
    with pytest.raises(simt.PtxError) as caught:
        device.load(head + "\n".join([*names, ".tex .u32 more<5>;", ".tex .u32 again;"]))
    assert [(d.line, d.message) for d in caught.value.diagnostics] == [
        (130, "the module has more than 128 textures")
    ]


def test_names_of_one_statement_mean_the_same_texture(device: simt.Device) -> None:
    """Section 5.1.8: both are bound to one physical texture."""
    module, out = (
        device.load(TWO.replace("first;\n.tex .u32 second;", "first, second;")),
        device.zeros(4, "f4"),
    )
    module.texture("many2").bind(device.zeros(4, "f4"))
    module.texture("second").bind(device.array(np.arange(4, dtype="f4") + 1))
    module["k"](1, 4, (out,))
    np.testing.assert_array_equal(out.numpy(), [1, 2, 3, 4])
    module.texture("first").unbind()
    with pytest.raises(simt.LaunchError, match="nothing is bound to texture"):
        module["k"](1, 4, (out,))


TEXREF = """
.version 3.1
.target sm_30{mode}
.address_size 64
.global .texref image = {{width = 8}};
.global .samplerref modes;
.entry k (.param .u64 out, .param .u64 unknown)
{{
    .reg .u32 %i; .reg .u64 %p, %t; .reg .f32 %x, %d<4>;
    mov.u32 %i, %tid.x;
    cvt.rn.f32.u32 %x, %i;
    {address}
    tex.1d.v4.f32.f32 {{%d0, %d1, %d2, %d3}}, [{operand}, {{%x}}];
    ld.param.u64 %p, [out];
    mad.wide.u32 %p, %i, 4, %p;
    st.global.f32 [%p], %d0;
    exit;
}}
"""


@pytest.mark.parametrize(
    ("operand", "mode", "address"),
    [
        ("image", "", ""),
        ("image, modes", ", texmode_independent", ""),
        ("%t", "", "mov.u64 %t, image;"),
    ],
)
def test_texref_variables(engine: str, operand: str, mode: str, address: str) -> None:
    """What `.tex` variables are since PTX 1.5."""
    text = TEXREF.format(operand=operand, mode=mode, address=address)
    if not mode:
        text = text.replace(".global .samplerref modes;\n", "")
    device = simt.Device("sm_30", engine=engine, memory="64MiB", timeout=20)
    module, out = device.load(text), device.zeros(4, "f4")
    with pytest.raises(simt.LaunchError, match="nothing is bound to texture image: use"):
        module["k"](1, 4, (out, 0))
    module.texture("image").bind(device.array(np.array([3, 1, 4, 1, 5], "f4")))
    module["k"](1, 4, (out, 0))
    np.testing.assert_array_equal(out.numpy(), [3, 1, 4, 1])


def test_a_texture_object_is_not_taken_for_a_variable(engine: str) -> None:
    text = TEXREF.format(operand="%t", mode="", address="ld.param.u64 %t, [unknown];")
    device = simt.Device("sm_30", engine=engine, memory="64MiB", timeout=20)
    module = device.load(text.replace(".global .samplerref modes;\n", ""))
    with pytest.raises(
        simt.LaunchError, match="no texture variable of the module is at 0x10: for a texture object, pass"
    ):
        module["k"](1, 4, (device.zeros(4, "f4"), 16))


def test_only_arrays_of_the_device_are_bound(device: simt.Device) -> None:
    texture = device.load(TWO).texture("first")
    with pytest.raises(simt.LaunchError, match=r"first: expected an array of Device\.array, ndarray given"):
        texture.bind(np.zeros(3, "f4"))  # pyright: ignore[reportArgumentType]
    with pytest.raises(simt.LaunchError, match="first: the array lies on another device"):
        texture.bind(simt.Device("sm_10", memory="64MiB").zeros(3, "f4"))


def test_the_symbol_of_a_texref_variable_is_a_texture_object(engine: str) -> None:
    """The kernel takes it as nvcc has it of a cudaTextureObject_t; the variables are linked to it."""
    text = TEXREF.format(operand="%t", mode="", address="ld.param.u64 %t, [unknown];")
    kernel = text.replace(".global .samplerref modes;\n", "").replace(
        ".global .texref image = {width = 8};\n", ""
    )
    head = ".version 3.1\n.target sm_30\n.address_size 64\n"
    device = simt.Device("sm_30", engine=engine, memory="64MiB", timeout=20)
    module = device.load([kernel, head + ".visible .global .texref first;\n.visible .global .texref second;"])
    out = device.zeros(3, "f4")
    for factor, name in ((2, "first"), (7, "second")):
        module.texture(name).bind(device.array(np.arange(3, dtype="f4") * factor))
    for factor, name in ((2, "first"), (7, "second")):
        module["k"](1, 3, (out, module.symbol(name)))
        np.testing.assert_array_equal(out.numpy(), [0, factor, 2 * factor])


RESIDENT = """
.version 7.1
.target sm_60
.address_size 64
.global .texref image;
.entry k (.param .u64 out)
{
    .reg .u32 %i, %r; .reg .u64 %p; .reg .f32 %x, %d<4>; .reg .pred %in;
    mov.u32 %i, %tid.x;
    cvt.rn.f32.u32 %x, %i;
    setp.ne.u32 %in, %i, %i;
    tex.1d.v4.f32.f32 {%d0, %d1, %d2, %d3}|%in, [image, {%x}];
    add.f32 %d0, %d0, 0f3F000000;
    @%in add.f32 %d0, %d0, 0f3F000000;
    ld.param.u64 %p, [out];
    mad.wide.u32 %p, %i, 4, %p;
    st.global.f32 [%p], %d0;
    exit;
}
"""


def test_texels_are_always_in_memory(engine: str) -> None:
    """The second destination of `tex` tells so, of coordinates outside the texture too."""
    device = simt.Device("sm_75", engine=engine, memory="64MiB", timeout=20)
    module, out = device.load(RESIDENT), device.zeros(5, "f4")
    module.texture("image").bind(device.array(np.array([3, 1, 4], "f4")))
    module["k"](1, 5, (out,))
    np.testing.assert_array_equal(out.numpy(), [4, 2, 5, 5, 5])
