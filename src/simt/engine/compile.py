"""From a kernel to object code: LLVM through llvmlite."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, cast

from simt.analysis.outline import Function, Program
from simt.analysis.shape import BlockShape
from simt.collector import collector_paused
from simt.engine.drafts import LINES as DRAFTED
from simt.engine.drafts import NONE, Extent, Source, can_be_cut, simple_terms, source, terms
from simt.engine.drafts import PASSES as DRAFT_PASSES
from simt.engine.fine import ROOM
from simt.engine.host import Cpu, only_avx2, pieces
from simt.engine.library import llvm
from simt.engine.llvm_builder import OF_TURNS
from simt.engine.llvm_spread_bits import NEEDLESS, has_masks_of_bits, with_spread_bits
from simt.engine.llvm_word_masks import with_word_masks
from simt.engine.made import Made
from simt.engine.native import native_text
from simt.engine.native_frames import frames
from simt.imports import Later, import_whole

if TYPE_CHECKING:
    from simt.engine import llvm_begun, llvm_kernel, llvm_outline
    from simt.engine.llvm_common import Common
    from simt.engine.llvm_slots import Unit
    from simt.isa.texels import Sampling
else:  # only to compile: start-up time
    llvm_kernel, llvm_outline = Later("simt.engine.llvm_kernel"), Later("simt.engine.llvm_outline")
    llvm_begun = Later("simt.engine.llvm_begun")

LITTLE = 2 << 20
"""Bytes of native stack that are little: half of `simt.engine.native_stack.WANTED`."""
SHALLOW = 8192
"""Lines of LLVM IR up to which code takes no more, where frames are not known: at most 256 bytes each.
(Drafts take 10 to 100.)"""
NESTED = 3
"""Functions that have long frames at once, at most: a kernel, what it calls, and what that calls."""
LONG_BLOCK = 600
"""Instructions in one block from which LLVM does not order them a second time, after registers are allocated:
the time for that grows with the square of the accesses to memory."""
HUGE_BLOCK = 4000
"""Instructions in one block from which LLVM's scheduling would take many seconds: it is left out. Fewer, by
`pieces`, where registers are smaller."""
HUGE_TEXT = 150_000
"""Lines of LLVM IR from which code is made in the simplest way: it takes half the time or less. Where
registers are smaller, fewer, by `pieces`."""

FAILS = "label %abort"
"""In branches to where a fault ends a warp (`simt.engine.llvm_access`)."""
MANY_FAILS = 150
"""Checks in a kernel from which LLVM's passes for loops would take too long: each is a way out of the loops
around it, and their time grows with the square of such ways (500 loads: 1.4 s in place of 0.15)."""

LONG_TEXT = 2000
"""Lines of LLVM IR beyond which LLVM's passes are those of its level 1, without their second half. They
take half of the time, and the kernels of the benchmark that are so long took 0.98 to 1.03 times as long, 1.0
in the mean; shorter ones up to 1.08."""
FIRST = "always_inliner", "global_opt", "dead_arg_elimination", "post_order_function_attributes"
"""What is done with the module where LLVM's own order of passes is not kept: calls first."""
STRAIGHT = "sroa", "instruction_combine", "simplify_cfg", "aggressive_dce", "simplify_cfg"
"""Passes for code with a block longer than `LONG_BLOCK` or more than `MANY_FAILS` checks: each once, none for
loops. LLVM's own order takes four times as long and gains nothing there (geometric mean of such shapes in
`bench/curve_shapes.py`). Stores that others overwrite are not looked for: that compares every store with
those behind it, and found none in 27 such shapes and 13 such kernels of the tests and the benchmark.
`new_gvn` is not among them: an assertion of it stopped the process for a random program, and no kernel is
faster by it, nor compiled sooner."""
LAST = ("global_dead_code_eliminate",)
NO_LOOPS = "simt-straight"
"""In the attributes of device functions without loops."""
LARGE = '"simt-large"'
"""In the attributes of large functions, which are not optimised."""
UNTOUCHED = "optnone"
"""In the attributes of all functions that are not. LLVM may write to stderr that it leaves them out."""


