"""Three-dimensional grids and CTAs, and a structure passed by value."""

from __future__ import annotations

import numpy as np
import pytest

import simt
from tests.programs.harness import cover, load, rng

SHAPES = [((7, 5, 3), (4, 2, 2)), ((33, 2, 4), (32, 1, 3)), ((1, 1, 9), (1, 1, 5))]


def int3(*values: int) -> bytes:
    return np.array(values, "i4").tobytes()


@pytest.mark.parametrize(("size", "block"), SHAPES)
def test_labels_of_a_volume(
    device: simt.Device, size: tuple[int, int, int], block: tuple[int, int, int]
) -> None:
    labels, distances = device.zeros(size[::-1], "u4"), device.zeros(size[::-1], "f4")
    grid = tuple(map(cover, size, block))
    load(device, "volume")["label"](grid, block, (labels, distances, int3(*size)))
    place = np.indices(size[::-1], dtype="u4")[::-1]
    shifts = zip(place, block, ((28, 14), (24, 7), (20, 0)))
    expected = sum((p // n << cta) + (p % n << thread) for p, n, (cta, thread) in shifts)
    np.testing.assert_array_equal(labels.numpy(), expected)
    np.testing.assert_array_equal(distances.numpy(), np.sqrt((place**2).sum(0).astype("f4")))


@pytest.mark.parametrize(("size", "block"), SHAPES)
def test_neighbours_on_a_torus(
    device: simt.Device, size: tuple[int, int, int], block: tuple[int, int, int]
) -> None:
    live = rng().integers(0, 2, size[::-1], dtype="u1")
    count = device.zeros(size[::-1], "u1")
    grid = tuple(map(cover, size, block))
    load(device, "volume")["neighbours"](grid, block, (device.array(live), count, int3(*size)))
    shifts = [(z, y, x) for z in (-1, 0, 1) for y in (-1, 0, 1) for x in (-1, 0, 1) if (z, y, x) != (0, 0, 0)]
    expected = sum(np.roll(live, shift, (0, 1, 2)) for shift in shifts)
    np.testing.assert_array_equal(count.numpy(), expected)


@pytest.mark.parametrize(("grid", "block"), [((2, 3, 2), (5, 3, 4)), ((3,), (40,)), ((2, 2), (8, 8))])
def test_what_threads_know_of_their_shape(
    device: simt.Device, grid: tuple[int, ...], block: tuple[int, ...]
) -> None:
    ctas, threads = int(np.prod(grid)), int(np.prod(block))
    shapes = device.zeros((ctas, threads, 4), "u4")
    load(device, "volume")["shape"](grid, block, (shapes,))

    def packed(shape: tuple[int, ...]) -> int:
        x, y, z = (*shape, 1, 1)[:3]
        return x + 100 * y + 10000 * z

    thread = np.arange(threads)
    expected = np.stack(np.broadcast_arrays(packed(block), packed(grid), thread % 32, thread), axis=1)
    np.testing.assert_array_equal(shapes.numpy(), np.broadcast_to(expected, (ctas, threads, 4)))


CAMERA = np.dtype(
    [
        ("position", "f8", 3),
        ("matrix", "f4", (3, 4)),
        ("flags", "u1", 5),
        ("shift", "i2"),
        ("seed", "i8"),
        ("points", "u8"),
    ],
    align=True,
)


def test_structure_by_value(device: simt.Device) -> None:
    n = 101
    points = device.array((rng().integers(-99, 99, (n, 3)) / 4).astype("f4"))
    camera = np.zeros((), CAMERA)
    camera["position"], camera["flags"] = (1.5, -2.25, 1024), (2, 0, 1, 200, 255)
    camera["matrix"] = rng(1).integers(-8, 8, (3, 4)) / 2
    camera["shift"], camera["seed"], camera["points"] = -321, 0x123456789AB, points.ptr
    result, tags = device.zeros(n, "f4"), device.zeros(n, "i8")
    load(device, "struct_param")["project"]((4,), (30,), (camera.tobytes(), n, result, tags))
    i = np.arange(n)
    rows = camera["matrix"].astype("f8")[camera["flags"][i % 5] % 3]
    relative = points.numpy() - camera["position"]
    np.testing.assert_array_equal(result.numpy(), (rows[:, :3] * relative).sum(1) + rows[:, 3])
    np.testing.assert_array_equal(tags.numpy(), camera["seed"] * (i + 1) + camera["shift"])
