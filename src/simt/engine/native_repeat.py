"""The latest launch of a kernel once more, as LLVM IR: `simt_repeat(self, given, count)`.

It is a function of Python's own kind (`METH_FASTCALL`; see `simt.engine.repeat`), and looks at next to
nothing: what Python would look at for the same comes from far away where a program works through more memory
than caches hold, and takes as long as a small kernel. The result is True if the launch was made, False if
anything is not as it was, in which case nothing was done, and None if the launch was stopped. Then, and where
a handler of signals has raised an exception, the launch stays marked as running, so that nothing uses its
blocks again. The lock is given back in any case: Python could be interrupted before it comes to that.
"""

from __future__ import annotations

from simt.engine.abi import (
    LINE_SLOTS,
    REPEAT,
    RUN,
    ArgumentSlot,
    CallSlot,
    HelpCell,
    LaunchSlot,
    RepeatSlot,
    slot_count,
)
from simt.engine.native_fibers import field
from simt.engine.native_grids import (
    COUNT_AT,
    ITEMS_AT,
    LIST_ITEMS_AT,
    TYPE_AT,
    other_grid,
    same_number,
    same_shape,
    set_grid,
)

ADDRESS_AT = bytes.__basicsize__ - 1
"""Where the contents of a `bytes` object begin. The one that is `self` holds the address of the slots."""


KNOWN = (
    (ArgumentSlot.OBJECT, ArgumentSlot.VALUE),
    (ArgumentSlot.OBJECT_2, ArgumentSlot.VALUE_2),
    (ArgumentSlot.OBJECT_3, ArgumentSlot.VALUE_3),
    (ArgumentSlot.OBJECT_4, ArgumentSlot.VALUE_4),
)

ERROR = "type", "value", "trace"
"""What Python keeps of an exception while something else is called."""


def repeat_text() -> list[str]:
    return [
        "declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)",
        "declare ptr @llvm.frameaddress.p0(i32)",
        "declare double @llvm.fabs.f64(double)",
        *same_shape(),
        *same_number(),
        *other_grid(),
        *set_grid(),
        f"define ptr @{REPEAT}(ptr %self, ptr %given, i64 %count) {{",
        "entry:",
        *(f"  %error.{part} = alloca ptr" for part in ERROR),
        "  %number.p = alloca i64",
        "  %extents = alloca [3 x i64]",
        f"  %slots.p = getelementptr i8, ptr %self, i64 {ADDRESS_AT}",
        "  %slots = load ptr, ptr %slots.p, align 1",
        *_same_shapes(),
        *_same_arguments(),
        *_held(),
        *_same_numbers(),
        *_begins(),
        *_runs(),
        *_gives_up(),
        *_ends(),
        "}",
    ]


def _slot(number: int, name: str, load: str = "i64") -> list[str]:
    return field("%slots", number, name, load)


def _same_shapes() -> list[str]:
    """Grid, block and bytes of shared memory, and that the arguments are a tuple or a list."""
    return [
        *_slot(RepeatSlot.ARMED, "armed"),
        "  %ready = icmp ne i64 %armed, 0",
        "  %four = icmp eq i64 %count, 4",
        "  %may = and i1 %ready, %four",
        "  br i1 %may, label %shape, label %no",
        "shape:",
        *_slot(RepeatSlot.CALLS, "calls.before"),
        "  %calls = add i64 %calls.before, 1",
        "  store i64 %calls, ptr %calls.before.p, align 8",
        *_slot(RepeatSlot.GRIDS, "grids"),
        *_equal_shape(0, RepeatSlot.GRID, "grid"),
        *_equal_shape(1, RepeatSlot.BLOCK, "block"),
        *_equal_object(3, RepeatSlot.SHARED, "shared"),
        *field("%given", 2, "args", "ptr"),
        f"  %type.p = getelementptr i8, ptr %args, i64 {TYPE_AT}",
        "  %type = load i64, ptr %type.p, align 8",
        *_slot(RepeatSlot.TUPLE, "tuple"),
        *_slot(RepeatSlot.LIST, "list"),
        "  %is.tuple = icmp eq i64 %type, %tuple",
        "  %is.list = icmp eq i64 %type, %list",
        "  %is.known = or i1 %is.tuple, %is.list",
        "  %all = and i1 %same.block, %same.shared",
        "  %shaped = and i1 %all, %is.known",
        "  br i1 %shaped, label %grid, label %no",
        "grid:",
        "  br i1 %same.grid, label %grid.known, label %grid.other",
        "grid.known:",
        f"  %extents.known = getelementptr i64, ptr %slots, i64 {RepeatSlot.EXTENT}",
        "  call void @llvm.memcpy.p0.p0.i64(ptr %extents, ptr %extents.known, i64 24, i1 false)",
        "  br label %sized",
        "grid.other:",
        "  %other = call i1 @other.grid(i64 %given.grid, ptr %slots, ptr %extents)",
        "  br i1 %other, label %sized, label %no",
    ]


