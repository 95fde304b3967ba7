"""How threads help with launches, as LLVM IR: they wait on seats (`SeatSlot`), and are asked there.

A thread on its seat is asked by one comparison and exchange of the seat's state. The state then names the
request, so that one who does not need the help any more can take back his own request only. Who has waited
for long sleeps there, and is woken by a lock of Python's that is given back (no thread needs the one of the
interpreter for that).
"""

from __future__ import annotations

from simt.engine.abi import (
    ASK,
    JOIN,
    LINGER,
    PROCESSORS,
    SEAT_BITS,
    WITHDRAW,
    CallSlot,
    LaunchSlot,
    RosterSlot,
    Seat,
    SeatSlot,
)
from simt.engine.native_fibers import field, store

TURNS = 1500
"""Looks at a seat before its thread sleeps, or at its counter before the caller does: some 60 µs."""

TURN = 40
"""Nanoseconds of one look at a seat, about."""

POLITE = 64
"""Looks at a seat after which its thread lets others of the system run, once it has waited for `TURNS`."""

HELP_BEGINS = ["  call void @simt.help_begins(ptr %call)"]
"""Asks as many as are wanted to help with a call's first launch. Python's lock is held: nobody else asks."""
HELP_ENDS = ["  call void @simt.help_ends(ptr %call)"]
"""Nobody helps from now on who has not begun; waits for those who have, for a short time."""


def seats_text(has_pause: bool) -> list[str]:
    """`has_pause`: the CPU has an instruction for loops that wait."""
    declared = ["declare void @llvm.x86.sse2.pause()"] * has_pause
    pause = ["  call void @llvm.x86.sse2.pause()"] * has_pause
    own = _now() + _send_away()
    return [*declared, *_linger(pause), *own, *_ask(), *_withdraw(), *_join(pause), *_help()]


def _linger(pause: list[str]) -> list[str]:
    """`simt_linger(seat)` waits on a seat for launches, and helps then: for each as many turns as take as
    long as it has helped since it slept, between `SeatSlot.LEAST` and `MOST`. Then it sleeps, until it is
    asked. It ends when it is asked for nothing."""
    return [
        f"define void @{LINGER}(ptr %seat) {{",
        "entry:",
        *_seat_of_own(),
        "  br label %wait",
        "wait:",
        "  %i = phi i64 [ 0, %entry ], [ %i.next, %pass ], [ %i.next, %way ], [ %i, %leave ], [ %i, %take ], "
        "[ 0, %help ], [ 0, %sleep ], [ 0, %return ]",
        "  %turns = phi i64 [ %least, %entry ], [ %turns, %pass ], [ %turns, %way ], [ %turns, %leave ], "
        "[ %turns, %take ], [ %turns.now, %help ], [ %least, %sleep ], [ %least, %return ]",
        "  %total = phi i64 [ 0, %entry ], [ %total, %pass ], [ %total, %way ], [ %total, %leave ], "
        "[ %total, %take ], [ %total.now, %help ], [ 0, %sleep ], [ 0, %return ]",
        "  %state = load atomic i64, ptr %seat acquire, align 8",
        f"  %kind = and i64 %state, {(1 << SEAT_BITS) - 1}",
        f"  %asked = icmp eq i64 %kind, {Seat.ASKED}",
        "  br i1 %asked, label %take, label %look",
        "look:",
        "  %i.next = add i64 %i, 1",
        "  %over = icmp ugt i64 %i.next, %turns",
        "  br i1 %over, label %leave, label %pass",
        "pass:",
        *pause,
        f"  %long = icmp ugt i64 %i.next, {TURNS}",
        f"  %part = and i64 %i.next, {POLITE - 1}",
        "  %now = icmp eq i64 %part, 0",
        "  %ways = and i1 %long, %now",
        "  br i1 %ways, label %way, label %wait",
        "way:",
        "  %made = call i32 %make.way()",
        "  br label %wait",
        *_sleep_here(),
        "take:",
        f"  %took = cmpxchg ptr %seat, i64 %state, i64 {Seat.BUSY} acq_rel monotonic",
        "  %took.ok = extractvalue { i64, i1 } %took, 1",
        "  br i1 %took.ok, label %asked.for, label %wait",
        "asked.for:",
        *field("%seat", SeatSlot.ENTRY, "kernel", "ptr"),
        "  %nothing = icmp eq ptr %kernel, null",
        "  br i1 %nothing, label %gone, label %help",
        *_help_here(),
        "  br label %wait",
        "gone:",
        f"  store atomic i64 {Seat.GONE}, ptr %seat release, align 8",
        "  ret void",
        "}",
    ]


