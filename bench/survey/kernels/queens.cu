// Queens on a board, three of them placed: each thread counts what is left, with a stack of its own.
extern "C" __global__ void queens(const uint4 *__restrict__ starts, int *__restrict__ counts, int n, int rows,
                                  unsigned full) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned cols[16], left[16], right[16], open[16];
    uint4 s = starts[i];
    int depth = 0, count = 0;
    cols[0] = s.x, left[0] = s.y, right[0] = s.z;
    open[0] = full & ~(s.x | s.y | s.z);
    while (depth >= 0) {
        unsigned o = open[depth];
        if (o == 0) {
            depth--;
            continue;
        }
        unsigned bit = o & -o;
        open[depth] = o ^ bit;
        if (depth == rows - 1) {
            count++;
            continue;
        }
        unsigned c = cols[depth] | bit, l = (left[depth] | bit) << 1, r = (right[depth] | bit) >> 1;
        depth++;
        cols[depth] = c, left[depth] = l, right[depth] = r;
        open[depth] = full & ~(c | l | r);
    }
    counts[i] = count;
}