def generate(
    program: Program,
    kernel: Function,
    block: BlockShape,
    cpu: Cpu,
    extent: Extent = NONE,
    short_drafts: bool = False,
    common: Common | None = None,
) -> Made:
    """A kernel's object code for a CPU (any that LLVM knows). `extent` of the first launch, if a draft will
    do for a short one; `short_drafts`: of short code too; `common`: what drafts for that CPU share.

    Raises `Unsupported`."""
    with collector_paused():
        program, begun = llvm_begun.begin(program, kernel, block)
        kernel, what = begun[0], (block, cpu.features, attributes(cpu))
        schedule = begun[1].schedule
        given = simple_terms(schedule)
        simple, emitted = given is not None and given.allow(extent, short_drafts), None
        if given is not None and simple:
            emitted = llvm_kernel.emit_simply(program, begun, *what)
            simple = given.allow(_extent(extent, emitted[1]), short_drafts)
        if emitted is None or not simple:
            emitted = llvm_kernel.emit(program, kernel, *what, begun=begun)
    text, unit, _ = emitted
    lines = text.count("\n")
    if given is None or not simple:
        given = terms(lines > DRAFTED or f" {LARGE} " in text, lines, schedule)
    draft = given.allow(_extent(extent, unit), short_drafts)
    header = _header(emitted, cpu) | {
        "draft": draft,
        "coarse": unit.ops if not simple and unit.large and unit.ops <= llvm_outline.OPS else 0,
        "limit": given.limit,
        "instructions": given.instructions,
    }
    if simple:
        return _made(header, _simple(text, cpu, common), None)
    text, rest = _apart(text, cpu)
    objects = [_draft(text, cpu)] if draft else _objects(text, cpu, bool(rest))
    kept = source(header, text, rest) if draft else None
    return _made(header, [*objects, *rest], kept)


def _extent(extent: Extent, unit: Unit) -> Extent:
    """Of a launch, by what is known of its code."""
    return extent if can_be_cut(unit.spins, bool(unit.system)) else extent.uncut


def finer(program: Program, kernel: Function, block: BlockShape, cpu: Cpu) -> Made | None:
    """Fine code of a large kernel (`simt.engine.fine`), None if it would be too long.

    Raises `Unsupported`."""
    with collector_paused():
        try:
            emitted = llvm_kernel.emit(program, kernel, block, cpu.features, attributes(cpu), room=ROOM)
        except llvm_outline.TooLarge:
            return None
    return _made(_header(emitted, cpu), _objects(emitted[0], cpu, False), None)


def _header(emitted: tuple[str, Unit, int], cpu: Cpu) -> dict[str, object]:
    """What the cache keeps with a kernel's code; of code that is neither a draft nor coarse."""
    text, unit, context = emitted
    lines = text.count("\n")
    return {
        "symbols": list(unit.symbols),
        "context": context,
        "system": [[c.name, c.parameters, c.results] for c in unit.system],
        "spins": unit.spins,
        "locks": unit.module.locks,
        "fetches": list(unit.module.fetches),
        "block": {name: getattr(unit.block, name) for name in BlockShape.__slots__},
        "shallow": not unit.called
        and (cpu.is_x86_linux or lines <= SHALLOW or nested_lines(text) <= SHALLOW),
        "draft": False,
        "coarse": 0,
        "long": False,
    }


def _simple(text: str, cpu: Cpu, common: Common | None) -> list[bytes]:
    """Object code of a kernel that was emitted in the simplest way. All of it is made so: to take what it
    calls apart, as of other large kernels, would cost a module more."""
    if common is None:
        return [_draft(text, cpu, True)]
    return common.objects(text, LARGE, lambda part: _draft(part, cpu, True))