def _seat_of_own() -> list[str]:
    """What a seat says that stays as it is, and places on it."""
    return [
        *field("%seat", SeatSlot.LEAST, "least"),
        *field("%seat", SeatSlot.MOST, "most"),
        *field("%seat", SeatSlot.MAKE_WAY, "make.way", "ptr"),
        *field("%seat", SeatSlot.CLOCK, "clock", "ptr"),
        *field("%seat", SeatSlot.CLOCK_ID, "clock.number"),
        "  %clock.id = trunc i64 %clock.number to i32",
        *field("%seat", SeatSlot.CHOOSE, "choose", "ptr"),
        *field("%seat", SeatSlot.ACQUIRE, "acquire", "ptr"),
        *field("%seat", SeatSlot.LOCK, "lock", "ptr"),
        f"  %done.p = getelementptr i64, ptr %seat, i64 {SeatSlot.DONE}",
        f"  %sent.p = getelementptr i64, ptr %seat, i64 {SeatSlot.SENT}",
        f"  %usual.p = getelementptr i64, ptr %seat, i64 {SeatSlot.USUAL}",
    ]


def _sleep_here() -> list[str]:
    """Who changes the state from now on gives the lock back, once."""
    return [
        "leave:",
        f"  %left = cmpxchg ptr %seat, i64 {Seat.READY}, i64 {Seat.ASLEEP} acq_rel monotonic",
        "  %left.ok = extractvalue { i64, i1 } %left, 1",
        "  br i1 %left.ok, label %sleep, label %wait",
        "sleep:",
        "  %held = call i32 %acquire(ptr %lock, i32 1)",
        "  %sent = load i64, ptr %sent.p, align 8",
        "  %is.sent = icmp ne i64 %sent, 0",
        "  br i1 %is.sent, label %return, label %wait",
        "return:",
        "  store i64 0, ptr %sent.p, align 8",
        f"  %returned = call i32 %choose(i32 0, i64 {8 * PROCESSORS}, ptr %usual.p)",
        "  br label %wait",
    ]


def _help_here() -> list[str]:
    """Runs the launch, and tells for how many turns to wait for the next one: `%turns.now`."""
    return [
        "help:",
        f"  %ticket = lshr i64 %state, {SEAT_BITS}",
        *field("%seat", SeatSlot.LAUNCH, "launch", "ptr"),
        *field("%seat", SeatSlot.WORKER, "worker", "ptr"),
        "  %begins = call i64 @simt.now(ptr %clock, i32 %clock.id)",
        "  call void %kernel(ptr %launch, ptr %worker)",
        f"  store atomic i64 {Seat.READY}, ptr %seat release, align 8",
        "  store atomic i64 %ticket, ptr %done.p release, align 8",
        "  %ends = call i64 @simt.now(ptr %clock, i32 %clock.id)",
        "  %helped = sub i64 %ends, %begins",
        "  %total.now = add i64 %total, %helped",
        f"  %as.long = udiv i64 %total.now, {TURN}",
        "  %too.long = icmp ugt i64 %as.long, %most",
        "  %at.most = select i1 %too.long, i64 %most, i64 %as.long",
        "  %too.short = icmp ult i64 %at.most, %least",
        "  %turns.now = select i1 %too.short, i64 %least, i64 %at.most",
    ]


def _now() -> list[str]:
    """Nanoseconds, by the C library's `clock_gettime`."""
    return [
        "define internal i64 @simt.now(ptr %clock, i32 %id) {",
        "  %time = alloca [2 x i64]",
        "  %got = call i32 %clock(i32 %id, ptr %time)",
        *field("%time", 0, "seconds"),
        *field("%time", 1, "nanoseconds"),
        "  %whole = mul i64 %seconds, 1000000000",
        "  %now = add i64 %whole, %nanoseconds",
        "  ret i64 %now",
        "}",
    ]