def _same_arguments() -> list[str]:
    """Each of them."""
    return [
        "sized:",
        f"  %size.p = getelementptr i8, ptr %args, i64 {COUNT_AT}",
        "  %size = load i64, ptr %size.p, align 8",
        *_slot(RepeatSlot.COUNT, "wanted"),
        "  %as.many = icmp eq i64 %size, %wanted",
        "  br i1 %as.many, label %held.as, label %no",
        "held.as:",
        f"  %in.tuple = getelementptr i8, ptr %args, i64 {ITEMS_AT}",
        "  br i1 %is.list, label %in.list, label %begin.items",
        "in.list:",
        f"  %of.list.p = getelementptr i8, ptr %args, i64 {LIST_ITEMS_AT}",
        "  %of.list = load ptr, ptr %of.list.p, align 8",
        "  br label %begin.items",
        "begin.items:",
        "  %items.p = phi ptr [ %in.tuple, %held.as ], [ %of.list, %in.list ]",
        "  br label %items",
        "items:",
        "  %i = phi i64 [ 0, %begin.items ], [ %i.next, %item.ends ]",
        "  %more = icmp ult i64 %i, %size",
        "  br i1 %more, label %item, label %hold",
        "item:",
        "  %item.p = getelementptr i64, ptr %items.p, i64 %i",
        "  %object = load i64, ptr %item.p, align 8",
        f"  %known.at = mul i64 %i, {slot_count(ArgumentSlot)}",
        f"  %known.first = add i64 %known.at, {RepeatSlot.ARGS}",
        "  %about = getelementptr i64, ptr %slots, i64 %known.first",
        "  %i.next = add i64 %i, 1",
        *field("%about", ArgumentSlot.BYTES, "number.bytes"),
        "  %only.itself = icmp eq i64 %number.bytes, 0",
        "  br label %known.1",
        *(line for n, slots in enumerate(KNOWN, 1) for line in _known(n, *slots)),
        *_number(),
        "item.ends:",
        "  br label %items",
        "no:",
        *_answer(RepeatSlot.FALSE, "false"),
    ]


def _known(n: int, known: int, value: int) -> list[str]:
    """Whether an argument is one of the known objects."""
    following = f"known.{n + 1}" if n < len(KNOWN) else "number.item"
    return [
        f"known.{n}:",
        *field("%about", known, f"object.{n}"),
        f"  %is.{n} = icmp eq i64 %object, %object.{n}",
        f"  br i1 %is.{n}, label %found.{n}, label %{following}",
        f"found.{n}:",
        f"  br i1 %only.itself, label %item.ends, label %write.{n}",
        f"write.{n}:",
        *field("%about", value, f"value.{n}"),
        "  br label %number.write",
    ]


def _number() -> list[str]:
    """An argument that may be one of several: what it is, is written where the parameters are kept. That of
    each such argument is, since a launch that was begun and refused may have written others."""
    return [
        "number.item:",
        *field("%about", ArgumentSlot.TYPE, "integer"),
        *field("%about", ArgumentSlot.MOST, "most"),
        "  %is.float = icmp eq i64 %most, 0",
        "  %is.number = icmp ne i64 %integer, 0",
        "  br i1 %is.number, label %number.other, label %no",
        "number.other:",
        "  %object.p = inttoptr i64 %object to ptr",
        f"  %object.type.p = getelementptr i8, ptr %object.p, i64 {TYPE_AT}",
        "  %object.type = load i64, ptr %object.type.p, align 8",
        "  %like = icmp eq i64 %object.type, %integer",
        "  br i1 %like, label %number.kind, label %no",
        "number.kind:",
        "  br i1 %is.float, label %number.float, label %number.ask",
        *_float(),
        "number.ask:",
        *_slot(RepeatSlot.AS_NUMBER, "as.number", "ptr"),
        "  %value.new = call i64 %as.number(i64 %object)",
        "  %fits = icmp ule i64 %value.new, %most",
        "  br i1 %fits, label %number.write, label %number.wild",
        "number.wild:",  # -1 may say that there is an exception, and be the number itself
        *_slot(RepeatSlot.CLEAR, "clear", "ptr"),
        "  call void %clear()",
        "  br label %no",
        "number.write:",
        "  %value = phi i64 [ %value.new, %number.ask ], [ %value.float, %number.float ]"
        + "".join(f", [ %value.{n}, %write.{n} ]" for n in range(1, len(KNOWN) + 1)),
        *field("%about", ArgumentSlot.OFFSET, "offset"),
        *_slot(RepeatSlot.PARAMETERS, "kept", "ptr"),
        "  store i64 %value, ptr %number.p, align 8",
        "  %written.p = getelementptr i8, ptr %kept, i64 %offset",
        "  call void @llvm.memcpy.p0.p0.i64(ptr %written.p, ptr %number.p, i64 %number.bytes, i1 false)",
        "  br label %item.ends",
    ]


