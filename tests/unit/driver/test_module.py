"""Modules: variables and their initial values, names; devices and what `load` takes."""

from __future__ import annotations

import gc
from pathlib import Path

import numpy as np
import pytest

import simt
from simt.analysis.outline import FUNCTION_ALIGNMENT
from simt.driver.device import Device
from simt.driver.module import Module
from simt.driver.source import is_text, read_source
from simt.errors import LaunchError, PtxFileError, SimtError

from .conftest import program


def test_symbols_have_type_shape_and_initial_values(saxpy: Module) -> None:
    table = saxpy.symbol("table")
    assert (table.shape, table.dtype) == ((2, 3), np.float32)
    assert table.numpy().tobytes() == bytes(range(24))
    counter = saxpy.symbol("counter")
    assert (counter.shape, counter.dtype, counter.numpy()[()]) == ((), np.uint32, 0)
    pairs = saxpy.symbol("pairs")
    assert (pairs.shape, pairs.dtype) == ((4, 2), np.int16)


def test_variables_cannot_be_freed(saxpy: Module) -> None:
    """Kernels know their addresses."""
    with pytest.raises(SimtError, match="a variable lives as long as its module: its array cannot be freed"):
        saxpy.symbol("counter").free()
    assert saxpy.symbol("counter").numpy()[()] == 0


def test_addresses_in_initialisers(saxpy: Module) -> None:
    """An address of a variable plus 8; the first function's address is the step between functions."""
    pointers = [saxpy.symbols["table"] + 8, FUNCTION_ALIGNMENT]
    np.testing.assert_array_equal(saxpy.symbol("pointers").numpy(), pointers)


def test_one_byte_of_an_address(device: Device) -> None:
    p = program()
    variable = p.variables["pointers"]
    object.__setattr__(variable, "relocations", tuple((7 - i, "table", 0, True, i) for i in range(8)))
    module = Module(device, p, [])
    written = module.symbol("pointers").numpy().tobytes()[:8]
    assert int.from_bytes(written, "big") == module.symbols["table"]


def test_initialiser_without_an_address(device: Device) -> None:
    p = program()
    object.__setattr__(p.variables["pointers"], "relocations", ((0, "tile", 0, False, None),))
    with pytest.raises(LaunchError, match=r"^the initialiser of pointers names tile, which has no address$"):
        Module(device, p, [])


def test_each_load_has_its_own_variables(device: Device) -> None:
    first, second = Module(device, program(), []), Module(device, program(), [])
    first.symbol("counter").numpy()[...] = 5
    assert second.symbol("counter").numpy() == 0


def test_variables_are_freed_with_the_module(device: Device) -> None:
    module = Module(device, program(), [])
    table = module.symbol("table")
    del module
    gc.collect()
    assert device.memory.used == 256
    assert table.numpy().tobytes() == bytes(range(24))


def test_unknown_names(saxpy: Module) -> None:
    assert saxpy.kernels == ["k"]
    assert "k" in saxpy
    with pytest.raises(LaunchError) as problem:
        saxpy["K"]
    assert str(problem.value) == "no kernel 'K' in x.ptx (kernels there: k)"
    with pytest.raises(LaunchError) as problem:
        saxpy.symbol("tabel")
    assert str(problem.value) == (
        "no variable 'tabel' in x.ptx; did you mean 'table'? "
        "(variables there: counter, pairs, pointers, table)"
    )
    with pytest.raises(LaunchError, match="no variable 'tile'"):
        saxpy.symbol("tile")  # shared memory has no address outside a launch


def test_cpp_names(device: Device) -> None:
    p = program()
    kernel = p.functions["k"]
    p.variables = {}
    p.functions = {"_Z5saxpyifPfS_": kernel}
    kernel.name = "_Z5saxpyifPfS_"
    assert Module(device, p, [])["saxpy"].name == "_Z5saxpyifPfS_"


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("kernels.ptx", False),
        ("dir.d/my kernels", False),
        (Path("kernels.ptx"), False),
        (".version 1.4 .target sm_10", True),
        ("// a comment\n", True),
        ("", True),
        ("  ", True),
        (b"kernels.ptx", True),
        (b"", True),
    ],
)
def test_text_or_path(source: str | bytes | Path, text: bool) -> None:
    assert is_text(source) == text


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    missing = str(tmp_path / "missing.ptx")
    with pytest.raises(PtxFileError) as problem:
        read_source(missing)
    assert str(problem.value) == f"cannot read PTX file {missing!r}: No such file or directory"
    assert isinstance(problem.value, simt.PtxError)
    assert problem.value.diagnostics == []
    with pytest.raises(PtxFileError, match="Is a directory"):
        read_source(tmp_path)


def test_device_options(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SIMT_ENGINE", "interpreter")
    monkeypatch.setenv("SIMT_WORKERS", "3")
    device = Device(memory="16MiB")
    assert (device.name, device.engine_name, device.workers) == ("sm_100", "interpreter", 3)
    assert Device("sm_20", "jit", 1 << 24, 1).engine_name == "jit"
    monkeypatch.setenv("SIMT_WORKERS", "many")
    with pytest.raises(SimtError, match=r"^workers: expected a positive number, 'many' given$"):
        Device()
    with pytest.raises(SimtError, match=r"^no engine 'gpu': expected one of jit, interpreter$"):
        Device(engine="gpu")
    with pytest.raises(SimtError, match=r"^timeout: expected a positive number of seconds, -1 given$"):
        Device(workers=1, timeout=-1)


def test_the_package_offers_everything() -> None:
    for name in simt.__all__:
        assert getattr(simt, name).__name__ == name
    with pytest.raises(AttributeError, match="module 'simt' has no attribute 'Devise'"):
        simt.Devise  # noqa: B018
