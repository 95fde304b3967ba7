"""`simt run`, on both engines."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from simt.cli.main import execute
from simt.driver import device
from simt.driver.engines import Drafts
from simt.machine.launch import Engine

AXPY = """.version 7.0
.target sm_75
.address_size 64
.global .u32 launches;
.visible .entry axpy(.param .u32 n, .param .f32 a, .param .u64 x, .param .u64 y)
{
    .reg .pred %p<2>;
    .reg .b32 %r<6>;
    .reg .f32 %f<5>;
    .reg .b64 %rd<6>;
    atom.global.add.u32 %r5, [launches], 1;
    ld.param.u32 %r1, [n];
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %ntid.x;
    mov.u32 %r4, %tid.x;
    mad.lo.s32 %r5, %r2, %r3, %r4;
    setp.ge.s32 %p1, %r5, %r1;
    @%p1 bra DONE;
    ld.param.f32 %f1, [a];
    ld.param.u64 %rd1, [x];
    ld.param.u64 %rd2, [y];
    mul.wide.s32 %rd3, %r5, 4;
    add.s64 %rd4, %rd1, %rd3;
    add.s64 %rd5, %rd2, %rd3;
    ld.global.f32 %f2, [%rd4];
    ld.global.f32 %f3, [%rd5];
    fma.rn.f32 %f4, %f1, %f2, %f3;
    st.global.f32 [%rd5], %f4;
DONE:
    ret;
}
"""

Run = Callable[..., int]


@pytest.fixture
def run(tmp_path: Path, engine: str) -> Run:
    path = tmp_path / "axpy.ptx"
    path.write_text(AXPY)

    def command(*words: str) -> int:
        options = ("--engine", engine, "--memory", "64MiB", "--workers", "1", "--arch", "sm_90")
        return execute(["run", str(path), *words, *options])

    return command


LAUNCH = ("--grid", "2", "--block", "32")


def test_arguments_by_name_saved_and_printed(
    run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    x, out = tmp_path / "x.npy", tmp_path / "out.npy"
    np.save(x, np.arange(40, dtype="f4"))
    words = ["y=ones:f32:40", f"x=@{x}", "n=40", "a=2.0"]
    assert run("axpy", *words, *LAUNCH, "--save", f"y={out}", "--print", "launches") == 0
    np.testing.assert_array_equal(np.load(out), np.arange(40) * 2 + 1)
    shown = capsys.readouterr()
    assert shown.out == "launches = 64  (uint32, scalar)\n"
    assert shown.err.startswith("axpy: grid 2, block 32, 64 threads on sm_90 (")
    assert shown.err.count("\n") == 1


def test_arguments_in_order_with_names_of_ones_own(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["count=4", "factor=3", "left=range:f32:4", "right=zeros:f32:4"]
    assert run(*words, *LAUNCH, "--print", "right") == 0
    assert capsys.readouterr().out == "right = [0., 3., 6., 9.]  (float32, 4)\n"


def test_arguments_by_number(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["3=zeros:f32:4", "param_2=range:f32:4", "1=3", "0=4"]
    assert run(*words, *LAUNCH, "--repeat", "2", "--print", "3") == 0
    shown = capsys.readouterr()
    assert shown.out == "3 = [ 0.,  6., 12., 18.]  (float32, 4)\n"
    assert "best of 2" in shown.err


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["n=4"], 2, "no value for parameter a, x, y of axpy"),
        (["n=4", "b=2"], 2, "axpy has no parameter 'b': its parameters are n, a, x, y"),
        (["n=4", "n=4"], 2, "argument 'n' is given twice"),
        (["axpy", "4"], 2, "bad argument '4': expected NAME=VALUE"),
        (["n=4", "a=1", "x=0", "y=0", "--print", "z"], 2, "no array 'z' to save or print: expected one of"),
        (["n=4", "a=1", "x=0", "y=0", "--save", "y"], 2, "--save 'y': expected NAME=FILE.npy"),
        (["multiply", "n=4"], 1, "no kernel 'multiply' in "),
        (["q=4"], 1, "LaunchError: kernel axpy: the kernel takes 4 arguments (n (.u32); a (.f32); "),
        (["n=4.5", "a=1", "x=0", "y=0"], 1, "parameter 0 n (.u32): expected an integer, float 4.5 given"),
        (["n=4", "a=1", "x=0", "y=zeros:f32:4"], 1, "MemoryFault: "),
    ],
)  # fmt: skip
def test_refused(
    run: Run, words: list[str], code: int, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(*words, *LAUNCH) == code
    shown = capsys.readouterr()
    assert message in shown.err
    assert "Traceback" not in shown.err
    assert shown.out == ""


def test_files_that_cannot_be_written(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["n=0", "a=1", "x=0", "y=zeros:f32:4"]
    assert run(*words, *LAUNCH, "--save", "y=/nowhere/y.npy") == 2
    assert "cannot write '/nowhere/y.npy': No such file or directory" in capsys.readouterr().err


def test_shapes(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("n=0", "a=1", "x=0", "y=0", "--grid", "2x3", "--block", "4,4,2") == 0
    assert "grid 2x3, block 4x4x2, 192 threads" in capsys.readouterr().err
    assert run("n=0", "a=1", "x=0", "y=0", "--grid", "2", "--block", "2000") == 1
    assert "block (2000, 1, 1): extent x may be at most 1024 on sm_90" in capsys.readouterr().err


def test_a_module_in_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "wrong.ptx"
    path.write_text(AXPY.replace("mov.u32 %r4", "mov.u32 %f4"))
    assert execute(["run", str(path), *LAUNCH, "n=4"]) == 1
    assert f"{path}:15:" in capsys.readouterr().err


def test_a_bad_seed_or_folder_is_refused_before_the_run(capsys: pytest.CaptureFixture[str]) -> None:
    file = str(Path(__file__).parents[2] / "programs" / "saxpy.ptx")
    values = ["n=1", "a=1", "x=ones:f32:1", "y=ones:f32:1"]
    words = ["run", file, "saxpy", "--grid", "1", "--block", "1", *values]
    assert execute([*words, "--seed", "-1"]) == 2
    assert "Invalid value for '--seed': -1" in capsys.readouterr().err
    assert execute([*words, "--save", "y=/no such folder/y.npy"]) == 2
    found = capsys.readouterr().err
    assert "cannot write '/no such folder/y.npy': No such file or directory" in found
    assert "threads on" not in found


def test_the_cpu_that_code_is_made_for(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["n=0", "a=1", "x=0", "y=0", *LAUNCH]
    assert run(*words, "--cpu", "host") == 0
    assert run(*words, "--cpu", "z80") == 1
    assert "no CPU 'z80': expected one of host" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "setting", "expected"),
    [([], "", Drafts.ALL), (["--repeat", "2"], "", Drafts.LONG), ([], "0", Drafts.NONE)],
)
def test_one_launch_has_code_that_is_made_quickly(
    words: list[str], setting: str, expected: Drafts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, make = list[Drafts](), device.make_engine

    def noted(name: str, cpu: str, drafts: Drafts) -> Engine:
        made.append(drafts)
        return make(name, cpu, drafts)

    monkeypatch.setattr(device, "make_engine", noted)
    monkeypatch.setenv("SIMT_DRAFTS", setting)
    (tmp_path / "axpy.ptx").write_text(AXPY)
    given = ["n=4", "a=2", "x=ones:f32:4", "y=zeros:f32:4"]
    command = ["run", str(tmp_path / "axpy.ptx"), "--grid", "1", "--block", "32", *words, *given]
    assert execute([*command, "--engine", "jit", "--memory", "64MiB"]) == 0
    assert made == [expected]


def test_linked_files(tmp_path: Path, engine: str, capsys: pytest.CaptureFixture[str]) -> None:
    head = ".version 7.0\n.target sm_75\n.address_size 64\n"
    user, other = tmp_path / "user.ptx", tmp_path / "other.ptx"
    user.write_text(
        head
        + """.extern .global .u32 number;
