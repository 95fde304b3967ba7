"""What compiled code and its Python side share: above all memory blocks, every field one 64-bit slot."""

from __future__ import annotations

KERNEL = "simt_kernel"
"""The name of a compiled kernel's entry."""
RUN = "simt_run"
"""The function that runs launches on the thread of the caller: see `simt.engine.native`."""
LINGER, ASK, WITHDRAW, JOIN = "simt_linger", "simt_ask", "simt_withdraw", "simt_join"
"""Functions of threads that help: see `simt.engine.native_seats`."""
YIELD, DRAIN, HIRE, SYSTEM = "simt_yield", "simt_drain", "simt_hire", "simt_system"
"""Functions of fibers: see `simt.engine.native_fibers`."""
FETCH = "simt_fetch"
"""The function that fetches from textures of one kind: see `simt.engine.llvm_texels`."""
SERVE = "simt_serve"
"""The function by which compiled code lets Python handle signals."""
REPEAT = "simt_repeat"
"""The function that makes a launch once more: see `simt.engine.native_repeat`."""
NATIVE_STACK = 64 << 20
"""Bytes of stack of the threads that run compiled code."""


LINE_SLOTS = 16
"""Slots of two cache lines, which processors fetch together: what threads write lies that far apart."""

BEYOND = 256
"""Bytes after shared memory that code may read: see `simt.engine.llvm_windows`."""


# Numbers by name are plain ones: enumerations of so many would take a twentieth of a cached start.


class LaunchSlot:
    """Constant during a launch, apart from `ABORT` and the counters from `NEXT_CTA` on."""

    GRID_X = 0
    GRID_Y = 1
    GRID_Z = 2
    CTAS = 3
    CHUNK = 4  # CTAs that a worker claims at once
    RANGES = 5  # parts of the grid, the first of which is the first worker's, and so on
    RANGE = 6  # CTAs in each of them, but for the last ones
    GRID_ID = 7
    LIMIT = 8  # of the arena
    BASE = 9  # of the arena
    PARAMETERS = 10  # address of the parameter block
    SHARED_BYTES = 11  # of a CTA, static and dynamic
    DYNAMIC_SHARED = 12
    LOCAL_BYTES = 13  # of a thread
    SYMBOLS = 14  # address of the table of module variables' addresses
    SM_COUNT = 15
    WARPS_OF_SM = 16  # that one of the device's multiprocessors can hold
    SYSTEM = 17  # address of the function that calls the system: see `simt.engine.native_system`
    CLEAR = 18  # nonzero: shared and local memory may hold something, and are cleared first
    ENTRY = 19  # address of the compiled kernel
    WORKER = 20  # address of the block of the worker that runs on the thread of the caller
    SERVE = 21  # address of a function for that worker and its fibers: see `simt.engine.native`
    CALL = 22  # address of the `CallSlot`s
    ABORT = 23  # lower half nonzero: stop as soon as possible. Upper half: the caller's worker calls `SERVE`,
    # and is not `ALONE` any more if that is `SHARE`
    EVENTS = 24  # address of the counters of performance monitor events, if the kernel has such
    YIELD = 25  # addresses of functions for workers whose CTA waits, and for those that find none left
    DRAIN = 26
    GROW = 27  # address of the Python function that begins more CTAs: see `simt.engine.fibers`
    GATE = 28  # address of what `SYSTEM` calls on the thread's own stack
    WORKSPACE = 29  # address of memory for barriers of the grid, 0 if the launch is not cooperative
    ALONE = 30  # nonzero: no other thread writes to memory meanwhile, so that nothing need be locked
    GRID_COLUMNS = 31  # CTAs along x, where `GRID_X` counts such that are taken as one
    TEXTURES = 32  # address of the `TableSlot`s, if the kernel reads textures
    NOTE = (
        33  # address of the `NoteSlot`s by which the thread of the caller calls the system, if it runs there
    )
    NEXT_CTA = 3 * LINE_SLOTS  # for each range, `LINE_SLOTS` apart: how many of its CTAs were handed out


