"""Several files loaded together: `.extern` and `.visible` (PTX 1.4 tables 104 and 105)."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import simt

HEAD_32 = ".version 1.4\n.target sm_10\n"
HEAD = ".version 6.0\n.target sm_30\n.address_size 64\n"


@pytest.fixture
def device(engine: str) -> simt.Device:
    return simt.Device("sm_90", engine=engine, memory="64MiB", timeout=20)


MAIN = (
    HEAD_32
    + """
.extern .const .f32 factors[];
.extern .global .u32 counter;
.extern .func (.reg .f32 %r) scale (.reg .f32 %x, .reg .u32 %n);
.global .u32 own = 5;
.entry k (.param .u32 out)
{
    .reg .u32 %i, %o, %t, %v; .reg .f32 %f;
    cvt.u32.u16 %i, %tid.x;
    cvt.rn.f32.u32 %f, %i;
    call (%f), scale, (%f, %i);
    ld.const.f32 %f, [factors+4];
    call (%f), scale, (%f, %i);
    ld.global.u32 %v, [counter];
    ld.global.u32 %t, [own];
    add.u32 %v, %v, %t;
    cvt.rzi.u32.f32 %t, %f;
    mad.lo.u32 %v, %t, 100, %v;
    ld.param.u32 %o, [out];
    mul24.lo.u32 %t, %i, 4;
    add.u32 %o, %o, %t;
    st.global.u32 [%o], %v;
    exit;
}
"""
)

OTHER = (
    HEAD_32
    + """
.visible .const .f32 factors[3] = { 1.0, 3.0, 5.0 };
.visible .global .u32 counter = 7;
.global .u32 own[2] = { 1, 2 };
.func (.reg .u32 %r) get { ld.global.u32 %r, [own+4]; ret; }
.visible .func (.reg .f32 %r) scale (.reg .f32 %x, .reg .u32 %n)
{
    .reg .u32 %own; .reg .f32 %f;
    call (%own), get;
    add.u32 %own, %own, %n;
    cvt.rn.f32.u32 %f, %own;
    mul.f32 %r, %x, %f;
    ret;
}
.entry other { exit; }
"""
)
"""`own` is its own; the result is x * (2 + n)."""


@pytest.mark.parametrize("swapped", [False, True])
def test_names_are_found_in_other_files(device: simt.Device, swapped: bool) -> None:
    module = device.load([OTHER, MAIN] if swapped else [MAIN, OTHER])
    assert sorted(module.kernels) == ["k", "other"]
    out = device.zeros(5, "u4")
    module["k"](1, 5, (out,))
    np.testing.assert_array_equal(out.numpy(), [3 * (2 + i) * 100 + 7 + 5 for i in range(5)])
    module.symbol("counter").numpy()[...] = 8
    module["k"](1, 5, (out,))
    np.testing.assert_array_equal(out.numpy(), [3 * (2 + i) * 100 + 8 + 5 for i in range(5)])


def test_paths_and_texts_may_be_mixed(device: simt.Device, tmp_path: Path) -> None:
    path = tmp_path / "other.ptx"
    path.write_text(OTHER)
    module = device.load((MAIN.encode(), path))
    assert "k" in module
    assert "other" in module


def test_one_file_in_a_list(device: simt.Device) -> None:
    assert device.load([OTHER]).kernels == ["other"]
    for nothing in ([], ()):
        with pytest.raises(simt.PtxError, match="nothing to load: expected at least one PTX file"):
            device.load(nothing)


ADDRESSES = [
    HEAD + """
.extern .global .u32 table[4];
.extern .func (.param .b32 r) add_one (.param .b32 x);
.global .u64 places[2] = { table + 8, add_one };
.visible .entry k (.param .u64 out)
{
    .reg .u64 %p, %o; .reg .u32 %v, %w;
    ld.param.u64 %o, [out];
    ld.global.u64 %p, [places];
    ld.global.u32 %v, [%p];
    ld.global.u64 %p, [places+8];
    {
        .param .b32 a; .param .b32 b;
        st.param.b32 [a], %v;
        proto: .callprototype (.param .b32 _) _ (.param .b32 _);
        call (b), %p, (a), proto;
        ld.param.b32 %w, [b];
    }
    st.global.u32 [%o], %w;
    ret;
}
""",
    HEAD + """