def _send_away() -> list[str]:
    """Lets a thread that sleeps wake up elsewhere than where this one runs, which goes on: see
    `simt.engine.processors`."""
    size = 8 * PROCESSORS
    words = [f"%word.{n}" for n in range(PROCESSORS)]
    return [
        "define internal void @simt.send.away(ptr %roster, ptr %seat) {",
        *field("%roster", RosterSlot.WHERE, "where", "ptr"),
        "  %unknown = icmp eq ptr %where, null",
        "  br i1 %unknown, label %end, label %look",
        "look:",
        "  %here = call i32 %where()",
        f"  %known = icmp ult i32 %here, {64 * PROCESSORS}",
        "  br i1 %known, label %ask, label %end",
        "ask:",
        *field("%roster", RosterSlot.ASK, "of", "ptr"),
        *field("%roster", RosterSlot.CHOOSE, "choose", "ptr"),
        *field("%seat", SeatSlot.THREAD, "number"),
        "  %thread = trunc i64 %number to i32",
        f"  %usual = getelementptr i64, ptr %seat, i64 {SeatSlot.USUAL}",
        f"  %away = getelementptr i64, ptr %seat, i64 {SeatSlot.AWAY}",
        f"  %found = call i32 %of(i32 %thread, i64 {size}, ptr %usual)",
        "  %told = icmp eq i32 %found, 0",
        "  br i1 %told, label %without, label %end",
        "without:",
        f"  call void @llvm.memcpy.p0.p0.i64(ptr %away, ptr %usual, i64 {size}, i1 false)",
        "  %index = lshr i32 %here, 6",
        "  %shift = and i32 %here, 63",
        "  %shift.wide = zext i32 %shift to i64",
        "  %bit = shl i64 1, %shift.wide",
        "  %others = xor i64 %bit, -1",
        "  %here.p = getelementptr i64, ptr %away, i32 %index",
        "  %here.word = load i64, ptr %here.p, align 8",
        "  %here.less = and i64 %here.word, %others",
        "  store i64 %here.less, ptr %here.p, align 8",
        *(
            line
            for n, word in enumerate(words)
            for line in (
                f"  {word}.p = getelementptr i64, ptr %away, i64 {n}",
                f"  {word} = load i64, ptr {word}.p, align 8",
                f"  %any.{n} = or i64 {word}, {f'%any.{n - 1}' if n else 0}",
            )
        ),
        f"  %none = icmp eq i64 %any.{PROCESSORS - 1}, 0",
        "  br i1 %none, label %end, label %send",
        "send:",
        f"  %went = call i32 %choose(i32 %thread, i64 {size}, ptr %away)",
        "  %may = icmp eq i32 %went, 0",
        "  %sent = zext i1 %may to i64",
        f"  %sent.p = getelementptr i64, ptr %seat, i64 {SeatSlot.SENT}",
        "  store i64 %sent, ptr %sent.p, align 8",
        "  br label %end",
        "end:",
        "  ret void",
        "}",
    ]


def _ask() -> list[str]:
    """`int64 simt_ask(roster, workers, wanted, asked, ticket, entry, launch, wakes)` asks threads that wait
    on seats of a roster to run a launch, until as many are asked as are wanted: each with the next of the
    workers (addresses). The result is their number; `asked` has their seats then, and `ticket` the request's
    number. `wakes`: those who sleep are asked after those who wait."""
    return [
        f"define i64 @{ASK}(ptr %roster, ptr %workers, i64 %wanted, ptr %asked, ptr %ticket.p, i64 %entry, "
        "i64 %launch, i64 %wakes) {",
        "start:",
        *field("%roster", RosterSlot.COUNT, "count"),
        *field("%roster", RosterSlot.TICKET, "last.p", "ptr"),
        "  %last = load i64, ptr %last.p, align 8",
        "  %ticket = add i64 %last, 1",
        "  store i64 %ticket, ptr %last.p, align 8",
        "  store i64 %ticket, ptr %ticket.p, align 8",
        f"  %ticket.bits = shl i64 %ticket, {SEAT_BITS}",
        f"  %request = or i64 %ticket.bits, {Seat.ASKED}",
        f"  %seats = getelementptr i64, ptr %roster, i64 {RosterSlot.SEATS}",
        "  br label %next",
        "next:",
        f"  %kind = phi i64 [ {Seat.READY}, %start ], [ %kind, %on ], [ {Seat.ASLEEP}, %sleepers ]",
        "  %i = phi i64 [ 0, %start ], [ %i.next, %on ], [ 0, %sleepers ]",
        "  %n = phi i64 [ 0, %start ], [ %n.next, %on ], [ %n, %sleepers ]",
        "  %few = icmp ult i64 %n, %wanted",
        "  br i1 %few, label %more.seats, label %end",
        "more.seats:",
        "  %left = icmp ult i64 %i, %count",
        "  br i1 %left, label %look, label %all",
        "all:",
        f"  %awake = icmp eq i64 %kind, {Seat.READY}",
        "  %may = icmp ne i64 %wakes, 0",
        "  %again = and i1 %awake, %may",
        "  br i1 %again, label %sleepers, label %end",
        "sleepers:",
        "  br label %next",
        "look:",
        "  %seat.p = getelementptr ptr, ptr %seats, i64 %i",
        "  %seat = load ptr, ptr %seat.p, align 8",
        "  %state = load atomic i64, ptr %seat monotonic, align 8",
        "  %ready = icmp eq i64 %state, %kind",
        "  br i1 %ready, label %fill, label %on",
        *_ask_one(),
        "on:",
        "  %more = phi i64 [ 0, %look ], [ %one, %fill ], [ 1, %wake ]",
        "  %n.next = add i64 %n, %more",
        "  %i.next = add i64 %i, 1",
        "  br label %next",
        "end:",
        "  ret i64 %n",
        "}",
    ]


