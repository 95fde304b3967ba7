"""PTX versions, target architectures and platform options (PTX 1.4 tables 106 and 107, later release notes).

`introduced` is what the release notes say; ptxas 13 agrees, but takes sm_70 from 5.1 and sm_88 from 7.3 on.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from simt.isa.form import Version
from simt.records import dataclass

LAST_MINOR = {1: 5, 2: 3, 3: 2, 4: 3, 5: 1, 6: 5, 7: 8, 8: 8, 9: 0}

VERSIONS: tuple[Version, ...] = tuple(
    (major, n) for major, last in LAST_MINOR.items() for n in range(last + 1)
)
"""Every PTX version, oldest first."""

NEWEST: Version = VERSIONS[-1]

_INTRODUCED: dict[Version, str] = {
    (1, 0): "10 11",
    (1, 2): "12 13",
    (2, 0): "20 21",
    (3, 0): "30",
    (3, 1): "35",
    (4, 0): "32 50",
    (4, 1): "37 52",
    (4, 2): "53",
    (5, 0): "60 61 62",
    (6, 0): "70",
    (6, 1): "72",
    (6, 3): "75",
    (7, 0): "80",
    (7, 1): "86",
    (7, 4): "87",
    (7, 8): "89 90",
    (8, 0): "90a",
    (8, 6): "100 100a 101 101a",
    (8, 7): "120 120a",
    (8, 8): "100f 101f 103 103a 103f 120f 121 121a 121f",
    (9, 0): "88 110 110a 110f",
}

FIRST_VERSION: dict[str, Version] = {
    n: version for version, names in _INTRODUCED.items() for n in names.split()
}
"""The PTX version that introduced a target, by number and suffix (`90a`)."""

OPTIONS: dict[str, Version] = {
    "map_f64_to_f32": (1, 0),
    "texmode_unified": (1, 5),
    "texmode_independent": (1, 5),
    "debug": (3, 0),
}
"""Platform options of `.target` and the version that introduced them."""

FIRST_PROTOTYPES: Version = (2, 0)
"""Before it an indirect call goes to any function with such registers, and an indirect branch to any label of
its function (PTX 1.4 section 6.4.4); since then both say where to."""
FIRST_CALL_PARAMETERS: Version = (2, 0)
"""Before it functions take registers only, and `.param` in a body declares the kernel's parameters."""
FIRST_DOUBLE_TARGET = 13
_NAME = re.compile(r"(?:sm|compute)_(\d+)([af]?)$")


@dataclass(frozen=True, slots=True)
class TargetName:
    """An architecture: `sm_90a` has number 90 and suffix "a". `virtual`: written `compute_...`."""

    number: int
    suffix: str = ""
    virtual: bool = False

    @property
    def introduced(self) -> Version:
        """The PTX version that introduced it."""
        return FIRST_VERSION[f"{self.number}{self.suffix}"]

    def __str__(self) -> str:
        return f"{'compute' if self.virtual else 'sm'}_{self.number}{self.suffix}"


@dataclass(frozen=True, slots=True)
class Platform:
    """What the names of a `.target` directive say together.

    `texmode`: "unified" or "independent", "" if not given.
    """

    target: TargetName
    map_f64_to_f32: bool = False
    debug: bool = False
    texmode: str = ""


def parse_target(name: str) -> TargetName | None:
    """A known architecture by its name, `sm_13`, `compute_90` or `sm_90a`; None for any other."""
    match = _NAME.match(name)
    if match is None or match[1] + match[2] not in FIRST_VERSION:
        return None
    return TargetName(int(match[1]), match[2], name.startswith("compute"))


def parse_platform(names: Sequence[str]) -> Platform | str:
    """The platform that a `.target` directive's names describe, or what is wrong with them."""
    unknown = next((n for n in names if parse_target(n) is None and n not in OPTIONS), None)
    if unknown is not None:
        return f"unknown target `{unknown}`{_suggestion(unknown)}"
    targets = [t for n in names if (t := parse_target(n)) is not None]
    if len(targets) != 1:
        return "a target architecture is missing" if not targets else "more than one target architecture"
    modes = [n.removeprefix("texmode_") for n in names if n.startswith("texmode_")]
    if len(set(modes)) > 1:
        return "`texmode_unified` and `texmode_independent` exclude each other"
    return Platform(targets[0], "map_f64_to_f32" in names, "debug" in names, modes[0] if modes else "")


def _suggestion(name: str) -> str:
    known = [f"sm_{n}" for n in FIRST_VERSION] + list(OPTIONS)
    import difflib  # only for a message: start-up time

    near = difflib.get_close_matches(name, known, 1)
    return f", did you mean `{near[0]}`?" if near else ""


def version_problem(version: Version) -> str | None:
    """Why a version is not one of PTX, or not one known here, or None."""
    if version in VERSIONS:
        return None
    newest = ".".join(map(str, NEWEST))
    if version > NEWEST:  # later versions have taken all that earlier ones had, since 2.0
        return f"PTX version {version[0]}.{version[1]} is newer than {newest} and read as {newest}"
    return f"unknown PTX version {version[0]}.{version[1]}, expected one of 1.0 to {newest}"
