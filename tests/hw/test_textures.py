"""What an H200's texture units returned, against ours, bit for bit.

Record again with `python -m tests.hw.record --only textures`.
"""

from __future__ import annotations

import functools
from pathlib import Path

import numpy as np
import pytest

import simt
from simt.engine.numpy_texels import fetch
from simt.machine.textures import Texture, make_texture
from simt.ptx.types import TYPES
from tests.conftest import shared_device
from tests.hw.textures import SHAPES, Array, Case, cases, ramp
from tests.shares import share

VECTORS = Path(__file__).parent / "vectors" / "textures.npz"

KERNEL = """
.version 1.4
.target sm_10
.tex .u32 image;
.entry k (.param .u32 in, .param .u32 out, .param .u32 n)
{{
    .reg .u32 %i, %j, %n, %p; .reg .b32 %c<4>, %d<4>; .reg .pred %q;
    cvt.u32.u16 %i, %ctaid.x;
    cvt.u32.u16 %j, %tid.x;
    mad.lo.u32 %i, %i, 128, %j;
    ld.param.u32 %n, [n];
    setp.ge.u32 %q, %i, %n;
    @%q exit;
    mul.lo.u32 %i, %i, 16;
    ld.param.u32 %p, [in];
    add.u32 %p, %p, %i;
    ld.global.v4.b32 {{%c0, %c1, %c2, %c3}}, [%p];
    {opcode} {{%d0, %d1, %d2, %d3}}, [image, {coordinates}];
    ld.param.u32 %p, [out];
    add.u32 %p, %p, %i;
    st.global.v4.b32 [%p], {{%d0, %d1, %d2, %d3}};
    exit;
}}
"""
COORDINATES = {"1d": "{%c0}", "2d": "{%c0, %c1}", "3d": "{%c0, %c1, %c2, %c3}"}


@functools.cache
def recorded() -> dict[str, Array]:
    """The words that each case returned: (lanes, 4)."""
    file = _file()
    names, words = (str(n) for n in file["names"]), file["words"]
    known = {case.name: case for case in cases()}
    found: dict[str, Array] = {}
    first = 0
    for name in names:
        last = first + len(where(known[name]))
        found[name] = words[first:last]
        first = last
    return found


@functools.cache
def _file() -> dict[str, Array]:
    return dict(np.load(VECTORS))


def bound(case: Case) -> Array:
    """The array, components last."""
    return ramp(case.extents) if case.texels == "ramp" else _file()[f"texels/{case.bound}"]


def where(case: Case) -> Array:
    """The coordinates: (lanes, dimensions), x first."""
    return _file()[f"places/{case.places}"]


def made(case: Case) -> Texture:
    array = bound(case) if case.channels > 1 else bound(case)[..., 0]
    return make_texture(array, case.filter, case.address, case.normalized, case.read_as, case.channels)  # type: ignore[arg-type]


def computed(case: Case) -> Array:
    """Our words: (lanes, 4)."""
    bits = "u4" if case.coordinate == "s32" else "f4"
    columns = [c.view(bits) for c in np.ascontiguousarray(where(case).T)]
    with np.errstate(all="ignore"):
        return fetch(made(case), case.geometry, TYPES[case.coordinate], columns).T


def mismatches(case: Case, ours: Array) -> list[str]:
    """The first lane that differs, if one does."""
    theirs = recorded()[case.name]
    wrong = np.flatnonzero((ours != theirs).any(1))
    if not len(wrong):
        return []
    lane = int(wrong[0])
    words = " ".join(f"{w:#x}" for w in ours[lane]), " ".join(f"{w:#x}" for w in theirs[lane])
    return [
        f"{case.name} at {where(case)[lane].tolist()}: {words[0]}, GPU {words[1]}; {len(wrong)} such lanes"
    ]


def test_everything_is_recorded() -> None:
    assert list(recorded()) == [case.name for case in cases()], "record again"


@pytest.mark.parametrize("geometry", SHAPES)
def test_fetches_are_the_hardware(geometry: str) -> None:
    chosen = [case for case in cases() if case.geometry == geometry]
    assert [line for case in chosen for line in mismatches(case, computed(case))] == []


def test_kernels_are_the_hardware(engine: str) -> None:
    """Through the whole package, on the oldest device: with a kernel, a variable and `bind`. Compiled code
    has a function for each kind of texture: of these a plain run takes a share."""
    device = shared_device(engine, "sm_10")
    modules: dict[str, simt.Module] = {}
    wrong: list[str] = []
    chosen = share(list(cases()), 12, lambda c: (c.opcode, c.dtype, c.filter)) if engine == "jit" else cases()
    for case in chosen:
        if case.opcode not in modules:
            text = KERNEL.format(opcode=case.opcode, coordinates=COORDINATES[case.geometry])
            modules[case.opcode] = device.load(text)
        wrong += mismatches(case, fetched(device, modules[case.opcode], case))
    assert wrong == []
    assert "k" not in getattr(device._engine, "reasons", {})  # pyright: ignore[reportPrivateUsage]


def fetched(device: simt.Device, module: simt.Module, case: Case) -> Array:
    """What the kernel of the module writes: (lanes, 4)."""
    array = device.array(np.ascontiguousarray(bound(case) if case.channels > 1 else bound(case)[..., 0]))
    module.texture("image").bind(
        array, filter=case.filter, address=case.address, normalized=case.normalized,
        read_as=case.read_as, channels=case.channels,
    )  # type: ignore[arg-type]  # fmt: skip
    coordinates = where(case)
    given = np.zeros((len(coordinates), 4), coordinates.dtype)
    given[:, : coordinates.shape[1]] = coordinates
    out = device.zeros(given.shape, "u4")
    module["k"](-(-len(given) // 128), 128, (device.array(given), out, len(given)))
    return out.numpy().copy()
