extern "C" __global__ void mul(const unsigned *a, const unsigned *b, unsigned *c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned x[8], y[8], z[17];
#pragma unroll
    for (int k = 0; k < 8; k++) {
        x[k] = a[k * n + i];
        y[k] = b[k * n + i];
    }
#pragma unroll
    for (int k = 0; k < 17; k++)
        z[k] = 0;
#pragma unroll
    for (int j = 0; j < 8; j++) {
        asm volatile("mad.lo.cc.u32 %0,%9,%10,%0; madc.lo.cc.u32 %1,%9,%11,%1; madc.lo.cc.u32 %2,%9,%12,%2; "
                     "madc.lo.cc.u32 %3,%9,%13,%3; madc.lo.cc.u32 %4,%9,%14,%4; madc.lo.cc.u32 %5,%9,%15,%5; "
                     "madc.lo.cc.u32 %6,%9,%16,%6; madc.lo.cc.u32 %7,%9,%17,%7; addc.u32 %8,%8,0;"
                     : "+r"(z[j]), "+r"(z[j + 1]), "+r"(z[j + 2]), "+r"(z[j + 3]), "+r"(z[j + 4]),
                       "+r"(z[j + 5]), "+r"(z[j + 6]), "+r"(z[j + 7]), "+r"(z[j + 8])
                     : "r"(x[j]), "r"(y[0]), "r"(y[1]), "r"(y[2]), "r"(y[3]), "r"(y[4]), "r"(y[5]), "r"(y[6]),
                       "r"(y[7]));
        asm volatile("mad.hi.cc.u32 %0,%8,%9,%0; madc.hi.cc.u32 %1,%8,%10,%1; madc.hi.cc.u32 %2,%8,%11,%2; "
                     "madc.hi.cc.u32 %3,%8,%12,%3; madc.hi.cc.u32 %4,%8,%13,%4; madc.hi.cc.u32 %5,%8,%14,%5; "
                     "madc.hi.cc.u32 %6,%8,%15,%6; madc.hi.u32 %7,%8,%16,%7;"
                     : "+r"(z[j + 1]), "+r"(z[j + 2]), "+r"(z[j + 3]), "+r"(z[j + 4]), "+r"(z[j + 5]),
                       "+r"(z[j + 6]), "+r"(z[j + 7]), "+r"(z[j + 8])
                     : "r"(x[j]), "r"(y[0]), "r"(y[1]), "r"(y[2]), "r"(y[3]), "r"(y[4]), "r"(y[5]), "r"(y[6]),
                       "r"(y[7]));
    }
#pragma unroll
    for (int k = 0; k < 16; k++)
        c[k * n + i] = z[k];
}