def _equal_shape(index: int, slot: int, name: str) -> list[str]:
    return [
        *field("%given", index, f"given.{name}"),
        *_slot(slot, f"known.{name}"),
        f"  %same.{name} = call i1 @same.shape(i64 %given.{name}, i64 %known.{name}, ptr %slots)",
    ]


def _equal_object(index: int, slot: int, name: str) -> list[str]:
    return [
        *field("%given", index, f"given.{name}"),
        *_slot(slot, f"known.{name}"),
        f"  %same.{name} = icmp eq i64 %given.{name}, %known.{name}",
    ]


def _answer(slot: int, name: str) -> list[str]:
    """Returns an object, which is the caller's then."""
    return [
        *_slot(slot, name, "ptr"),
        *_slot(RepeatSlot.KEEP, f"keep.{name}", "ptr"),
        f"  call void %keep.{name}(ptr %{name})",
        f"  ret ptr %{name}",
    ]


def _float() -> list[str]:
    """A float's bits, rounded to those of the parameter as `struct` does. Left to it are NaNs, which it makes
    quiet, and what becomes infinite, which is an error there."""
    return [
        "number.float:",
        *_slot(RepeatSlot.AS_DOUBLE, "as.double", "ptr"),
        "  %double = call double %as.double(i64 %object)",
        "  %single = fptrunc double %double to float",
        "  %single.wide = fpext float %single to double",
        "  %single.bits = bitcast float %single to i32",
        "  %single.value = zext i32 %single.bits to i64",
        "  %double.value = bitcast double %double to i64",
        "  %is.single = icmp eq i64 %number.bytes, 4",
        "  %value.float = select i1 %is.single, i64 %single.value, i64 %double.value",
        "  %rounded = select i1 %is.single, double %single.wide, double %double",
        "  %rounded.magnitude = call double @llvm.fabs.f64(double %rounded)",
        "  %finite = fcmp olt double %rounded.magnitude, 0x7FF0000000000000",
        "  br i1 %finite, label %number.write, label %no",
    ]


def _held() -> list[str]:
    """Takes the device's lock. What other threads may change meanwhile is looked at afterwards."""
    return [
        "hold:",
        *_slot(RepeatSlot.ACQUIRE, "acquire", "ptr"),
        *_slot(RepeatSlot.INVOKE, "invoke", "ptr"),
        *_slot(RepeatSlot.DROP, "drop", "ptr"),
        "  %held = call ptr %invoke(ptr %acquire)",
        "  %not.held = icmp eq ptr %held, null",
        "  br i1 %not.held, label %raised, label %numbers",
        "raised:",
        "  ret ptr null",
    ]