def launch_slots(ranges: int) -> int:
    """Slots of a launch's block."""
    return LaunchSlot.NEXT_CTA + LINE_SLOTS * ranges


REQUEST = 8 * LaunchSlot.ABORT + 4
"""Byte offset of the upper half of `ABORT`."""
SHARE = 2
"""A request that others be let in."""


class WorkerSlot:
    """One block for each native thread, and for each of its fibers."""

    SHARED = 0  # address of the CTA's shared memory
    LOCAL = 1  # address of the local memory of the CTA's threads
    CONTEXT = 2  # address of the warps' saved contexts
    SM = 3
    STACK_LIMIT = 4  # native stack address below which a call is refused
    CTA = 5  # now running, for fault reports
    WARP = 6
    FINISHED = 7  # CTAs
    CLOCK = 8  # instructions that the warp has executed, in kernels that read a clock
    ROOT = 9  # address of the block of the worker whose thread this is: see `simt.engine.native_fibers`
    NEXT = 10  # blocks of the worker's neighbours in the ring of those that share a thread
    PREVIOUS = 11
    POINTER = 12  # stack pointer while another one of the ring runs
    STACK = 13  # end of a fiber's stack
    YIELDS = 14  # of the ring, since somebody looked whether it gets on
    SEEN = 15  # CTAs that had been claimed then
    ASKED = 16  # address of a function that a fiber wants to be called on the thread's own stack
    ASKER = 17
    ANSWER = 18
    ARGUMENTS = 19  # first of `ARGUMENTS`
    FAULT = 25  # first slot of this worker's `FaultSlot`s


ARGUMENTS = WorkerSlot.FAULT - WorkerSlot.ARGUMENTS
"""How many arguments a fiber's call on its thread's own stack may have."""


class CallSlot:
    """A call of compiled code from Python: launches that run one after the other (`simt.engine.native`)."""

    LAUNCHES = 0  # address of the addresses of their blocks
    COUNT = 1
    CURRENT = 2  # index of the launch that runs
    RENEW = 3  # nonzero: gives each launch a grid id, counting from `GRID_ID`, and the `LIMIT`
    GRID_ID = 4
    LIMIT = 5
    THREAD = 6  # Python's state of the calling thread
    REQUEST = 7  # nonzero: look for signals before the next launch
    EXPIRED = 8  # grid id of a launch that ran past its deadline
    SAVE_THREAD = 9  # addresses of functions of Python
    RESTORE_THREAD = 10
    CHECK_SIGNALS = 11
    ENSURE = 12
    RELEASE = 13
    NUMBER = 14
    INVOKE = 15
    DROP = 16
    MAKE_WAY = 17  # address of a function of the C library: lets other threads of the system run
    WANTED = 18  # threads that are to be asked on their seats to help with the first launch
    ROSTER = 19  # address of the `RosterSlot`s, if there are such
    WORKERS = 20  # address of the addresses of their workers' blocks
    SEATS = 21  # address of as many addresses: of the seats of those that are asked
    ASKED = 22  # how many are
    TICKET = 23  # number of the request
    BEGUN = 24  # how many of them have begun when the launches end, whose seats come first then
    ENDED = 25  # nonzero: all of these have ended
    WAKES = 26  # nonzero: those who sleep are asked, too, if too few are awake


class NoteSlot:
    """A call of the system that one thread leaves to another: see `simt.engine.native_system`."""

    WORKER = 0  # arguments of the gate
    NUMBER = 1
    MASK = 2
    LINE = 3
    PLACES = 4
    GATE = 5
    ANSWER = 6
    ROSTER = 7  # address of the `RosterSlot`s of those who may be asked
    ITSELF = 8  # address of this block
    SEAT = 9  # address of the seat of who was asked
    TICKET = 10  # number of the request


