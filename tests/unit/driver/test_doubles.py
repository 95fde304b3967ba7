"""Double precision in a module whose target has none (PTX 1.4 table 107): the device decides."""

from __future__ import annotations

import numpy as np
import pytest

import simt
from simt.driver.source import check_source

KERNEL = """
.version 1.4
.target {target}
.entry k (.param .u64 x)
{{
    .reg .u64 %a; .reg .f64 %d<3>;
    ld.param.u64 %a, [x];
    ld.global.f64 %d0, [%a];
    add.f64 %d1, %d0, 0d3CB0000000000000; // 2^-52
    st.global.f64 [%a], %d1;
    exit;
}}
"""
LACKS = "`ld.global.f64` requires sm_13 or later, the module's .target is {target}"
SINGLE = "`.target {target}, map_f64_to_f32` for single precision (table 107)"


@pytest.mark.parametrize("target", ["sm_10", "sm_11", "sm_12", "compute_10"])
def test_a_check_warns_once(target: str) -> None:
    (warning,) = check_source(KERNEL.format(target=target), "k.ptx")
    assert str(warning.severity.value) == "warning"
    assert warning.message == f"{LACKS.format(target=target)}: devices below sm_13 do not load the module"
    single = SINGLE.format(target=target)
    assert warning.hint == f"expected `.target` from sm_13 on for double precision, or {single}"
    assert warning.line == 8


@pytest.mark.parametrize("arch", ["sm_10", "sm_11", "sm_12"])
def test_a_device_without_double_precision_refuses(arch: str) -> None:
    device = simt.Device(arch, memory="16MiB")
    with pytest.raises(simt.PtxError) as caught:
        device.load(KERNEL.format(target="sm_10"))
    found = caught.value.diagnostics
    assert [d.line for d in found] == [8, 9, 10]
    assert found[0].message == f"{LACKS.format(target='sm_10')} and the device is {arch}"
    single = SINGLE.format(target="sm_10")
    assert found[0].hint == f"expected a device from sm_13 on for double precision, or {single}"


@pytest.mark.parametrize("arch", ["sm_13", "sm_20", "sm_90"])
def test_devices_that_have_it_compute_in_double_precision(arch: str, engine: str) -> None:
    device = simt.Device(arch, engine=engine, memory="16MiB")
    module = device.load(KERNEL.format(target="sm_12"))
    assert len(module.warnings) == 1
    x = device.array(np.array([1.0]))
    module["k"](1, 1, (x,))
    assert x.numpy()[0] == 1 + 2**-52


def test_what_single_precision_is_for_stays() -> None:
    device = simt.Device("sm_10", memory="16MiB")
    assert not device.load(KERNEL.format(target="sm_10, map_f64_to_f32")).warnings