def better(draft: Source, cpu: Cpu) -> Made:
    """Object code of what was a draft."""
    objects = _objects(draft.text, cpu, bool(draft.rest))
    return _made({**draft.header, "draft": False}, [*objects, *draft.rest], None)


def native(cpu: Cpu) -> bytes:
    """Object code of the functions that run launches (`Native`). Made well it takes ten times as long to
    compile, and launches cost as much."""
    return _draft(native_text(cpu.features), cpu)


def fetcher(sampling: Sampling, cpu: Cpu) -> bytes:
    """Object code of the function that fetches from textures of a kind."""
    import_whole("simt.engine.llvm_texels")
    from simt.engine.llvm_texels import fetch_text  # only for textures: start-up time

    return _well(fetch_text(sampling, cpu.features, attributes(cpu)), cpu)


def _made(header: Mapping[str, object], objects: Sequence[bytes], draft: Source | None) -> Made:
    shallow = bool(header["shallow"]) and sum(frames(objects)) <= LITTLE  # each is there once at most
    sizes = [len(image) for image in objects]
    return Made({**header, "shallow": shallow, "sizes": sizes}, b"".join(objects), draft)


def attributes(cpu: Cpu) -> str:
    """What every function of a module says."""
    wide = ' "prefer-vector-width"="512" "min-legal-vector-width"="512"'
    return "nounwind" + (wide if "avx512f" in cpu.features else "")


def _parsed(text: str, cpu: Cpu, level: int) -> tuple[Any, Any]:
    """LLVM's module, and what makes passes of a level."""
    machine = target_machine(cpu)
    layout = f'target datalayout = "{machine.target_data}"\ntarget triple = "{cpu.triple}"\n'
    module = llvm.parse_assembly(layout + text)
    module.verify()
    options = llvm.create_pipeline_tuning_options(speed_level=level)
    options.loop_vectorization = False
    options.slp_vectorization = False
    return module, llvm.create_pass_builder(machine, options)


def _draft(text: str, cpu: Cpu, near: bool = False) -> bytes:
    """Object code made in the simplest way. `near`: as `target_machine` takes it."""
    module, builder = _parsed(text, cpu, 1)
    _run_passes(module, builder, *DRAFT_PASSES)
    return cast("bytes", target_machine(cpu, 0, near).emit_object(module))


def nested_lines(text: str) -> int:
    """Lines of IR of the longest functions that can have frames at once."""
    return sum(sorted(function.count("\n") for function in text.split("\n}\n"))[-NESTED:])


def optimized(text: str, cpu: Cpu) -> Any:
    """The LLVM module after all passes."""
    long = text.count("\n") > LONG_TEXT
    module, builder = _parsed(text, cpu, 1 if long else 2)
    if f" {LARGE} " not in text and (_longest_block(text) > LONG_BLOCK or text.count(FAILS) > MANY_FAILS):
        _run_passes(module, builder, *FIRST, *STRAIGHT, *LAST)
    elif long:
        _simplify(module, builder)
    else:
        builder.getModulePassManager().run(module, builder)
    return module if f" {LARGE} " in text else _with_masks_as_they_are(module, text, cpu)


def _with_masks_as_they_are(module: Any, emitted: str, cpu: Cpu) -> Any:
    """A module after LLVM's passes, with masks as a CPU that has no registers for them has them."""
    rewrites = list[Callable[[str], str]]()
    if not cpu.features >= NEEDLESS and has_masks_of_bits(emitted):
        rewrites.append(with_spread_bits)
    if only_avx2(cpu.features):
        rewrites.append(with_word_masks)
    before = after = str(module) if rewrites else ""
    for rewrite in rewrites:
        after = rewrite(after)
    return module if after == before else llvm.parse_assembly(after)


