"""Compiles the programs here by the NVPTX backend of LLVM, the one in llvmlite.

    python -m tests.programs.llvm.build

The results are committed: `NAME.TARGET.ptx`.
"""

from __future__ import annotations

from pathlib import Path

import llvmlite.binding as llvm

BUILDS = {"sm_20": 0, "sm_35": 2, "sm_90": 3}
"""Targets, and how much each is optimised."""


def build(source: Path, target: str, level: int) -> str:
    module = llvm.parse_assembly(source.read_text())
    module.verify()
    machine = llvm.Target.from_triple(module.triple).create_target_machine(cpu=target, opt=level)
    return machine.emit_assembly(module)


def main() -> None:
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    for source in sorted(Path(__file__).parent.glob("*.ll")):
        for target, level in BUILDS.items():
            source.with_suffix(f".{target}.ptx").write_text(build(source, target, level))


if __name__ == "__main__":
    main()
