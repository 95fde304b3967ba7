"""Programs that read images as textures, as nvcc makes them of texture objects."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

import simt
from tests.programs.harness import HERE, assert_within, cover, rng

NAME = "images"
W, H = 70, 45
BLOCKS = ((32, 8), (16, 16), (8, 8), (10, 10), (1, 1), (1, 64), (20, 20))
VARIABLE = ".version 6.4\n.target sm_75\n.address_size 64\n.visible .global .texref image;\n"
Floats = NDArray[np.float32]


@pytest.fixture
def images(device: simt.Device) -> simt.Module:
    """The kernels, and a variable that stands for a texture object."""
    return device.load([HERE / f"{NAME}.ptx", VARIABLE])


def launch(
    module: simt.Module, name: str, block: Sequence[int], *arguments: object, device: simt.Device
) -> Floats:
    out = device.zeros((H, W), "f4")
    grid = cover(W, block[0]), cover(H, block[1])
    module[name](grid, tuple(block), (out, *arguments, module.symbol("image")))
    return out.numpy().copy()


def picture(seed: int) -> Floats:
    """Multiples of 1/8, of which sums are exact."""
    return (rng(seed).integers(-512, 512, (H, W)) / 8).astype("f4")


@pytest.mark.parametrize("block", BLOCKS)
@pytest.mark.parametrize("address", ["clamp", "border"])
def test_sums_of_texels(
    device: simt.Device, images: simt.Module, block: tuple[int, int], address: str
) -> None:
    image = picture(1)
    images.texture("image").bind(device.array(image), address=address)  # type: ignore[arg-type]
    found = launch(images, "box_sums", block, W, H, 2, device=device)
    around = np.pad(image, 2, mode="edge" if address == "clamp" else "constant")
    windows = np.lib.stride_tricks.sliding_window_view(around, (5, 5))
    np.testing.assert_array_equal(found, windows.sum((2, 3)))


def filtered(image: Floats, x: Floats, y: Floats) -> NDArray[np.float64]:
    """Between the four texels around points in an image that repeats."""
    x0, y0 = np.floor(x - 0.5), np.floor(y - 0.5)
    right, lower = x - 0.5 - x0, y - 0.5 - y0
    found = np.zeros(x.shape)
    for dy, dx in np.ndindex(2, 2):
        texel = image[(y0 + dy).astype(int) % image.shape[0], (x0 + dx).astype(int) % image.shape[1]]
        found += texel * (lower if dy else 1 - lower) * (right if dx else 1 - right)
    return found


@pytest.mark.parametrize("block", BLOCKS)
def test_an_image_turned(device: simt.Device, images: simt.Module, block: tuple[int, int]) -> None:
    image, angle = picture(2), 0.7
    images.texture("image").bind(device.array(image), filter="linear", address="wrap", normalized=True)
    sine, cosine = np.float32(np.sin(angle)), np.float32(np.cos(angle))
    found = launch(images, "turned", block, W, H, sine, cosine, device=device)
    y, x = np.mgrid[:H, :W]
    u, v = (x + 0.5) / W - 0.5, (y + 0.5) / H - 0.5
    expected = filtered(image, (u * cosine - v * sine + 0.5) * W, (v * cosine + u * sine + 0.5) * H)
    assert_within(found, expected, 2 * 128 / 256)  # weights have 8 bits


def test_colours(device: simt.Device, images: simt.Module) -> None:
    colours = rng(3).integers(0, 256, (H, W, 4)).astype("u1")
    images.texture("image").bind(device.array(colours), read_as="float", channels=4)
    found = launch(images, "luminance", (32, 8), W, H, device=device)
    assert_within(found, (colours / 255.0) @ [0.25, 0.5, 0.125, 2.0], 1e-6)


@pytest.mark.parametrize("block", [(32, 8), (8, 8)])
def test_rays_that_end_at_different_times(
    device: simt.Device, images: simt.Module, block: tuple[int, int]
) -> None:
    """In a volume that is the same all over, but for a side that is empty."""
    volume = np.zeros((6, 5, 8), "f4")
    volume[..., 4:] = 1
    images.texture("image").bind(device.array(volume), filter="linear", normalized=True)
    steps = device.zeros((H, W), "i4")
    found = launch(images, "fog", block, steps, W, H, np.float32(1 / 16), device=device)
    dense = np.clip(np.floor(((np.arange(W) + 0.5) / W * 8 - 0.5) * 256 + 0.5) / 256 - 3, 0, 1)
    expected, taken = np.zeros(W), np.zeros(W, int)
    for _ in range(64):
        goes = expected < 0.5
        expected += goes * (1 - expected) / 16 * dense
        taken += goes
    assert_within(found, np.tile(expected, (H, 1)), 1e-3)
    assert np.abs(steps.numpy() - taken).max() <= 1
    assert len(np.unique(steps.numpy())) > 5


def test_a_tile_of_texels(device: simt.Device, images: simt.Module) -> None:
    image = picture(4)
    images.texture("image").bind(device.array(image))
    found = launch(images, "edges", (32, 8), W, H, device=device)
    around = np.pad(image, 1, mode="edge")
    across, down = around[1:-1, 2:] - around[1:-1, :-2], around[2:, 1:-1] - around[:-2, 1:-1]
    np.testing.assert_array_equal(found, across + down)


def test_runs_of_a_line(device: simt.Device, images: simt.Module) -> None:
    line = (rng(5).integers(-512, 512, 5000) / 8).astype("f4")
    start, length = rng(6).integers(0, 4900, 999, "i4"), rng(7).integers(0, 90, 999, "i4")
    images.texture("image").bind(device.array(line))
    out = device.zeros(999, "f4")
    arguments = out, device.array(start), device.array(length), 999, images.symbol("image")
    images["run_sums"]((4,), (128,), arguments)
    np.testing.assert_array_equal(out.numpy(), [line[s : s + n].sum() for s, n in zip(start, length)])


def test_the_engines_give_the_same_bits() -> None:
    """Where the bounds above are wide."""
    found: list[Floats] = []
    for engine in ("jit", "interpreter"):
        device = simt.Device("sm_80", engine=engine, memory="64MiB")
        module = device.load([HERE / f"{NAME}.ptx", VARIABLE])
        module.texture("image").bind(
            device.array(picture(2)), filter="linear", address="mirror", normalized=True
        )
        scale = np.float32(2.5), np.float32(1.25)
        found.append(launch(module, "turned", (16, 16), W, H, *scale, device=device))
    np.testing.assert_array_equal(*found)