def _simplify(module: Any, builder: Any) -> None:
    """The first half of LLVM's passes, which simplifies each function; fewer for device functions without
    loops, of which there may be hundreds."""
    _run_passes(module, builder, *FIRST)
    passes, few = builder.getFunctionPassManager(), _added(llvm.create_new_function_pass_manager(), STRAIGHT)
    for function in module.functions:
        attributes = b" ".join(function.attributes).decode()
        if not function.is_declaration and UNTOUCHED not in attributes:
            (few if NO_LOOPS in attributes else passes).run(function, builder)
    _run_passes(module, builder, *LAST)


def _run_passes(module: Any, builder: Any, *names: str) -> None:
    _added(llvm.create_new_module_pass_manager(), names).run(module, builder)


def _added(passes: Any, names: Iterable[str]) -> Any:
    """A pass manager with some passes more."""
    for name in names:
        getattr(passes, f"add_{name}_pass")()
    return passes


def _apart(text: str, cpu: Cpu) -> tuple[str, list[bytes]]:
    """A module, and object code that is always made in the simplest way: of a large kernel itself; then the
    module is that of the functions that it calls. LLVM takes half the time or less, and one that is linear.
    The benchmark's kernels, forced to be large, took 1.00 to 1.20 times as long, 1.05 in the mean (before
    columns went by their places)."""
    if f" {LARGE} " not in text:
        return text, []
    import_whole("simt.engine.llvm_parts")
    from simt.engine.llvm_parts import parts  # only to compile: start-up time

    kernel, called = parts(text, LARGE)
    return called, [_object(kernel, cpu, 0, near=True)]


def _objects(text: str, cpu: Cpu, called: bool) -> list[bytes]:
    """Object code of a module, made well. `called`: it is that of the functions that a large kernel calls."""
    parts = [text] if called else _short_parts(text)
    return [_object(part, cpu, _level(part, pieces(cpu.features))) for part in parts]


def _well(text: str, cpu: Cpu) -> bytes:
    """Object code of a module that is in one part."""
    (image,) = _objects(text, cpu, False)
    return image


def _short_parts(text: str) -> list[str]:
    """A module, without functions of turns if it is so long that LLVM would not make vectors of them."""
    if OF_TURNS not in text or text.count("\n") <= LONG_TEXT:
        return [text]
    import_whole("simt.engine.llvm_alone_vectors")
    from simt.engine.llvm_alone_vectors import parted  # start-up time

    return list(parted(text))


def _object(text: str, cpu: Cpu, level: int, near: bool = False) -> bytes:
    return cast("bytes", target_machine(cpu, level, near).emit_object(optimized(text, cpu)))


def _level(text: str, pieces: int) -> int:
    """How hard LLVM is to try when it makes machine code."""
    longest, lines = _longest_block(text), text.count("\n")
    if longest * pieces > HUGE_BLOCK or lines > HUGE_TEXT // pieces:
        return 0
    return 2 if longest <= LONG_BLOCK else 1


def _longest_block(text: str) -> int:
    """Instructions of the longest basic block, about; allocations, where a function begins, are none."""
    return max(block.count("\n") - block.count(" = alloca ") for block in text.split(":\n"))


@cache
def target_machine(cpu: Cpu, level: int = 2, near: bool = False) -> Any:
    """LLVM's code generator for a CPU, at an optimisation level. `near`: calls need not reach everywhere.
    (LLVM's quick selection of x86's instructions takes only such. Where one does have to go far, the linker
    puts a jump between.)"""
    if cpu.triple == llvm.get_process_triple():
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        llvm.initialize_native_asmparser()  # LLVM ends the process if it meets assembly without it
    else:
        llvm.initialize_all_targets()
        llvm.initialize_all_asmprinters()
    target = llvm.Target.from_triple(cpu.triple)
    if near and cpu.is_x86_linux:
        return target.create_target_machine(
            cpu=cpu.name, features=cpu.flags, opt=level, reloc="pic", codemodel="small"
        )
    return target.create_target_machine(
        cpu=cpu.name, features=cpu.flags, opt=level, jit=True, reloc="default"
    )