def _ask_one() -> list[str]:
    """Writes the request, and asks if the state is still what it was: i64 `%one`, how many that makes."""
    values = {SeatSlot.ENTRY: "%entry", SeatSlot.LAUNCH: "%launch", SeatSlot.WORKER: "%worker"}
    return [
        "fill:",
        "  %worker.p = getelementptr i64, ptr %workers, i64 %n",
        "  %worker = load i64, ptr %worker.p, align 8",
        *(
            line
            for slot, value in values.items()
            for line in store("%seat", slot, f"i64 {value}", f"slot.{slot}")
        ),
        "  %asked.p = getelementptr ptr, ptr %asked, i64 %n",
        "  store ptr %seat, ptr %asked.p, align 8",
        "  %pair = cmpxchg ptr %seat, i64 %kind, i64 %request acq_rel monotonic",
        "  %ok = extractvalue { i64, i1 } %pair, 1",
        "  %one = zext i1 %ok to i64",
        f"  %slept = icmp eq i64 %kind, {Seat.ASLEEP}",
        "  %woken = and i1 %ok, %slept",
        "  br i1 %woken, label %wake, label %on",
        "wake:",
        "  call void @simt.send.away(ptr %roster, ptr %seat)",
        *field("%roster", RosterSlot.RELEASE, "release", "ptr"),
        *field("%seat", SeatSlot.LOCK, "lock", "ptr"),
        "  call void %release(ptr %lock)",
        "  br label %on",
    ]


def _withdraw() -> list[str]:
    """`int64 simt_withdraw(asked, count, ticket)` asks no more those who have not seen it yet; how many have,
    whose seats come first then. Who has helped already may have been asked by another launch since."""
    return [
        f"define i64 @{WITHDRAW}(ptr %asked, i64 %count, i64 %ticket) {{",
        "start:",
        f"  %ticket.bits = shl i64 %ticket, {SEAT_BITS}",
        f"  %request = or i64 %ticket.bits, {Seat.ASKED}",
        "  br label %next",
        "next:",
        "  %i = phi i64 [ 0, %start ], [ %i.next, %look ]",
        "  %n = phi i64 [ 0, %start ], [ %n.next, %look ]",
        "  %left = icmp ult i64 %i, %count",
        "  br i1 %left, label %look, label %end",
        "look:",
        "  %seat.p = getelementptr ptr, ptr %asked, i64 %i",
        "  %seat = load ptr, ptr %seat.p, align 8",
        f"  %pair = cmpxchg ptr %seat, i64 %request, i64 {Seat.READY} acq_rel monotonic",
        "  %withdrawn = extractvalue { i64, i1 } %pair, 1",
        "  %kept.p = getelementptr ptr, ptr %asked, i64 %n",
        "  store ptr %seat, ptr %kept.p, align 8",
        "  %begun = xor i1 %withdrawn, true",
        "  %one = zext i1 %begun to i64",
        "  %n.next = add i64 %n, %one",
        "  %i.next = add i64 %i, 1",
        "  br label %next",
        "end:",
        "  ret i64 %n",
        "}",
    ]


