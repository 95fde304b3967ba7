"""Performance directives (PTX 1.4 tables 98-100) and the resources of old devices."""

from __future__ import annotations

import pytest

import simt

LIMITED = """
.version 1.4
.target sm_10
.shared .b8 tile[5000];
.entry shaped .maxntid 16, 8 { exit; }
.entry counted .maxntid 64 .maxnctapersm 3 { exit; }
.entry targeted .maxntid 64 .maxnctapersm sm_10:4, sm_13:8, compute_90:2 { exit; }
.entry sharing { st.shared.b8 [tile], 0; exit; }
.entry plain .maxnreg 16 { exit; }
.entry many { bar.sync 15; exit; }
"""


def kernel(arch: str, name: str) -> simt.Kernel:
    text = LIMITED.replace("st.shared.b8 [tile], 0;", ".reg .u32 %r; mov.u32 %r, 0; st.shared.u8 [tile], %r;")
    return simt.Device(arch, memory="16MiB").load(text)[name]


def test_maxntid_is_a_number_of_threads() -> None:
    shaped = kernel("sm_10", "shaped")
    for block in ((16, 8), (8, 16), (128,), (1, 1, 64)):
        shaped(1, block)
    for block in ((16, 9), (129,), (12, 11)):
        with pytest.raises(simt.LaunchError, match=r"kernel shaped: block .* \.maxntid allows at most 128"):
            shaped(1, block)
    assert shaped.attributes["max_threads_per_block"] == 128
    assert shaped.attributes["maxntid"] == (16, 8, 1)


@pytest.mark.parametrize(
    ("arch", "name", "block", "expected"),
    [
        ("sm_10", "counted", 64, 3), ("sm_90", "counted", 64, 3),
        ("sm_10", "targeted", 64, 4), ("sm_13", "targeted", 32, 8), ("sm_90", "targeted", 64, 2),
        ("sm_11", "targeted", 64, 8),
        ("sm_10", "plain", 256, 3), ("sm_10", "plain", 257, 2), ("sm_12", "plain", 256, 4),
        ("sm_10", "plain", 32, 8), ("sm_90", "plain", 32, 32),
        ("sm_10", "sharing", 32, 3), ("sm_35", "sharing", 32, 9),
    ],
)  # fmt: skip
def test_ctas_that_a_multiprocessor_holds(arch: str, name: str, block: int, expected: int) -> None:
    """8800 GTX: 768 threads and 8 CTAs; from 1.2 on 1,024 threads; 16 KiB of shared memory."""
    assert kernel(arch, name).active_ctas(block) == expected


def test_dynamic_shared_memory_counts() -> None:
    sharing = kernel("sm_10", "sharing")
    assert sharing.active_ctas(32, shared_mem=3100) == 2
    with pytest.raises(simt.LaunchError, match="at most 16384 a CTA"):
        sharing.active_ctas(32, shared_mem=16000)
    with pytest.raises(simt.LaunchError, match="may be at most 512 on sm_10"):
        sharing.active_ctas(513)


def test_limits_of_the_first_generation() -> None:
    plain = kernel("sm_10", "plain")
    for grid, block, message in (
        (1, (513,), "extent x may be at most 512"),
        (1, (1, 1, 65), "extent z may be at most 64"),
        (1, (32, 32), "1024 threads; sm_10 allows at most 512 a CTA"),
        ((1, 1, 2), (1,), "extent z may be at most 1 on sm_10"),
        ((65536,), (1,), "extent x may be at most 65535"),
    ):
        with pytest.raises(simt.LaunchError, match=message):
            plain(grid, block)
    assert plain.attributes["maxnreg"] == (16,)


@pytest.mark.parametrize(("arch", "directive", "most"), [
    ("sm_10", ".maxnreg 16", 16), ("sm_10", "", 124), ("sm_20", "", 63), ("sm_35", "", 150),
])  # fmt: skip
def test_registers_that_a_thread_gets(arch: str, directive: str, most: int) -> None:
    """A kernel with 150 of them: `.maxnreg` is never exceeded (table 98), nor what the machine has."""
    text = f".version 1.4 .target sm_10 .entry k () {directive} {{ .reg .u32 %r<150>; "
    text += " ".join(f"mov.u32 %r{i}, {i};" for i in range(150)) + " exit; }"
    k = simt.Device(arch, memory="16MiB").load(text)["k"]
    assert k.attributes["num_regs"] == most


def test_sixteen_barriers() -> None:
    kernel("sm_10", "many")(1, 64)
    with pytest.raises(simt.PtxError, match="16"):
        simt.Device("sm_10", memory="16MiB").load(LIMITED.replace("bar.sync 15", "bar.sync 16"))


@pytest.mark.parametrize("arch", ["sm_10", "sm_90"])
def test_constant_memory(arch: str) -> None:
    """64 KiB on every device."""
    device = simt.Device(arch, memory="16MiB")
    head = ".version 1.4\n.target sm_10\n.const .b8 first[65520];\n"
    device.load(head + ".const .u32 second[4];")
    with pytest.raises(simt.PtxError, match=r"need 65540 bytes up to `second`; sm_.. has 65536") as caught:
        device.load(head + ".const .u32 second[5];")
    assert caught.value.diagnostics[0].line == 4


def test_ctas_larger_than_the_device_has() -> None:
    """A file may ask for them (ptxas takes it, at most with a warning); a launch gets what the device has."""
    text = LIMITED + ".entry large .maxntid 513 { exit; }\n"
    large = simt.Device("sm_10", memory="16MiB").load(text)["large"]
    assert large.attributes["max_threads_per_block"] == 512
    large(1, 512)
    with pytest.raises(simt.LaunchError, match="513 threads; sm_10 allows at most 512 a CTA"):
        large(1, (27, 19))
    text = ".version 2.1\n.target sm_20\n.entry huge() .reqntid 1025 { exit; }\n"
    huge = simt.Device("sm_90", memory="16MiB").load(text)["huge"]
    with pytest.raises(simt.LaunchError, match="may be at most 1024 on sm_90"):
        huge(1, 1025)
    with pytest.raises(simt.LaunchError, match=r"\.reqntid requires \(1025, 1, 1\)"):
        huge(1, 1024)


def test_registers_of_all_threads_fit() -> None:
    """8192 registers on sm_10: 16 for each of 512 threads, not 20."""
    text = LIMITED.replace(".maxnreg 16", ".maxnreg 20")
    plain = simt.Device("sm_10", memory="16MiB").load(text)["plain"]
    plain(1, 384)
    with pytest.raises(simt.LaunchError, match=r"^kernel plain: block \(512, 1, 1\) .* sm_10 has 8192$"):
        plain(1, 512)
    kernel("sm_10", "plain")(1, 512)
