// Inline assembly with scopes, labels, several instructions on a line, special registers.
__global__ void inline_assembly(unsigned *out, unsigned long long *t) {
    unsigned a = out[0], b = out[1], c, d;
    asm volatile("{ .reg .pred p; .reg .u32 t1, t2;\n\t setp.lt.u32 p, %1, %2; @p add.u32 t1, %1, 1; @!p mov.u32 t1, 0x7F;"
                 " mov.u32 t2, %%laneid; add.cc.u32 %0, t1, t2; }" : "=r"(c) : "r"(a), "r"(b));
    asm("add.cc.u32 %0, %2, %3; addc.u32 %1, %2, 0;" : "=r"(c), "=r"(d) : "r"(a), "r"(b));
    asm("lop3.b32 %0, %1, %2, %3, 0x96;" : "=r"(c) : "r"(a), "r"(b), "r"(d));
    asm("vadd.u32.u32.u32 %0, %1.b0, %2.h1;" : "=r"(d) : "r"(c), "r"(b));
    asm volatile("{ .reg .u32 i; mov.u32 i, 0; again%=: add.u32 i, i, 1; .reg .pred q; setp.lt.u32 q, i, %0; @q bra again%=; }" :: "r"(b));
    asm volatile("prefetch.global.L2 [%0]; membar.gl; // a comment\n\t/* another */ nanosleep.u32 20;" :: "l"(out));
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t[1]));
    t[0] = clock64();
    out[threadIdx.x] = c + d;
}