.visible .entry k(.param .u64 out) {
    .reg .u64 %o; .reg .u32 %x;
    ld.param.u64 %o, [out];
    ld.global.u32 %x, [number];
    st.global.u32 [%o], %x;
    ret;
}
"""
    )
    other.write_text(head + ".visible .global .u32 number = 42;\n")
    command = ["run", str(user), "--grid", "1", "--block", "1", "out=zeros:u32:1", "--print", "out"]
    command += ["--memory", "64MiB", "--engine", engine]
    assert execute([*command, "--link", str(other)]) == 0
    assert "42" in capsys.readouterr().out
    assert execute(command) == 1
    assert "has no definition in this module" in capsys.readouterr().err


def test_monitor_events_are_counted_by_warps(
    tmp_path: Path, engine: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "events.ptx"
    path.write_text(
        ".version 1.4\n.target sm_13\n.entry k() { .reg .pred %p; .reg .u32 %t;\n"
        "cvt.u32.u16 %t, %tid.x; setp.lt.u32 %p, %t, 40; pmevent 0; @%p pmevent 7; exit; }\n"
    )
    options = ("--engine", engine, "--memory", "16MiB", "--workers", "1", "--grid", "3", "--block", "96")
    assert execute(["run", str(path), *options]) == 0
    assert capsys.readouterr().err.splitlines()[1:] == ["  pmevent 0: 9 warps", "  pmevent 7: 6 warps"]


def test_a_cooperative_launch(engine: str, capsys: pytest.CaptureFixture[str]) -> None:
    path = Path(__file__).parents[2] / "programs" / "grid_groups.ptx"
    words = [
        "run",
        str(path),
        "valid",
        "out=zeros:u32:4",
        "--print",
        "out",
        "--engine",
        engine,
        "--arch",
        "sm_90",
    ]
    assert execute([*words, "--grid", "2", "--block", "2"]) == 0
    assert "[1, 1, 1, 1]" in capsys.readouterr().out
    assert execute([*words, "--grid", "2", "--block", "2", "--cooperative"]) == 0
    assert "[2, 2, 2, 2]" in capsys.readouterr().out
    assert execute([*words, "--grid", "5000", "--block", "2", "--cooperative"]) == 1
    assert "grid (5000, 1, 1) has 5000 CTAs, which are to run at once" in capsys.readouterr().err