class RepeatSlot:
    """A launch that may be made once more, and what must be as it was: see `simt.engine.native_repeat`.
    Objects are addresses of Python's objects."""

    ARMED = 0  # zero: something else has happened
    GRID = 1  # objects that the launch was given
    BLOCK = 2
    SHARED = 3
    TUPLE = 4  # the type of the tuple of arguments
    COUNT = 5  # of them
    ACQUIRE = 6  # objects that take the device's lock and give it back when they are called
    RELEASE = 7
    DEVICE = 8  # address of a number that must not have changed, and what it was
    DEVICE_CHANGES = 9
    MEMORY = 10
    MEMORY_CHANGES = 11
    CELLS = 12  # address of the launch's `cells`: whether it runs, grid id
    AWAKE = 13  # address of a number: nonzero while somebody watches launches
    STACK = 14  # lowest address of the stack that has room, and its size
    STACK_BYTES = 15
    LEFT = 16  # launches until Python looks again at how long they take
    LAST_GRID_ID = 17  # address of the device's count of launches
    LAUNCH = 18  # addresses of the `LaunchSlot`s and the `CallSlot`s
    CALL = 19
    PARAMETERS = 20  # address and size of what the parameter block must hold, as it was last
    PARAMETER_BYTES = 21
    RUNNING = 22  # the set of calls that are watched, and the object that stands for this one
    ITSELF = 23
    INVOKE = 24  # addresses of functions of Python
    DROP = 25
    KEEP = 26
    ADD = 27
    DISCARD = 28
    OCCURRED = 29
    FETCH = 30
    RESTORE = 31
    TRUE = 32  # objects
    FALSE = 33
    NONE = 34
    FINISH = 35  # object that waits for those who help, when it is called
    HELP = 36  # address of the `HelpCell`s
    AS_NUMBER = 37  # addresses of functions of Python
    CLEAR = 38
    INTEGER = 39  # the type of Python's integers
    MADE = 40  # launches since Python looked
    SHORTEST = 41  # nanoseconds of one of them, of those for which all who were wanted came
    CLOCK = 42  # address of a function that tells the time; zero: nobody asks how long launches take
    CLOCK_ID = 43
    GRIDS = 44  # how often there was another grid
    EXTENT = 45  # first of the three extents of the grid
    MOST = 48  # first of the most that those of another grid may be; zero: no other grid may take its place
    LEAST_CTAS = 51  # that another grid may have, and the most
    MOST_CTAS = 52
    PARTS = 53  # into which a grid's CTAs are cut; zero: not at all
    LIST = 54  # the type of lists, which may hold the arguments, too
    AS_DOUBLE = 55  # address of a function of Python
    BEGAN = 56  # when the last one began, by that clock
    CALLS = 57  # how often it was asked to be made once more
    UNDER_WAY = 58  # address of a count of launches that run: see `simt.engine.prepared.Host`
    TOTAL = 59  # nanoseconds of all those of which one was the shortest, and how many these are
    COUNTED = 60
    ARGS = 61  # first `ArgumentSlot` of the first argument


class ArgumentSlot:
    """What is known of an argument of a launch that may be made once more."""

    OBJECT = 0
    VALUE = 1  # what the object means, as an integer
    BYTES = 2  # zero: only the object itself may stand there, and nothing is written
    OFFSET = 3  # in the parameters
    TYPE = 4  # of numbers that may take its place; zero: none
    MOST = 5  # the greatest integer that may; zero: they are floats
    OBJECT_2 = 6  # others that may take its place, and what they mean; zero: none
    VALUE_2 = 7
    OBJECT_3 = 8
    VALUE_3 = 9
    OBJECT_4 = 10
    VALUE_4 = 11


