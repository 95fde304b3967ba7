// How likely reads come from haplotypes, by a pair hidden Markov model: a warp a pair, whose lanes hold 32 rows (bases
// of the read) and go along the haplotype one column behind each other; the last row of a strip waits in shared memory
// for the next. First in single precision; what gets too small is listed and done again in double precision.
#define WARPS 4

struct Step {
    float mm, gap_m, mi, ii, md, dd;  // match, from a gap, into and within insertions, deletions
    float error;
};

template <typename T> struct Cell {
    T m, i, d;
};

template <typename T> __device__ inline Cell<T> from_above(const Cell<T> &c) {
    Cell<T> up;
    up.m = __shfl_up_sync(0xffffffffu, c.m, 1);
    up.i = __shfl_up_sync(0xffffffffu, c.i, 1);
    up.d = __shfl_up_sync(0xffffffffu, c.d, 1);
    return up;
}

template <typename T>
__device__ T forward(const char *__restrict__ read, const Step *__restrict__ steps, int rows,
                     const char *__restrict__ haplotype, int columns, Cell<T> *border, T initial) {
    const int lane = threadIdx.x & 31;
    T total = 0;
    for (int j = lane; j <= columns; j += 32)
        border[j] = {T(0), T(0), initial / columns};
    __syncwarp();
    for (int strip = 0; strip < rows; strip += 32) {
        const int row = strip + lane;
        const bool real = row < rows, last = row == rows - 1;
        Step s = {};
        char base = 0;
        if (real) {
            s = steps[row];
            base = read[row];
        }
        const T right = T(1) - T(s.error), wrong = T(s.error) / T(3);
        Cell<T> current = {}, up_before = {};  // column 0
        if (lane == 0)
            up_before = border[0];
        for (int step = 1; step < columns + 32; step++) {
            const int j = step - lane;
            Cell<T> up = from_above(current);
            if (lane == 0 && j <= columns)
                up = border[j];
            if (j >= 1 && j <= columns) {
                const char other = haplotype[j - 1];
                const T prior = base == other || base == 'N' || other == 'N' ? right : wrong;
                Cell<T> next;
                next.m = prior * (up_before.m * T(s.mm) + (up_before.i + up_before.d) * T(s.gap_m));
                next.i = up.m * T(s.mi) + up.i * T(s.ii);
                next.d = current.m * T(s.md) + current.d * T(s.dd);
                current = next;
                if (last)
                    total += next.m + next.i;
                if (lane == 31)
                    border[j] = next;
            }
            if (j >= 0)
                up_before = up;
            __syncwarp();
        }
        if (lane == 31)
            border[0] = {T(0), T(0), T(0)};
        __syncwarp();
    }
    return __shfl_sync(0xffffffffu, total, (rows - 1) & 31);
}

extern "C" __global__ void pairhmm_float(const char *__restrict__ reads, const Step *__restrict__ steps,
                                         const int *__restrict__ read_start, const char *__restrict__ haplotypes,
                                         const int *__restrict__ hap_start, float *__restrict__ likelihood, int *redo,
                                         int *redo_count, int n_reads, int n_haps, int longest) {
    extern __shared__ double2 room[];
    const int warp = threadIdx.x >> 5;
    const int pair = blockIdx.x * WARPS + warp;
    if (pair >= n_reads * n_haps)
        return;
    const int r = pair / n_haps, h = pair % n_haps;
    Cell<float> *border = reinterpret_cast<Cell<float> *>(room) + warp * (longest + 1);
    const float initial = 1.329228e36f;  // 2^120
    const float total = forward<float>(reads + read_start[r], steps + read_start[r], read_start[r + 1] - read_start[r],
                                       haplotypes + hap_start[h], hap_start[h + 1] - hap_start[h], border, initial);
    if ((threadIdx.x & 31) == 0) {
        if (total < 1e-28f)
            redo[atomicAdd(redo_count, 1)] = pair;
        else
            likelihood[pair] = log10f(total) - log10f(initial);
    }
}

extern "C" __global__ void pairhmm_double(const char *__restrict__ reads, const Step *__restrict__ steps,
                                          const int *__restrict__ read_start, const char *__restrict__ haplotypes,
                                          const int *__restrict__ hap_start, float *__restrict__ likelihood,
                                          const int *__restrict__ redo, const int *__restrict__ redo_count, int n_haps,
                                          int longest) {
    extern __shared__ double2 room[];
    const int warp = threadIdx.x >> 5;
    Cell<double> *border = reinterpret_cast<Cell<double> *>(room) + warp * (longest + 1);
    const int count = *redo_count;
    for (int t = blockIdx.x * WARPS + warp; t < count; t += gridDim.x * WARPS) {
        const int pair = redo[t], r = pair / n_haps, h = pair % n_haps;
        const double initial = 1e300;
        const double total =
            forward<double>(reads + read_start[r], steps + read_start[r], read_start[r + 1] - read_start[r],
                            haplotypes + hap_start[h], hap_start[h + 1] - hap_start[h], border, initial);
        if ((threadIdx.x & 31) == 0)
            likelihood[pair] = (float)(log10(total) - 300.0);
    }
}