def _join(pause: list[str]) -> list[str]:
    """`int32 simt_join(asked, count, ticket, turns)` waits until the threads of all those seats have helped
    with a launch; whether they have, after so many looks."""
    return [
        f"define i32 @{JOIN}(ptr %asked, i64 %count, i64 %wanted, i64 %turns) {{",
        "start:",
        "  br label %next",
        "next:",
        "  %n = phi i64 [ 0, %start ], [ %n.next, %there ]",
        "  %i = phi i64 [ 0, %start ], [ %i.now, %there ]",
        "  %left = icmp ult i64 %n, %count",
        "  br i1 %left, label %seat, label %yes",
        "seat:",
        "  %seat.p = getelementptr ptr, ptr %asked, i64 %n",
        "  %seat.n = load ptr, ptr %seat.p, align 8",
        f"  %done.p = getelementptr i64, ptr %seat.n, i64 {SeatSlot.DONE}",
        "  br label %wait",
        "wait:",
        "  %i.now = phi i64 [ %i, %seat ], [ %i.next, %pass ]",
        "  %done = load atomic i64, ptr %done.p acquire, align 8",
        "  %is.there = icmp uge i64 %done, %wanted",
        "  br i1 %is.there, label %there, label %look",
        "there:",
        "  %n.next = add i64 %n, 1",
        "  br label %next",
        "look:",
        "  %i.next = add i64 %i.now, 1",
        "  %over = icmp ugt i64 %i.next, %turns",
        "  br i1 %over, label %no, label %pass",
        "pass:",
        *pause,
        "  br label %wait",
        "yes:",
        "  ret i32 1",
        "no:",
        "  ret i32 0",
        "}",
    ]


def _help() -> list[str]:
    return [
        "define internal void @simt.help_begins(ptr %call) {",
        *field("%call", CallSlot.WANTED, "wanted"),
        "  %any = icmp ne i64 %wanted, 0",
        "  br i1 %any, label %ask, label %end",
        "ask:",
        *field("%call", CallSlot.LAUNCHES, "launches", "ptr"),
        "  %launch = load ptr, ptr %launches, align 8",
        "  %launch.i = ptrtoint ptr %launch to i64",
        *field("%launch", LaunchSlot.ENTRY, "kernel"),
        *field("%call", CallSlot.ROSTER, "roster", "ptr"),
        *field("%call", CallSlot.WORKERS, "workers", "ptr"),
        *field("%call", CallSlot.SEATS, "seats", "ptr"),
        f"  %ticket.p = getelementptr i64, ptr %call, i64 {CallSlot.TICKET}",
        *field("%call", CallSlot.WAKES, "wakes"),
        f"  %count = call i64 @{ASK}(ptr %roster, ptr %workers, i64 %wanted, ptr %seats, ptr %ticket.p, "
        "i64 %kernel, i64 %launch.i, i64 %wakes)",
        *_kept("%count", CallSlot.ASKED),
        "  br label %end",
        "end:",
        "  ret void",
        "}",
        "define internal void @simt.help_ends(ptr %call) {",
        *field("%call", CallSlot.WANTED, "wanted"),
        "  %any = icmp ne i64 %wanted, 0",
        "  br i1 %any, label %close, label %end",
        "close:",
        *field("%call", CallSlot.SEATS, "seats", "ptr"),
        *field("%call", CallSlot.ASKED, "count"),
        *field("%call", CallSlot.TICKET, "ticket"),
        f"  %begun = call i64 @{WITHDRAW}(ptr %seats, i64 %count, i64 %ticket)",
        *_kept("%begun", CallSlot.BEGUN),
        f"  %all = call i32 @{JOIN}(ptr %seats, i64 %begun, i64 %ticket, i64 {TURNS})",
        "  %ended = zext i32 %all to i64",
        *_kept("%ended", CallSlot.ENDED),
        "  br label %end",
        "end:",
        "  ret void",
        "}",
    ]


def _kept(value: str, slot: int) -> list[str]:
    name = f"%kept.{slot}"
    return [
        f"  {name} = getelementptr i64, ptr %call, i64 {slot}",
        f"  store i64 {value}, ptr {name}, align 8",
    ]