def _same_numbers() -> list[str]:
    """That nothing has changed, that the kernel is not running, that somebody watches, that the stack is the
    one that has room, that Python need not look at how long launches take, and that no other launch runs
    whose threads change the same memory (a handler of signals may ask in the middle of it)."""
    return [
        "numbers:",
        "  call void %drop(ptr %held)",
        "  %armed.now = load i64, ptr %armed.p, align 8",
        "  %armed.still = icmp ne i64 %armed.now, 0",
        "  %grids.now = load i64, ptr %grids.p, align 8",
        "  %same.grids = icmp eq i64 %grids.now, %grids",
        "  %calls.now = load i64, ptr %calls.before.p, align 8",
        "  %only.call = icmp eq i64 %calls.now, %calls",  # or the parameters may be another call's
        "  %still.armed = and i1 %armed.still, %same.grids",
        "  %still = and i1 %still.armed, %only.call",
        *_unchanged(RepeatSlot.DEVICE, RepeatSlot.DEVICE_CHANGES, "device"),
        *_unchanged(RepeatSlot.MEMORY, RepeatSlot.MEMORY_CHANGES, "memory"),
        *_slot(RepeatSlot.CELLS, "cells", "ptr"),
        "  %busy = load i64, ptr %cells, align 8",
        "  %free = icmp eq i64 %busy, 0",
        *_slot(RepeatSlot.AWAKE, "awake.p1", "ptr"),
        "  %awake = load i64, ptr %awake.p1, align 8",
        "  %watched = icmp ne i64 %awake, 0",
        "  %frame = call ptr @llvm.frameaddress.p0(i32 0)",
        "  %stack = ptrtoint ptr %frame to i64",
        *_slot(RepeatSlot.STACK, "low"),
        *_slot(RepeatSlot.STACK_BYTES, "stack.bytes"),
        "  %deep = sub i64 %stack, %low",
        "  %here = icmp ult i64 %deep, %stack.bytes",
        *_slot(RepeatSlot.LEFT, "left"),
        "  %any.left = icmp ne i64 %left, 0",
        *_slot(RepeatSlot.UNDER_WAY, "under.way", "ptr"),
        "  %others = load i64, ptr %under.way, align 8",
        "  %no.others = icmp eq i64 %others, 0",
        "  %a = and i1 %still, %same.device",
        "  %b = and i1 %same.memory, %free",
        "  %c = and i1 %watched, %here",
        "  %d = and i1 %a, %b",
        "  %e = and i1 %c, %any.left",
        "  %f = and i1 %d, %no.others",
        "  %go = and i1 %e, %f",
        "  br i1 %go, label %begin, label %refuse",
        "refuse:",
        *_release("refused"),
        "  br label %no",
    ]


def _unchanged(cell: int, value: int, name: str) -> list[str]:
    return [
        *_slot(cell, f"cell.{name}", "ptr"),
        f"  %now.{name} = load i64, ptr %cell.{name}, align 8",
        *_slot(value, f"was.{name}"),
        f"  %same.{name} = icmp eq i64 %now.{name}, %was.{name}",
    ]


def _release(name: str) -> list[str]:
    return [
        *_slot(RepeatSlot.RELEASE, f"release.{name}", "ptr"),
        f"  %{name} = call ptr %invoke(ptr %release.{name})",
        f"  call void %drop(ptr %{name})",
    ]


def _begins() -> list[str]:
    """What differs from launch to launch, and what a kernel may have changed."""
    return [
        "begin:",
        "  store i64 1, ptr %cells, align 8",
        "  store i64 1, ptr %under.way, align 8",
        "  %left.next = sub i64 %left, 1",
        "  store i64 %left.next, ptr %left.p, align 8",
        *_slot(RepeatSlot.MADE, "made"),
        "  %made.next = add i64 %made, 1",
        "  store i64 %made.next, ptr %made.p, align 8",
        *_slot(RepeatSlot.LAST_GRID_ID, "last.p1", "ptr"),
        "  %last = load i64, ptr %last.p1, align 8",
        "  %grid.id = add i64 %last, 1",
        "  store i64 %grid.id, ptr %last.p1, align 8",
        "  %cell.grid.id = getelementptr i64, ptr %cells, i64 1",
        "  store i64 %grid.id, ptr %cell.grid.id, align 8",
        *_slot(RepeatSlot.LAUNCH, "launch", "ptr"),
        f"  %grid.id.p = getelementptr i64, ptr %launch, i64 {LaunchSlot.GRID_ID}",
        "  store i64 %grid.id, ptr %grid.id.p, align 8",
        "  call void @set.grid(ptr %launch, ptr %cells, ptr %slots, ptr %extents)",
        *_ranges_anew(),
        *field("%launch", LaunchSlot.PARAMETERS, "parameters", "ptr"),
        *_slot(RepeatSlot.PARAMETERS, "values", "ptr"),
        *_slot(RepeatSlot.PARAMETER_BYTES, "bytes"),
        "  call void @llvm.memcpy.p0.p0.i64(ptr %parameters, ptr %values, i64 %bytes, i1 false)",
        *_slot(RepeatSlot.RUNNING, "running", "ptr"),
        *_slot(RepeatSlot.ITSELF, "itself", "ptr"),
        *_slot(RepeatSlot.ADD, "add", "ptr"),
        "  %added = call i32 %add(ptr %running, ptr %itself)",
        *_slot(RepeatSlot.DISCARD, "discard", "ptr"),
        *_slot(RepeatSlot.CALL, "call", "ptr"),
        *field("%call", CallSlot.WANTED, "wanted.help"),
        *(
            line
            for slot, value in ((CallSlot.ASKED, -1), (CallSlot.BEGUN, -1), (CallSlot.ENDED, 0))
            for line in (
                f"  %anew.{slot} = getelementptr i64, ptr %call, i64 {slot}",
                f"  store i64 {value}, ptr %anew.{slot}, align 8",
            )
        ),
    ]


