"""What LLVM is told of accesses: the program never gets at the memory that a worker's own code writes.

So what the program loads at the same address in every warp of a CTA can be loaded once, before the loop over
the warps, though each of them notes its number in the worker's block.
"""

OF_WORKER = ", !alias.scope !10"
"""Of a store to the worker's own memory, and of prefetches, which change nothing."""
OF_PROGRAM = ", !noalias !10"
"""Of a load of the program's."""
ROLLED = ", !llvm.loop !11"
"""Of the branch back of a loop that is to stay one turn at a time."""
METADATA = (
    '!8 = distinct !{!8, !"simt"}',
    "!9 = distinct !{!9, !8}",
    "!10 = !{!9}",
    '!11 = distinct !{!11, !{!"llvm.loop.unroll.disable"}}',
)
"""At the end of a module."""