.visible .global .u32 table[4] = { 10, 20, 30, 40 };
.global .u32 places = 1;
.visible .func (.param .b32 r) add_one (.param .b32 x)
{
    .reg .u32 %x, %y;
    ld.param.b32 %x, [x];
    ld.global.u32 %y, [places];
    add.u32 %x, %x, %y;
    st.param.b32 [r], %x;
    ret;
}
""",
]  # fmt: skip


def test_addresses_of_what_other_files_define(device: simt.Device) -> None:
    """In initial values, and as targets of indirect calls; a local name that both have."""
    out = device.zeros(1, "u4")
    device.load(ADDRESSES)["k"](1, 1, (out,))
    assert out.numpy()[0] == 31


def test_shared_variables(device: simt.Device) -> None:
    user = (
        HEAD
        + """
.extern .shared .u32 tile[64];
.extern .shared .align 8 .u32 dynamic[];
.shared .u32 mine[3];
.extern .func fill;
.visible .entry k (.param .u64 out)
{
    .reg .u64 %o; .reg .u32 %v, %w;
    mov.u32 %v, %tid.x;
    st.shared.u32 [dynamic+4], 9;
    st.shared.u32 [mine], 5;
    call fill;
    ld.shared.u32 %v, [tile+8];
    ld.shared.u32 %w, [dynamic+4];
    mad.lo.u32 %v, %v, 10, %w;
    ld.shared.u32 %w, [mine];
    mad.lo.u32 %v, %v, 10, %w;
    ld.param.u64 %o, [out];
    st.global.u32 [%o], %v;
    ret;
}
"""
    )
    definer = (
        HEAD
        + """
.visible .shared .u32 tile[64];
.extern .shared .align 16 .u32 dynamic[];
.shared .u32 mine[3];
.visible .func fill
{
    .reg .u32 %w;
    st.shared.u32 [tile+8], 7;
    st.shared.u32 [mine], 1;
    ld.shared.u32 %w, [dynamic+4];
    add.u32 %w, %w, 1;
    st.shared.u32 [dynamic+4], %w;
    ret;
}
"""
    )
    out = device.zeros(1, "u4")
    device.load([user, definer])["k"](1, 1, (out,), shared_mem=8)
    assert out.numpy()[0] == (7 * 10 + 10) * 10 + 5


def test_weak_definitions_give_way(device: simt.Device) -> None:
    def text(linkage: str, value: int, kernel: str) -> str:
        return (
            HEAD
            + f"""
.{linkage} .func (.reg .u32 %r) value {{ mov.u32 %r, {value}; ret; }}
.visible .entry {kernel} (.param .u64 out)
{{
    .reg .u64 %o; .reg .u32 %v;
    call (%v), value;
    ld.param.u64 %o, [out];
    st.global.u32 [%o], %v;
    ret;
}}
"""
        )

    out = device.zeros(1, "u4")
    for linkages, expected in ((("weak", "visible"), 2), (("visible", "weak"), 1), (("weak", "weak"), 1)):
        files = [text(linkage, i + 1, f"k{i}") for i, linkage in enumerate(linkages)]
        module = device.load(files)
        for kernel in ("k0", "k1"):
            module[kernel](1, 1, (out,))
            assert out.numpy()[0] == expected, (linkages, kernel)


def test_the_language_of_each_file_is_its_own(device: simt.Device) -> None:
    """PTX 1.x flushes subnormals, PTX 2.0 does not."""
    old = """.version 1.4
.target sm_13
.visible .func (.reg .f32 %r) f (.reg .f32 %x) { add.f32 %r, %x, 0.0; ret; }
"""
    new = """.version 2.0
.target sm_20
.extern .func (.reg .f32 %r) f (.reg .f32 %x);
.entry k (.param .u64 out)
{
    .reg .u64 %o; .reg .f32 %x, %y;
    mov.f32 %x, 0f00000001;
    ld.param.u64 %o, [out];
    call (%y), f, (%x);
    st.global.f32 [%o], %y;
    add.f32 %y, %x, 0.0;
    st.global.f32 [%o+4], %y;
    ret;
}
"""
    out = device.zeros(2, "u4")
    out.numpy()[...] = 99
    device.load([old, new])["k"](1, 1, (out,))
    np.testing.assert_array_equal(out.numpy(), [0, 1])


# ---------------------------------------------------------------- what does not fit


def problems(*files: str) -> list[str]:
    """Findings as `file:line: message // hint`."""
    with pytest.raises(simt.PtxError) as caught:
        simt.Device("sm_90", memory="16MiB").load(list(files))
    found = caught.value.diagnostics
    return [f"{d.source.name}:{d.line}: {d.message}" + (f" // {d.hint}" if d.hint else "") for d in found]


def test_defined_twice() -> None:
    file = HEAD + ".visible .global .u32 x;\n.entry k { ret; }\n.visible .func f { ret; }\n.func g { ret; }\n"
    assert problems(file, file) == [
        "<ptx 2>:4: `x` is defined in <ptx 1> line 4 already",
        "<ptx 2>:5: `k` is defined in <ptx 1> line 5 already",
        "<ptx 2>:6: `f` is defined in <ptx 1> line 6 already",
    ]


USER = (
    HEAD
    + """{}