def _ranges_anew() -> list[str]:
    """No CTA has been handed out."""
    return [
        *field("%launch", LaunchSlot.RANGES, "ranges"),
        "  br label %range",
        "range:",
        "  %range.number = phi i64 [ 0, %begin ], [ %range.next, %range ]",
        f"  %range.at = mul i64 %range.number, {LINE_SLOTS}",
        f"  %range.slot = add i64 %range.at, {LaunchSlot.NEXT_CTA}",
        "  %cta.p = getelementptr i64, ptr %launch, i64 %range.slot",
        "  store atomic i64 0, ptr %cta.p monotonic, align 8",
        "  %range.next = add i64 %range.number, 1",
        "  %range.more = icmp ult i64 %range.next, %ranges",
        "  br i1 %range.more, label %range, label %ranged",
        "ranged:",
    ]


def _runs() -> list[str]:
    """The launch, and the end of help that was asked for meanwhile."""
    return [
        *_slot(RepeatSlot.HELP, "help", "ptr"),
        f"  %help.over = getelementptr i64, ptr %help, i64 {HelpCell.OVER}",
        "  store atomic i64 0, ptr %help.over monotonic, align 8",
        *_slot(RepeatSlot.CLOCK, "clock", "ptr"),
        *_slot(RepeatSlot.CLOCK_ID, "clock.id"),
        "  %clock.number = trunc i64 %clock.id to i32",
        "  %measures = icmp ne ptr %clock, null",
        *_time("begins"),
        f"  %began.p = getelementptr i64, ptr %slots, i64 {RepeatSlot.BEGAN}",
        "  store i64 %begins, ptr %began.p, align 8",
        f"  %done = call i64 @{RUN}(ptr %call)",
        *_time("ends"),
        "  store atomic i64 1, ptr %help.over monotonic, align 8",
        f"  %help.summoned = getelementptr i64, ptr %help, i64 {HelpCell.SUMMONED}",
        "  %summoned = load atomic i64, ptr %help.summoned monotonic, align 8",
        "  %not.summoned = icmp eq i64 %summoned, 0",
        *field("%call", CallSlot.BEGUN, "begun"),
        *field("%call", CallSlot.ENDED, "ended"),
        "  %nobody = icmp sle i64 %begun, 0",
        "  %all.ended = icmp ne i64 %ended, 0",
        "  %none.left = or i1 %nobody, %all.ended",
        "  %alone = and i1 %not.summoned, %none.left",
        *_slot(RepeatSlot.FINISH, "finish", "ptr"),
        *_slot(RepeatSlot.OCCURRED, "occurred", "ptr"),
        "  %exception = call ptr %occurred()",
        "  %quiet = icmp eq ptr %exception, null",
        "  br i1 %quiet, label %helped, label %handler",
        "helped:",
        "  br i1 %alone, label %over, label %wait",
        "wait:",
        "  %waited = call ptr %invoke(ptr %finish)",
        "  %not.waited = icmp eq ptr %waited, null",
        "  br i1 %not.waited, label %handler, label %came",
        "came:",
        "  call void %drop(ptr %waited)",
        "  br label %over",
    ]


