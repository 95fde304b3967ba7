"""Modules with instructions that simt knows but does not run: only kernels that reach one are refused."""

from __future__ import annotations

import pickle

import pytest

import simt
from simt.diagnostics import Severity
from simt.driver.source import check_source

HEAD = ".version 8.0\n.target sm_90\n.address_size 64\n"
GOOD = """
.visible .entry good (.param .u64 out)
{
    .reg .u64 %rd<2>;
    ld.param.u64 %rd1, [out];
    st.global.u32 [%rd1], 7;
    ret;
}
"""
BAD = """
.visible .entry bad (.param .u64 out)
{
    .reg .b32 %r<5>;
    .reg .b64 %rd<2>;
    .reg .pred %p<2>;
    ld.param.u64 %rd1, [out];
    setp.ne.u64 %p1, %rd1, 0;
@%p1 bra over;
    getctarank.u64 %r1, %rd1;
    mapa.u32 %r3, %r1, %r1;
over:
    st.global.u32 [%rd1], %r3;
    ret;
}
"""
LINE = (HEAD + BAD).split("\n").index("    getctarank.u64 %r1, %rd1;") + 1
CALLS = """
.func (.reg .u32 %x) inner (.reg .u32 %y)
{
    .reg .b64 %rd<2>;
    griddepcontrol_or_not
    mov.u32 %x, %y;
    ret;
}
.func (.reg .u32 %x) outer (.reg .u32 %y)
{
    call (%x), inner, (%y);
    bar.sync 0;
    ret;
}
.visible .entry caller (.param .u64 out)
{
    .reg .u32 %r<2>;
    .reg .u64 %rd<2>;
    call (%r1), outer, (5);
    ld.param.u64 %rd1, [out];
    st.global.u32 [%rd1], %r1;
    ret;
}
""".replace("griddepcontrol_or_not", "barrier.cluster.arrive.aligned;")


@pytest.fixture
def device(engine: str) -> simt.Device:
    return simt.Device("sm_90", engine=engine, memory="64MiB", timeout=20)


def refusal(module: simt.Module, name: str) -> simt.UnsupportedInstruction:
    array = module.device.zeros(1, "u4")
    with pytest.raises(simt.UnsupportedInstruction) as caught:
        module[name](1, 32, (array,))
    assert not array.numpy().any()
    return caught.value


def test_the_module_loads_and_other_kernels_run(device: simt.Device) -> None:
    module = device.load(HEAD + BAD + GOOD)
    assert module.kernels == ["bad", "good"]
    assert [w.severity for w in module.warnings] == [Severity.WARNING] * 2
    array = device.zeros(1, "u4")
    module["good"](1, 32, (array,))
    assert array.numpy().tolist() == [7]
    assert (module["good"].unsupported, module["good"].obstacle) == ((), None)


def test_a_launch_says_what_where_and_what_else_runs(device: simt.Device) -> None:
    module = device.load(HEAD + BAD + GOOD)
    problem = refusal(module, "bad")
    rank, mapa = "getctarank.u64", "mapa.u32"
    message = (
        f"kernel bad: simt does not run `{rank}` (<ptx> line {LINE}), nor `{mapa}`; "
        "of the module's kernels 1 can be launched: good"
    )
    assert str(problem) == message == module["bad"].obstacle
    assert isinstance(problem, simt.LaunchError)
    assert (problem.instruction, problem.line, problem.file) == (rank, LINE, "<ptx>")
    assert problem.instructions == (rank, mapa) == module["bad"].unsupported
    again = pickle.loads(pickle.dumps(problem))
    assert (str(again), again.line) == (message, LINE)


def test_everything_about_the_kernel_but_its_launch_works(device: simt.Device) -> None:
    kernel = device.load(HEAD + BAD)["bad"]
    assert [p.name for p in kernel.params] == ["out"]
    assert kernel.attributes["shared_size_bytes"] == 0
    assert kernel.active_ctas(32) > 0
    assert "no kernel of the module can be launched" in str(refusal(kernel.module, "bad"))


def test_shape_and_arguments_matter_less(device: simt.Device) -> None:
    kernel = device.load(HEAD + BAD)["bad"]
    with pytest.raises(simt.UnsupportedInstruction):
        kernel(0, 5000, ("nonsense", 2))


def test_calls_reach_it(device: simt.Device) -> None:
    """Through a function that is inlined for its barrier."""
    module = device.load(HEAD + CALLS + GOOD)
    problem = refusal(module, "caller")
    assert "(<ptx> line 8, reached through outer, inner); " in str(problem)
    array = device.zeros(1, "u4")
    module["good"](1, 32, (array,))
    assert array.numpy().tolist() == [7]


