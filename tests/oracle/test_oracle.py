"""Programs of all kinds on both engines against what an H200 computed for them.

The results were recorded by `python -m tests.oracle.record` on that GPU, from the same PTX and inputs.
Everything is bit-exact (any NaN for a NaN in floating-point results), except the functions of the CUDA
math library that use approximate instructions: those are bounded in units of the last place.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import simt
from tests.conftest import kept_for_each_way, shared_device
from tests.oracle.cases import CASES, RESULTS, Case, key, path, variants
from tests.shares import share

ALL = [(case, variant) for case in CASES for variant in variants(case)]
STEP = {"interpreter": 9, "jit": 15, "jit without drafts": 23}
"""One of how many compilations of a case runs on an engine, and at least one: compiling takes the time."""
CASES_OF = {"interpreter": 3, "jit": 2, "jit without drafts": 6}
"""One of how many cases."""

SLOW = frozenset({"atomics.plain/atomics_half", "atomics.plain/locks"})
"""Emulated 16-bit atomics and locks without optimisation take the interpreter seconds: on the JIT only."""


def sampled(engine: str) -> list[Any]:
    """The compilations that run on an engine."""
    found = [(case, v) for case, v in ALL if engine != "interpreter" or key(case, v) not in SLOW]
    chosen = share(share(found, STEP[engine], lambda pair: pair[0]), CASES_OF[engine])
    return [pytest.param(engine, case, v, id=f"{engine}-{key(case, v)}") for case, v in chosen]


@functools.cache
def recorded() -> tuple[dict[str, NDArray[Any]], dict[str, str]]:
    """Stored results by name, and the name of each compilation's."""
    file = np.load(RESULTS)
    index = dict(str(line).split() for line in file["index"])
    return {name: file[name] for name in file.files if name != "index"}, index


def expected(case: Case, variant: str) -> NDArray[Any]:
    """What the GPU gave; for targets that it cannot run, what it gave for another compilation."""
    results, index = recorded()
    others = [key(case, v) for v in variants(case)[::-1]]
    return results[index[next(name for name in (key(case, variant), *others) if name in index)]]


@kept_for_each_way
def device_of(engine: str, arch: str) -> simt.Device:
    """Programs run once, which gives long ones a draft of their code (`simt.engine.drafts`), or may not."""
    if engine != "jit without drafts":
        return shared_device(engine, arch)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SIMT_DRAFTS", "0")
        return simt.Device(arch, engine="jit", memory="1GiB", timeout=20)


@functools.cache
def module(device: simt.Device, case_path: str) -> simt.Module:
    return device.load(case_path)


def computed(engine: str, case: Case, variant: str) -> NDArray[Any]:
    arch = variant if variant == "sm_100" else "sm_90"
    device = device_of(engine, arch)
    a, b, out = (device.array(values) for values in case.arguments())
    kernel = module(device, str(path(case, variant)))[case.name]
    kernel(case.grid, case.block, (a, b, out, case.n), shared_mem=case.shared)
    return out.numpy().copy()


def ordered(values: NDArray[Any]) -> NDArray[np.int64]:
    """Integers in the order of floating-point values, one apart where those are neighbours."""
    bits = values.view(f"i{values.itemsize}").astype(np.int64)
    least = np.int64(np.iinfo(f"i{values.itemsize}").min)
    return np.where(bits < 0, least - bits, bits)


def differing(tolerance: tuple[int, float], ours: NDArray[Any], theirs: NDArray[Any]) -> NDArray[Any]:
    """Places of results that are not the GPU's."""
    ulps, absolute = tolerance
    if ours.dtype.kind != "f":
        apart = np.abs(ours.astype(np.int64) - theirs.astype(np.int64))
        return np.flatnonzero((ours != theirs) & (apart > ulps))
    nan = np.isnan(ours) & np.isnan(theirs)
    with np.errstate(all="ignore"):
        same = ordered(ours) == ordered(theirs)
        same &= np.signbit(ours) == np.signbit(theirs)
        near = np.abs(ours - theirs) <= absolute
        near |= np.abs(ordered(ours).astype(object) - ordered(theirs).astype(object)) <= ulps
    close = near & np.isfinite(ours) & np.isfinite(theirs) & bool(ulps or absolute)
    return np.flatnonzero(~(nan | same | close))


@pytest.mark.parametrize(("engine", "case", "variant"), [p for name in STEP for p in sampled(name)])
def test_the_gpu_agrees(engine: str, case: Case, variant: str) -> None:
    theirs = expected(case, variant)
    ours = computed(engine, case, variant)
    wrong = differing(case.tolerance(variant), ours, theirs)
    lines = [
        f"row {i // case.n} element {i % case.n}: {ours[i]!r}, GPU {theirs[i]!r}" for i in wrong[:5].tolist()
    ]
    assert not len(wrong), f"{len(wrong)} of {ours.size} differ: " + "; ".join(lines)


def test_every_compilation_is_recorded() -> None:
    """But those for newer targets than the recording GPU's."""
    _, index = recorded()
    assert [key(c, v) for c, v in ALL if key(c, v) not in index and v != "sm_100"] == []


def test_a_wrong_result_is_found() -> None:
    case = CASES[-1]
    theirs = expected(case, variants(case)[0])
    ours = theirs.copy()
    ours[7] ^= 1
    assert differing((0, 0.0), ours, theirs).tolist() == [7]