def _gives_up() -> list[str]:
    """Where a handler of signals has raised an exception."""
    return [
        "handler:",  # of signals, that raised an exception: functions must not be called while it is set
        *_slot(RepeatSlot.FETCH, "fetch", "ptr"),
        *_slot(RepeatSlot.RESTORE, "restore", "ptr"),
        "  call void %fetch(ptr %error.type, ptr %error.value, ptr %error.trace)",
        "  %left.alone = or i1 %alone, %quiet",  # if it was raised by `finish`, nobody is left
        "  br i1 %left.alone, label %give.up, label %wait.then",
        "wait.then:",
        "  %waited.then = call ptr %invoke(ptr %finish)",
        "  %raised.again = icmp eq ptr %waited.then, null",
        "  br i1 %raised.again, label %later, label %came.then",
        "later:",  # another exception, which takes the place of the first one
        "  call void %fetch(ptr %error.type, ptr %error.value, ptr %error.trace)",
        "  br label %give.up",
        "came.then:",
        "  call void %drop(ptr %waited.then)",
        "  br label %give.up",
        "give.up:",
        "  store i64 0, ptr %under.way, align 8",
        "  %taken = call i32 %discard(ptr %running, ptr %itself)",
        *_release("gave.up"),
        *(f"  %was.{part} = load ptr, ptr %error.{part}, align 8" for part in ERROR),
        "  call void %restore(ptr %was.type, ptr %was.value, ptr %was.trace)",
        "  br label %raised",
    ]


def _ends() -> list[str]:
    return [
        "over:",
        "  store i64 0, ptr %under.way, align 8",
        "  %gone = call i32 %discard(ptr %running, ptr %itself)",
        f"  %abort.p = getelementptr i64, ptr %launch, i64 {LaunchSlot.ABORT}",
        "  %abort = load atomic i32, ptr %abort.p monotonic, align 8",
        "  %whole = icmp eq i32 %abort, 0",
        "  %one = icmp eq i64 %done, 1",
        "  %well = and i1 %whole, %one",
        "  br i1 %well, label %yes, label %stopped",
        "stopped:",
        *_release("stopped.released"),
        *_answer(RepeatSlot.NONE, "none"),
        "yes:",
        "  store i64 0, ptr %cells, align 8",
        *_measured(),
        *_looks_if_asleep(),
        *_release("released"),
        *_answer(RepeatSlot.TRUE, "true"),
    ]


def _looks_if_asleep() -> list[str]:
    """Python makes the next launch where fewer than wanted were there to be asked: they sleep, or help with
    another one."""
    return [
        *field("%call", CallSlot.ASKED, "asked"),
        "  %few = icmp ult i64 %asked, %wanted.help",
        "  br i1 %few, label %disarm, label %ready.again",
        "disarm:",
        "  store i64 0, ptr %armed.p, align 8",
        "  br label %ready.again",
        "ready.again:",
    ]


def _time(name: str) -> list[str]:
    """i64: nanoseconds, or nothing that makes sense if nobody asks."""
    return [
        f"  br i1 %measures, label %{name}.look, label %{name}.skip",
        f"{name}.look:",
        f"  %{name}.read = call i64 @simt.now(ptr %clock, i32 %clock.number)",
        f"  br label %{name}.now",
        f"{name}.skip:",
        f"  br label %{name}.now",
        f"{name}.now:",
        f"  %{name} = phi i64 [ %{name}.read, %{name}.look ], [ 0, %{name}.skip ]",
    ]


def _measured() -> list[str]:
    """The time counts if those who were wanted came, and nobody else."""
    return [
        "  %took = sub i64 %ends, %begins",
        *_slot(RepeatSlot.SHORTEST, "shortest"),
        *_slot(RepeatSlot.TOTAL, "total"),
        *_slot(RepeatSlot.COUNTED, "counted"),
        "  %nobody.wanted = icmp eq i64 %wanted.help, 0",
        "  %came.all = icmp eq i64 %begun, %wanted.help",
        "  %as.wanted = or i1 %nobody.wanted, %came.all",
        "  %counts = and i1 %as.wanted, %not.summoned",
        "  %is.counted = zext i1 %counts to i64",
        "  %took.counted = select i1 %counts, i64 %took, i64 0",
        "  %total.next = add i64 %total, %took.counted",
        "  store i64 %total.next, ptr %total.p, align 8",
        "  %counted.next = add i64 %counted, %is.counted",
        "  store i64 %counted.next, ptr %counted.p, align 8",
        "  %shorter = icmp slt i64 %took, %shortest",
        "  %is.first = icmp eq i64 %counted, 0",
        "  %is.shorter = or i1 %shorter, %is.first",
        "  %is.shortest = and i1 %counts, %is.shorter",
        "  %shortest.next = select i1 %is.shortest, i64 %took, i64 %shortest",
        "  store i64 %shortest.next, ptr %shortest.p, align 8",
    ]