class HelpCell:
    """How a thread that finds a launch long, and the one that ends it, learn of each other: either writes its
    own cell first and then looks at the other's, with Python's lock held."""

    OVER = 0  # nonzero: nobody is to be asked any more
    SUMMONED = 1  # nonzero: somebody may have been asked


class SeatSlot:
    """Where a thread waits for launches to help with, and sleeps. See `simt.engine.pool`."""

    STATE = 0  # a `Seat`
    DONE = 1  # ticket of the launch that it helped with last
    ENTRY = 2  # addresses of what to run (zero: nothing any more), and of its blocks
    LAUNCH = 3
    WORKER = 4
    THREAD = 5  # the system's number of the thread
    SENT = 6  # nonzero: it may not run on the processor of the one who woke it, until it has woken up
    LEAST = 8  # looks at its seat before it sleeps
    MOST = 9
    LOCK = 10  # it sleeps until somebody gives this lock back, which it holds otherwise
    ACQUIRE = 11  # addresses of functions: takes a lock
    MAKE_WAY = 12  # lets other threads of the system run
    CLOCK = 13  # tells the time, of the clock with this number
    CLOCK_ID = 14
    CHOOSE = 15  # says where a thread may run; zero: there is no such function
    USUAL = 16  # first of `PROCESSORS`, bits of processors where it may run
    AWAY = 32  # the same without one


class Seat:
    """What a thread does, in the lower bits of the seat's state: nothing any more, wait, find that it is
    asked to help, help, sleep. The upper bits of `ASKED` are the request's ticket, so that nobody takes it
    for another. A thread that has not begun yet counts as one that waits."""

    GONE = 0
    READY = 1
    ASKED = 2
    BUSY = 3
    ASLEEP = 4


PROCESSORS = 16
"""Slots of a set of processors, as the C library has it."""

SEAT_SLOTS = SeatSlot.AWAY + PROCESSORS

SEAT_BITS = 3
"""How many are the lower bits of a seat's state."""


class RosterSlot:
    """The seats of a pool."""

    TICKET = 0  # address of the last request's ticket; they only grow
    COUNT = 1
    RELEASE = 2  # addresses of functions: gives a lock back
    WHERE = 3  # tells the processor; zero: there is no such function, nor the two that follow
    ASK = 4  # tells where a thread may run
    CHOOSE = 5  # says so
    SEATS = 6  # the first one's address; the others follow


class TableSlot:
    """The textures of a launch."""

    COUNT = 0
    BOUND = 1  # `BoundSlot`s of the first one


class BoundSlot:
    """A name of a texture."""

    HANDLE = 0  # address of the variable
    TEXTURE = 1  # of the `TextureSlot`s


class TextureSlot:
    """A texture, as a kernel reads it."""

    DATA = 0  # address of its array, whose extents follow
    WIDTH = 1
    HEIGHT = 2
    DEPTH = 3
    FETCH = 4  # first address of a function (`simt.engine.llvm_texels`), in the order of `Compiled.fetches`


class FaultSlot:
    KIND = 0
    LINE = 1
    ADDRESS = 2
    LANE = 3
    WARP = 4
    CTA = 5
    SIZE = 6
    SPACE = 7


class FaultKind:
    NONE = 0
    ILLEGAL = 1
    MISALIGNED = 2
    TRAP = 3
    ABORTED = 4  # stopped from outside: deadline, interrupt, or another worker's fault
    STACK = 5
    BARRIER = 6
    TARGET = 7  # indirect branch or call to nowhere
    NO_BARRIER = 8  # a barrier number that does not exist
    SYSTEM = 9  # a call of the system raised an exception
    TEXTURE = 10  # nothing is bound to what was read


def slot_count(block: type) -> int:
    """How many a block has, by their names."""
    return sum(map(str.isupper, vars(block)))


WORKER_SLOTS = WorkerSlot.FAULT + slot_count(FaultSlot)

SPACES = ("", "global", "const", "param", "shared", "local")
"""Spaces by the number used in fault reports; "" is generic."""
