"""Finds the form of an instruction from its opcode and modifiers, or says why there is none.

Modifiers are matched in the order of the declaration first. Like ptxas, selection then accepts any
other order too (`add.f32.rn`), with two exceptions: types, state spaces, priorities and layouts keep their
order among each other, and what belongs to the opcode (`OPCODE_SLOTS`) keeps its place.
"""

from __future__ import annotations

import itertools
from collections.abc import Container, Iterator, Mapping, Sequence
from functools import cache, lru_cache

from simt.isa.async_copy import WINDOWS
from simt.isa.cache import PRIORITIES
from simt.isa.catalogue import FORMS, KNOWN
from simt.isa.form import Binding, Form, Requirement, Slot, Version
from simt.isa.fragments import BITS, LAYOUTS
from simt.isa.small_formats import FORMATS
from simt.ptx.types import F32, STATE_SPACES
from simt.records import dataclass, field, replace

LAST_FLUSHING_VERSION: Version = (1, 4)
FIRST_IEEE_TARGET = 20
OPCODE_SLOTS = frozenset([
    "mode", "to", "pack", "full", "proxy", "warp", "async", "cta", "action", "arrive", "arrive_drop",
    "expect_tx", "init", "inval", "test_wait", "try_wait", "parity", "pending_count",
    "mbarrier", "fractional", "load", "store", "mma", "matrix",
    "bulk", "commit_group", "wait_group", "prefetch",
])  # fmt: skip
"""Slots that, where nothing else comes before them, are part of the instruction's name: `mul.wide`."""

KEPT = (
    dict.fromkeys((*BITS, *FORMATS), "type")
    | dict.fromkeys((*STATE_SPACES, *WINDOWS.split()), "space")
    | dict.fromkeys(PRIORITIES, "priority")
    | dict.fromkeys(LAYOUTS.split(), "layout")
)
"""Modifiers that keep their order among those of their group."""


@dataclass(frozen=True, slots=True)
class Selection:
    """The form of an instruction and the values of all its modifiers. Do not change the bindings.

    `written`: the binding without the `.ftz` that the language implies. `ignored`: modifiers that mean
    nothing here.
    """

    form: Form
    binding: Binding
    written: Binding
    ignored: tuple[str, ...] = ()

    @property
    def requirement(self) -> Requirement:
        """PTX version and target that the form and the written modifiers need."""
        return self.form.required(self.written)

    def shortfall(self, version: Version, target: int) -> str | None:
        """What a module of this version and target lacks for the instruction, or None."""
        spelled, needed = self.form.spell(self.written), self.requirement
        if needed.version > version:
            return f"`{spelled}` requires PTX ISA {_dotted(needed.version)} or later"
        if self.form.expired(version, target):
            return f"`{spelled}` is not allowed after PTX ISA {_dotted(self.form.until or version)}"
        if needed.target > target:
            return f"`{spelled}` requires sm_{needed.target} or later"
        return None


@dataclass(frozen=True, slots=True)
class Mismatch:
    """Why no form fits. `modifier`: index of the modifier that is to blame, -1 if none is."""

    message: str
    hint: str | None = None
    modifier: int = -1


@dataclass(slots=True)
class _Trace:
    """How far strict matching got, over all forms: modifiers used, and what could have come next."""

    used: int = 0
    expected: list[str] = field(default_factory=list[str])

    def note(self, used: int, slots: Sequence[Slot]) -> None:
        if used > self.used:
            self.used, self.expected = used, []
        if used == self.used:
            self.expected += [w for s in slots for w in s.choices if w not in self.expected]


@lru_cache(maxsize=1 << 16)
def select(
    opcode: str,
    modifiers: tuple[str, ...],
    operand_count: int | None = None,
    version: Version = (9, 0),
    target: int = 90,
) -> Selection | Mismatch:
    """The form that `opcode.modifiers` with so many operands means in a module of this version and target.

    Forms that the version allows come first; one that it does not allow is returned only if no other
    fits (see `Selection.shortfall`). `operand_count` None: any. Forms that simt knows but does not run
    (`Form.runs`) are found too.
    """
    found = _whole(opcode, modifiers, operand_count, version, target)
    if not isinstance(found, Mismatch):
        return found
    return _known(opcode, modifiers, operand_count) or _too_few(opcode, modifiers, operand_count, found)


