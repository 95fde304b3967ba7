"""The branch synchronisation stack of one warp: what it holds while the warp runs.

Where lanes part, the mask of those that were together is pushed; where others of them run, the mask is
complemented; where all of them are together again, it is popped. Loops and calls have entries too: lanes that
leave a loop, or return, wait for the others of its entry. A lane that exits is taken off all entries.

Which lanes run next is decided by the schedule (`simt.analysis.schedule`). That differs from a stack in two
ways: some lanes of an entry may meet before all of them do (a *join*); and while a loop waits for other
threads, or after a barrier that not all lanes came to at once, lanes run that the top entry is not for (a
*switch*).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from simt.analysis.schedule import Loop


@dataclass(frozen=True, slots=True)
class Operation:
    """What happens to the stack. `name`: push, complement, pop, join or switch. `mask`: the lanes pushed or
    restored, else those that run from now on. `depth`: entries on the stack afterwards. `line`: of the
    instruction that the top entry is for, 0 if there is none."""

    name: str
    mask: int
    depth: int
    line: int


@dataclass(slots=True)
class Entry:
    """`kind`: branch, loop or call. `mask`: lanes that are to be together again. `level`: calls around the
    code that the entry is for. `inside`: of a loop, lanes that have not left it."""

    kind: str
    mask: int
    level: int
    line: int
    loop: Loop | None = None
    inside: int = 0

    def lose(self, mask: int) -> None:
        """Lanes that are not to be waited for any more."""
        self.mask &= ~mask
        self.inside &= ~mask


@dataclass(slots=True)
class BranchStack:
    """`active`: the lanes that ran last, None after they parted."""

    entries: list[Entry] = field(default_factory=list[Entry])
    active: int | None = None
    _guarded: dict[int, int] = field(default_factory=dict[int, int])

    def enter(
        self, level: int, slot: int, line: int, loops: Sequence[tuple[Loop, int]], mask: int
    ) -> list[Operation]:
        """A block begins, or goes on after a call. `loops`: those around it from the outermost, each with the
        slot of its latch."""
        found = self._pops(level, mask)
        self._leave_unfinished(level)
        found += self._loops(level, line, loops, mask)
        if level in self._guarded:
            self.active = None
            if self._guarded[level] == slot:
                del self._guarded[level]
        if self.active is not None and self.active != mask:
            found.append(self._changed(mask))
        self.active = mask
        return found

    def _pops(self, level: int, mask: int) -> list[Operation]:
        found: list[Operation] = []
        while self.entries and _is_over(self.entries[-1], level, mask):
            entry = self.entries.pop()
            if entry.mask:
                self.active = entry.mask
            found.append(Operation("pop", entry.mask, len(self.entries), entry.line))
        return found

    def _leave_unfinished(self, level: int) -> None:
        """Lanes that left a loop by different ways are still apart: as after a branch."""
        for entry in reversed(self.entries):
            if entry.kind != "loop" or entry.level != level or entry.inside:
                return
            entry.kind, entry.loop = "branch", None
            self.active = None

    def _loops(self, level: int, line: int, loops: Sequence[tuple[Loop, int]], mask: int) -> list[Operation]:
        """Entries for loops that the lanes have come into."""
        found: list[Operation] = []
        known = {id(e.loop): e for e in self.entries if e.level == level and e.loop is not None}
        for loop, _ in loops:
            if id(loop) in known:
                known[id(loop)].mask |= mask
                known[id(loop)].inside |= mask
                continue
            found.append(self._push(Entry("loop", mask, level, line, loop, mask)))
        return found

    def _changed(self, mask: int) -> Operation:
        """Other lanes run than before, and neither did those part nor were all of an entry met."""
        before = self.active or 0
        top = self.entries[-1] if self.entries else Entry("", 0, 0, 0)
        allowed = top.inside if top.kind == "loop" else top.mask
        complement = not mask & (before | ~allowed)
        name = "complement" if complement else "switch" if before & ~mask else "join"
        return Operation(name, mask, len(self.entries), top.line)

    def part(
        self, level: int, line: int, loops: Sequence[tuple[Loop, int]], ways: Sequence[tuple[int, int]]
    ) -> list[Operation]:
        """The running lanes take a branch. `ways`: slots with the lanes that go there. Those that leave a
        loop wait for the others of its entry."""
        inside: dict[int, int] = {}
        for slot, mask in ways:
            left = [loop for loop, latch in loops if slot > latch]
            if left:
                self._retire(level, left[0], mask)
            else:
                inside[slot] = inside.get(slot, 0) | mask
        together = sum(inside.values())
        if len(inside) > 1:
            self.active = None
            return [self._push(Entry("branch", together, level, line))]
        if len(ways) > 1:
            self.active = together or None
        return []

    def guard(self, level: int, after: int) -> None:
        """A guarded instruction that only some lanes execute; all go on at a slot."""
        self._guarded[level] = after

    def call(self, level: int, line: int, mask: int) -> list[Operation]:
        self.active = None
        return [self._push(Entry("call", mask, level + 1, line))]

    def back(self, level: int, mask: int) -> None:
        """Lanes return: they wait for the others of the call."""
        for entry in self.entries:
            if entry.level == level and entry.kind != "call":
                entry.lose(mask)

    def gone(self, mask: int) -> None:
        """Lanes exit."""
        for entry in self.entries:
            entry.lose(mask)

    def finish(self) -> list[Operation]:
        """The warp has ended: what is left on the stack goes."""
        found: list[Operation] = []
        while self.entries:
            entry = self.entries.pop()
            found.append(Operation("pop", entry.mask, len(self.entries), entry.line))
        return found

    def _push(self, entry: Entry) -> Operation:
        self.entries.append(entry)
        return Operation("push", entry.mask, len(self.entries), entry.line)

    def _retire(self, level: int, loop: Loop, mask: int) -> None:
        """Lanes leave a loop: entries made inside it do not wait for them."""
        places = [i for i, e in enumerate(self.entries) if e.level == level and e.loop is loop]
        if not places:
            return
        self.entries[places[-1]].inside &= ~mask
        for entry in self.entries[places[-1] + 1 :]:
            entry.lose(mask)


def _is_over(entry: Entry, level: int, mask: int) -> bool:
    """Whether all lanes of an entry are together again, or none is left."""
    if entry.level != level:
        return entry.level > level
    if not entry.mask:
        return True
    return entry.kind != "call" and not entry.inside and not entry.mask & ~mask