def test_the_nearest_one_is_named(device: simt.Device) -> None:
    both = CALLS.replace("    bar.sync 0;\n", "    .reg .b32 %m; mapa.u32 %m, %y, %y;\n")
    problem = refusal(device.load(HEAD + both), "caller")
    assert problem.instruction.startswith("mapa")
    assert "reached through outer), nor `barrier.cluster" in str(problem)


def test_functions_that_nobody_calls_do_not_matter(device: simt.Device) -> None:
    unused = CALLS.replace("    call (%r1), outer, (5);\n", "    mov.u32 %r1, 9;\n")
    module = device.load(HEAD + unused)
    array = device.zeros(1, "u4")
    module["caller"](1, 32, (array,))
    assert array.numpy().tolist() == [9]


def test_recursion_is_looked_through(device: simt.Device) -> None:
    recursive = CALLS.replace("    bar.sync 0;\n", "    call (%x), outer, (%x);\n")
    assert "reached through outer, inner" in str(refusal(device.load(HEAD + recursive), "caller"))


INDIRECT = """
.visible .entry indirect (.param .u64 out)
{
    .reg .u32 %r<2>;
    .reg .u64 %rd<3>;
    mov.u64 %rd1, outer;
targets: .calltargets outer;
    call (%r1), %rd1, (5), targets;
    ret;
}
"""


def test_addresses_of_functions_reach_it(device: simt.Device) -> None:
    assert "reached through outer, inner" in str(refusal(device.load(HEAD + CALLS + INDIRECT), "indirect"))


def test_linked_files(device: simt.Device) -> None:
    library, main = CALLS.split(".visible .entry")
    library = library.replace(".func (.reg .u32 %x) outer", ".visible .func (.reg .u32 %x) outer")
    declared = ".extern .func (.reg .u32 %x) outer (.reg .u32 %y);\n"
    module = device.load([HEAD + declared + ".visible .entry" + main + GOOD, HEAD + library])
    assert "(<ptx 2> line 8, reached through outer, inner)" in str(refusal(module, "caller"))
    module["good"](1, 32, (device.zeros(1, "u4"),))


def test_captured_sequences(device: simt.Device) -> None:
    module = device.load(HEAD + BAD + GOOD)
    array = device.zeros(1, "u4")
    with device.capture() as sequence:
        module["good"](1, 32, (array,))
        with pytest.raises(simt.UnsupportedInstruction):
            module["bad"](1, 32, (array,))
    sequence()
    assert array.numpy().tolist() == [7]


def test_loaded_again(device: simt.Device) -> None:
    for _ in range(2):  # the second time the program might come from the cache
        module = device.load(HEAD + BAD + GOOD)
        assert len(module.warnings) == 2
        refusal(module, "bad")


def test_check_has_warnings_only() -> None:
    found = check_source(HEAD + BAD + GOOD, "file.ptx")
    assert [(d.severity, d.line) for d in found] == [(Severity.WARNING, LINE), (Severity.WARNING, LINE + 1)]


def test_unknown_instructions_refuse_the_file(device: simt.Device) -> None:
    with pytest.raises(simt.PtxError, match="unknown instruction `getctarnk`"):
        device.load(HEAD + GOOD + BAD.replace("getctarank", "getctarnk"))


def test_very_many_of_them_hide_no_error() -> None:
    many = "\n".join(f"    getctarank.u64 %r{i}, %rd0;" for i in range(1500))
    registers = ".reg .b32 %r<1500>; .reg .b64 %rd0;"
    text = f"{HEAD}.entry k {{\n    {registers}\n{many}\n    add.u32 %r1, %r1;\n    ret;\n}}\n"
    found = check_source(text, "file.ptx")
    assert [d.severity for d in found] == [Severity.WARNING, Severity.ERROR]


def test_long_names_are_cut_short() -> None:
    """Those of C++ templates have thousands of characters."""
    name = f"_ZN{'7cutlass6Kernel' * 300}EvT_"
    module = simt.Device("sm_90").load(HEAD + (GOOD + BAD).replace("good", f"{name}1").replace("bad", name))
    with pytest.raises(simt.UnsupportedInstruction) as refused:
        module[name](1, 1, (0,))
    message = str(refused.value)
    assert len(message) < 600
    assert message.startswith(f"kernel {name[:90]}")
    assert "simt does not run `getctarank.u64`" in message
    assert message.endswith(f"{name[-20:]}1")