def _known(opcode: str, modifiers: tuple[str, ...], operand_count: int | None) -> Selection | None:
    """The open form that fits; of several the one that says most."""
    forms = [form for form in KNOWN.get(opcode, ()) if form.is_open]
    enough = [f for f in forms if operand_count is None or operand_count >= len(f.operands)]
    found = [(form, _begins(form, modifiers)) for form in enough]
    fitting = [(form, _complete(form, bound)) for form, bound in found if bound is not None]
    best = max(fitting, key=lambda f: len(f[0].slots), default=None)
    return Selection(*best, best[1]) if best else None


def _begins(form: Form, modifiers: tuple[str, ...]) -> Binding | None:
    """How the modifiers begin as an open form does, with its further slots anywhere behind."""
    first, later = form.slots[: form.head], form.slots[form.head :]
    for used in range(len(modifiers), -1, -1):
        bound = next(_in_order(first, modifiers[:used]), None)
        rest = {s.name: s.choices[w] for s in later for w in modifiers[used:] if w in s.choices}
        if bound is not None and len(rest) == len(later):
            return {**bound, **rest}
    return None


def _too_few(opcode: str, modifiers: tuple[str, ...], count: int | None, found: Mismatch) -> Mismatch:
    """That an open form has more operands, if it is all that the modifiers fit."""
    known = _known(opcode, modifiers, None)
    if known is None or not known.form.operands or found.modifier < 0:
        return found
    spelled, least = ".".join((opcode, *modifiers)), len(known.form.operands)
    message = f"`{spelled}` takes at least {least} operands, not {count}"
    return Mismatch(message, f"expected `{known.form.syntax}`")


@cache
def _closed(opcode: str) -> list[Form]:
    """The forms of a mnemonic that say all that may follow."""
    return [*FORMS.get(opcode, ()), *(f for f in KNOWN.get(opcode, ()) if not f.is_open)]


def _whole(
    opcode: str, modifiers: tuple[str, ...], operand_count: int | None, version: Version, target: int
) -> Selection | Mismatch:
    """The form that fits, of those that are not open."""
    forms = _closed(opcode)
    if not forms and opcode not in KNOWN:
        near = _nearest(opcode, [*dict.fromkeys((*FORMS, *KNOWN))])
        return Mismatch(f"unknown instruction `{opcode}`", near)
    if not forms:
        return _modifier_mismatch(opcode, modifiers, forms)
    matches = _matches(forms, modifiers) or _without_ignored(forms, modifiers)
    if not matches:
        return _modifier_mismatch(opcode, modifiers, forms)
    fitting = [s for s in matches if _takes(s.form, operand_count)]
    if not fitting:
        return _count_mismatch(opcode, modifiers, operand_count, matches)
    allowed = [s for s in fitting if _refusal(s, version) is None]
    if not allowed:
        spelled = ".".join((opcode, *modifiers))
        return Mismatch(f"`{spelled}`: {_refusal(fitting[0], version)}")
    best = next((s for s in allowed if s.shortfall(version, target) is None), _closest(allowed, version))
    return _with_implied_ftz(best, version, target)


def _closest(allowed: list[Selection], version: Version) -> Selection:
    """Of forms that the module may not use: one that only its target forbids, else of those to come the
    earliest, else the first."""
    found = next((s for s in allowed if s.shortfall(version, 1 << 30) is None), None)
    coming = [s for s in allowed if not s.form.expired(version, 1 << 30)]
    return found or min(coming, key=_since, default=allowed[0])


def _since(selection: Selection) -> tuple[Version, int]:
    return selection.requirement.version, selection.requirement.target


def _refusal(selection: Selection, version: Version) -> str | None:
    check = selection.form.check
    return check(selection.binding, version) if check else None


def flushes(version: Version, target: int) -> bool:
    """Whether single precision flushes subnormals without being told to: PTX 1.x and sm_1x targets."""
    return version <= LAST_FLUSHING_VERSION or target < FIRST_IEEE_TARGET


