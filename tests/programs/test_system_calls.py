"""Calls of the system: what kernels print, assert, and take from the heap."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest

import simt
from tests.programs.harness import load

Printed = list[str]


@pytest.fixture
def printed(device: simt.Device, monkeypatch: pytest.MonkeyPatch) -> Printed:
    """What the device's kernels print during a test, one text for each call."""
    texts: Printed = []
    monkeypatch.setattr(device, "printf", texts.append)
    return texts


def test_printf_in_divergent_code(device: simt.Device, printed: Printed) -> None:
    n, name = 70, np.frombuffer("Fädchen\0".encode(), "u1")
    results = device.array(np.full(80, -9, "i4"))
    load(device, "system_calls")["greet"]((2,), (40,), (device.array(name), n, results))
    share = np.float32(100) * np.arange(n, dtype="f4") / np.float32(n)
    assert printed == [f"Fädchen {i} of {n}: {share[i]:5.2f}%\n" for i in range(0, n, 3)]
    np.testing.assert_array_equal(results.numpy(), [4 if i % 3 == 0 and i < n else -9 for i in range(80)])


def test_barriers_order_what_a_cta_prints(device: simt.Device, printed: Printed) -> None:
    load(device, "system_calls")["phases"]((3,), (96,), (4,))
    for cta in range(3):  # those of one CTA stay together
        for phase in range(4):
            found = sorted(printed[(cta * 4 + phase) * 3 :][:3])
            assert found == [f"CTA {cta}, phase {phase}, warp {w}\n" for w in range(3)]
    assert len(printed) == 36


def collatz(n: int) -> list[int]:
    path: list[int] = []
    while n != 1:
        path.append(n)
        n = 3 * n + 1 if n % 2 else n // 2
    return path


def test_printf_in_a_recursive_function(device: simt.Device, printed: Printed) -> None:
    starts = [6, 1, 7, 27 * 4, 3, 2, 12]
    steps = device.zeros(len(starts), "i4")
    load(device, "system_calls")["paths"]((1,), (len(starts),), (device.array(np.array(starts, "i4")), steps))
    found: dict[str, Printed] = defaultdict(list)
    for text in printed:
        found[text.split()[0]].append(text)
    for i, start in enumerate(starts):
        path = collatz(start)
        assert steps.numpy()[i] == len(path)
        expected = [f"[{i}] " + f"{n}".rjust(depth + 4) + "\n" for depth, n in enumerate(path)]
        assert found[f"[{i}]"] == expected[::-1]


def test_assertion(device: simt.Device) -> None:
    values = np.arange(1, 201, dtype="i4")
    kernel = load(device, "system_calls")["positive"]
    kernel((4,), (50,), (device.array(values), 200))
    values[133:] = 0
    with pytest.raises(simt.AssertionFault) as error:
        kernel((4,), (50,), (device.array(values), 200))
    text = "system_calls.cu:40: void positive(const int *, int): assertion `values[i] > 0` failed"
    assert str(error.value).startswith(f"{text} (kernel positive, CTA (")
    site = error.value.site
    assert site.cta in ((2, 0, 0), (3, 0, 0))  # which of them comes first is the workers' affair
    assert site.thread == ((33, 0, 0) if site.cta == (2, 0, 0) else (0, 0, 0))
    assert site.line is not None


def test_lists_on_the_heap(device: simt.Device) -> None:
    sums = device.zeros(90, "i4")
    load(device, "system_calls")["sums_of_multiples"]((2,), (45,), (sums, 150))
    np.testing.assert_array_equal(sums.numpy(), [sum(range(n, 150, n)) for n in range(1, 91)])
    assert device.heap(device.memory).used == 0


def test_memory_outlives_the_kernel_that_took_it(device: simt.Device) -> None:
    threads, words = 64, 25
    module, blocks = load(device, "system_calls"), device.zeros(threads, "u8")
    module["take"]((2,), (32,), (blocks, 4 * words))
    places = np.sort(blocks.numpy())
    assert places[0] > 0
    assert np.all(places % 16 == 0)
    assert np.all(np.diff(places) >= 4 * words)
    module["fill"]((2,), (32,), (blocks, words))
    values = device.zeros((threads, words), "i4")
    module["collect"]((2,), (32,), (blocks, words, values))
    np.testing.assert_array_equal(values.numpy(), np.arange(threads * words).reshape(threads, words))
    module["give"]((2,), (32,), (blocks,))
    assert device.heap(device.memory).used == 0
    with pytest.raises(
        simt.MemoryFault, match="is no block in use: freed before, or not from malloc"
    ) as error:
        module["give"]((1,), (1,), (blocks,))
    assert error.value.address == blocks.numpy()[0]


def test_virtual_functions_of_objects_on_the_heap(device: simt.Device) -> None:
    a = np.arange(1, 41, dtype="f4")
    b = np.where(np.arange(40) % 3, a + 2, 0).astype("f4")
    result = device.zeros(40, "f4")
    load(device, "system_calls")["areas"]((1,), (40,), (device.array(a), device.array(b), result))
    np.testing.assert_array_equal(result.numpy(), np.where(b == 0, a * a, a * b / 2))