.entry k {{ .reg .u32 %r; .reg .u64 %d; {} ret; }}
"""
)


def test_defined_nowhere() -> None:
    user = USER.format(".extern .global .u32 x;", "ld.global.u32 %r, [x]; ld.global.u32 %r, [x+0];")
    hint = "load the file that defines it together with this one"
    assert problems(user, HEAD) == [
        f"<ptx 1>:4: `.extern` variable `x` has no definition in this module // {hint}"
    ]


@pytest.mark.parametrize(
    ("declared", "defined", "difference"),
    [
        (".global .u32 x", ".visible .global .f32 x", ".global .u32 here, .global .f32 there"),
        (".global .u32 x", ".visible .global .u64 x", ".global .u32 here, .global .u64 there"),
        (".global .u32 x", ".visible .const .u32 x", ".global .u32 here, .const .u32 there"),
        (".global .v2 .u32 x", ".visible .global .u32 x", ".global .v2 .u32 here, .global .u32 there"),
        (".global .u32 x[3]", ".visible .global .u32 x[4]", "[3] here, [4] there"),
        (".global .u32 x[3]", ".visible .global .u32 x", "an array here only"),
        (".func x", ".visible .global .u32 x", "it is a variable there"),
        (".func x (.reg .u32 a)", ".visible .func x { ret; }", "1 parameters, there 0"),
        (
            ".func x (.reg .u32 a)", ".visible .func x (.reg .f32 b) { ret; }",
            "parameter `a`: .reg .u32 here, .reg .f32 there",
        ),
        (".func (.reg .u32 a) x", ".visible .func x { ret; }", "1 results, there 0"),
    ],
)  # fmt: skip
def test_types_that_differ(declared: str, defined: str, difference: str) -> None:
    other = HEAD + defined + ("" if "}" in defined else ";")
    assert problems(HEAD + f".extern {declared};", other) == [
        f"<ptx 1>:4: `x` does not agree with its definition in <ptx 2> line 4: {difference}"
    ]


def test_sizes_that_one_file_leaves_open_agree(device: simt.Device) -> None:
    device.load([HEAD + ".extern .global .b32 x[];", HEAD + ".visible .global .u32 x[4];"])


def test_not_visible() -> None:
    user = USER.format(".extern .func f;", "call f;")
    message = "`f` is declared here, but <ptx 2> line 4 defines it for its own file"
    found = problems(user, HEAD + ".func f { ret; }")
    assert found == [f"<ptx 1>:4: {message} // expected `.visible` there"]


def test_address_sizes_that_differ() -> None:
    assert problems(HEAD, HEAD.replace("64", "32")) == [
        "<ptx 2>:1: addresses have 32 bits here, but 64 in <ptx 1>"
    ]


def test_errors_of_every_file_are_listed() -> None:
    bad = HEAD + ".entry k { nonsense; }"
    assert [p.partition(": ")[0] for p in problems(bad, HEAD, bad)] == ["<ptx 1>:4", "<ptx 3>:4"]


def test_a_file_for_a_newer_device() -> None:
    with pytest.raises(simt.PtxError, match="needs sm_30 or newer, the device is sm_10"):
        simt.Device("sm_10", memory="16MiB").load([MAIN, OTHER, HEAD])


def test_faults_name_the_file_and_its_line(device: simt.Device, tmp_path: Path) -> None:
    caller, callee = tmp_path / "caller.ptx", tmp_path / "callee.ptx"
    caller.write_text(
        HEAD + ".extern .func f;\n.visible .entry k { call f; ret; }\n.visible .entry t\n{\ntrap;\n}\n"
    )
    callee.write_text(HEAD + ".visible .func f\n{\n    trap;\n    ret;\n}\n")
    module = device.load([caller, callee])
    for kernel, file, line in (("k", callee, 6), ("t", caller, 8)):
        with pytest.raises(simt.TrapError) as caught:
            module[kernel](1, 1)
        assert (caught.value.site.file, caught.value.site.line) == (str(file), line)