def _with_implied_ftz(selection: Selection, version: Version, target: int) -> Selection:
    """With `ftz` bound to True where the language implies it and the form's check allows it."""
    binding = selection.binding
    if binding.get("ftz") is not False or F32 not in binding.values() or not flushes(version, target):
        return selection
    flushed = Selection(selection.form, {**binding, "ftz": True}, binding, selection.ignored)
    return selection if _refusal(flushed, version) else flushed


# ---------------------------------------------------------------- matching


REPEATABLE = frozenset({"NaN", "approx", "cc", "relu", "sat", "satfinite", "shiftamt", "sync", "uni"})
"""Modifiers that may be written twice, like with ptxas, and mean the same."""


@cache
def _ignored(mnemonic: str) -> frozenset[str]:
    """Modifiers that ptxas ignores where they mean nothing: the properties of `testp`, and `.pred` with
    instructions of one thread that know halves and with approximate functions of one value."""
    properties = {w for form in FORMS["testp"] for s in form.slots if s.name == "op" for w in s.choices}
    forms = _closed(mnemonic)
    unary = all(len(f.operands) == FUNCTION_OF_ONE for f in forms)
    words = {w for f in forms for s in f.slots for w in s.choices}
    halves = "f16" in words and "sync" not in words
    return frozenset(properties | ({"pred"} if halves or (unary and "approx" in words) else set()))


FUNCTION_OF_ONE = 2
"""Operands of a form with one destination and one source."""


def _matches(forms: list[Form], modifiers: tuple[str, ...]) -> list[Selection]:
    """All forms that these modifiers fit: in declared order if there are any, else in any order."""
    modifiers = tuple([w for i, w in enumerate(modifiers) if not _repeats(modifiers, i)])
    for matcher in (_in_order, _in_any_order):
        fits = [(f, next(matcher(f.slots, modifiers), None)) for f in forms]
        bindings = [(f, _complete(f, bound)) for f, bound in fits if bound is not None]
        found = [Selection(f, binding, binding) for f, binding in bindings]
        if found:
            return found
    return []


def _repeats(modifiers: Sequence[str], index: int) -> bool:
    return modifiers[index] in REPEATABLE and modifiers[index] in modifiers[:index]


def _without_ignored(forms: list[Form], modifiers: tuple[str, ...]) -> list[Selection]:
    """The forms that fit if modifiers that mean nothing are left out."""
    words = _ignored(forms[0].mnemonic)
    ignored = tuple([w for w in modifiers if w in words])
    if not ignored:
        return []
    kept = tuple([w for w in modifiers if w not in words])
    found = [s for s in _matches(forms, kept) if not _interrupted(s.form, modifiers, words)]
    return [replace(s, ignored=ignored) for s in found if not ("pred" in ignored and _has_mode(s.form))]


def _interrupted(form: Form, modifiers: tuple[str, ...], ignored: Container[str]) -> bool:
    """Whether an ignored modifier stands inside of the instruction's name."""
    name = itertools.takewhile(lambda s: s.name in OPCODE_SLOTS, form.slots)
    known = {w for slot in name for w in slot.choices}
    last = max((i for i, w in enumerate(modifiers) if w in known), default=0)
    return any(w in ignored for w in modifiers[:last])


def _has_mode(form: Form) -> bool:
    return bool(form.slots) and form.slots[0].name == "mode"


def _complete(form: Form, bound: Binding) -> Binding:
    """A match with the form's defaults and the slots that were left out."""
    absent: Binding = {s.name: False if s.is_flag else None for s in form.slots if s.optional}
    return {**absent, **form.defaults, **bound}


def _in_order(
    slots: Sequence[Slot], modifiers: Sequence[str], used: int = 0, trace: _Trace | None = None
) -> Iterator[Binding]:
    """Every way to fit modifiers to slots, both in order."""
    if trace is not None:
        trace.note(used, _next_slots(slots))
    if not slots:
        if used == len(modifiers):
            yield {}
        return
    slot, rest = slots[0], slots[1:]
    if used < len(modifiers) and modifiers[used] in slot.choices:
        for bound in _in_order(rest, modifiers, used + 1, trace):
            yield {slot.name: slot.choices[modifiers[used]], **bound}
    if slot.optional:
        yield from _in_order(rest, modifiers, used, trace)


def _next_slots(slots: Sequence[Slot]) -> list[Slot]:
    """The slots that the next modifier may belong to: up to the first required one."""
    found: list[Slot] = []
    for slot in slots:
        found.append(slot)
        if not slot.optional:
            break
    return found


def _in_any_order(slots: Sequence[Slot], modifiers: Sequence[str]) -> Iterator[Binding]:
    """Every way to fit modifiers to slots in any order, except for those that keep their place."""
    if len(modifiers) > len(slots):
        return
    name = list(itertools.takewhile(lambda s: s.name in OPCODE_SLOTS, slots))
    for count in range(len(name) + 1):
        for bound in _in_order(name, modifiers[:count]):
            for rest in _permuted(slots[len(name) :], modifiers[count:]):
                yield {**bound, **rest}


def _permuted(slots: Sequence[Slot], modifiers: Sequence[str]) -> Iterator[Binding]:
    free = dict(enumerate(slots))

    def place(position: int, last: Mapping[str, int]) -> Iterator[Binding]:
        if position == len(modifiers):
            if all(s.optional for s in free.values()):
                yield {}
            return
        word = modifiers[position]
        group = KEPT.get(word, "")
        for index, slot in [(i, s) for i, s in free.items() if word in s.choices]:
            if index < last.get(group, 0):
                continue
            del free[index]
            for bound in place(position + 1, {**last, group: index} if group else last):
                yield {slot.name: slot.choices[word], **bound}
            free[index] = slot

    yield from place(0, {})


def _takes(form: Form, count: int | None) -> bool:
    low, high = operand_counts(form)
    return count is None or low <= count <= high + bool(form.surplus)


def operand_counts(form: Form) -> tuple[int, int]:
    """Fewest and most operands; `p|q` counts as one."""
    return sum(not o.optional for o in form.operands), len(form.operands)


# ---------------------------------------------------------------- messages


def _modifier_mismatch(opcode: str, modifiers: tuple[str, ...], forms: list[Form]) -> Mismatch:
    """For the form that got furthest: which modifier does not fit, or what is missing."""
    trace = _Trace()
    for form in (*forms, *(f for f in KNOWN.get(opcode, ()) if f.head)):
        for _ in _in_order(form.slots, modifiers, 0, trace):
            pass
    used = ".".join((opcode, *modifiers[: trace.used]))
    expected = _one_of(trace.expected)
    if trace.used == len(modifiers):
        return Mismatch(f"`{used}` needs a further modifier", f"expected {expected}")
    wrong = modifiers[trace.used]
    hint = f"expected {expected}" if trace.expected else "expected no further modifier"
    return Mismatch(f"`{used}` has no modifier `.{wrong}` here", hint, trace.used)


def _count_mismatch(
    opcode: str, modifiers: tuple[str, ...], count: int | None, matches: list[Selection]
) -> Mismatch:
    ranges = [operand_counts(s.form) for s in matches]
    counts = sorted({n for low, high in ranges for n in range(low, high + 1)})
    wanted = " or ".join(map(str, counts))
    noun = "operand" if counts == [1] else "operands"
    spelled = ".".join((opcode, *modifiers))
    syntax = "; ".join(dict.fromkeys(s.form.syntax for s in matches))
    return Mismatch(f"`{spelled}` takes {wanted} {noun}, not {count}", f"expected `{syntax}`")


def _one_of(words: Sequence[str]) -> str:
    shown = " ".join(f".{w}" for w in words)
    return shown if len(words) < 2 else f"one of {shown}"


def _nearest(word: str, known: Sequence[str]) -> str | None:
    import difflib  # only for a message: start-up time

    near = difflib.get_close_matches(word, known, 3, 0.6)
    return "did you mean " + " or ".join(f"`{w}`" for w in near) + "?" if near else None


def _dotted(version: Version) -> str:
    return ".".join(map(str, version))
