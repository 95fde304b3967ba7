// Small linear programs (at most so much of each resource, the greatest profit) by the simplex method on a tableau in
// shared memory: a block of 96 threads for each; the first warp picks columns and rows.
enum Outcome { OPTIMAL, UNBOUNDED, TOO_LONG };

struct Sizes {
    int rows, columns;  // resources, products
    int most;           // steps
    double epsilon;
};

struct Choice {
    double value;
    int index;
    __device__ Choice better(const Choice &o) const {
        return o.value < value || (o.value == value && o.index < index) ? o : *this;
    }
};

__device__ Choice warp_least(Choice c) {
    for (int offset = 16; offset > 0; offset >>= 1) {
        Choice o;
        o.value = __shfl_xor_sync(0xffffffff, c.value, offset);
        o.index = __shfl_xor_sync(0xffffffff, c.index, offset);
        c = c.better(o);
    }
    return c;
}

extern "C" __global__ void lp_batch(const float *__restrict__ uses, const float *__restrict__ stocks,
                                    const float *__restrict__ profits, double *__restrict__ amounts,
                                    double *__restrict__ best, int2 *__restrict__ outcome, Sizes size) {
    extern __shared__ char memory[];
    const int m = size.rows, n = size.columns, width = n + m + 1;
    double *tableau = (double *)memory;
    double *column = tableau + (m + 1) * width;
    short *basis = (short *)(column + m + 1);
    __shared__ int entering, leaving;

    const int id = blockIdx.x, tid = threadIdx.x, lane = tid & 31;
    for (int k = tid; k < (m + 1) * width; k += blockDim.x) {
        int i = k / width, j = k % width;
        double v;
        if (j < n)
            v = i < m ? uses[((size_t)id * m + i) * n + j] : -profits[id * n + j];
        else if (j < n + m)
            v = i == j - n;
        else
            v = i < m ? stocks[id * m + i] : 0.0;
        tableau[k] = v;
    }
    for (int i = tid; i < m; i += blockDim.x)
        basis[i] = n + i;
    __syncthreads();

    Outcome end = TOO_LONG;
    int steps = 0;
    while (steps < size.most) {
        if (tid < 32) {
            Choice c = {-size.epsilon, 0x7fffffff};
            for (int j = lane; j < n + m; j += 32)
                c = c.better(Choice{tableau[m * width + j], j});
            c = warp_least(c);
            int e = c.index == 0x7fffffff ? -1 : c.index, l = -1;
            if (e >= 0) {
                Choice r = {1e300, 0x7fffffff};
                for (int i = lane; i < m; i += 32) {
                    double a = tableau[i * width + e];
                    if (a > size.epsilon)
                        r = r.better(Choice{tableau[i * width + width - 1] / a, i});
                }
                r = warp_least(r);
                l = r.index == 0x7fffffff ? -1 : r.index;
            }
            if (lane == 0) {
                entering = e;
                leaving = l;
            }
        }
        __syncthreads();
        const int e = entering, l = leaving;
        if (e < 0) {
            end = OPTIMAL;
            break;
        }
        if (l < 0) {
            end = UNBOUNDED;
            break;
        }
        for (int i = tid; i <= m; i += blockDim.x)
            column[i] = tableau[i * width + e];
        __syncthreads();
        double pivot = column[l];
        for (int j = tid; j < width; j += blockDim.x)
            tableau[l * width + j] /= pivot;
        if (tid == 0)
            basis[l] = e;
        __syncthreads();
        for (int k = tid; k < (m + 1) * width; k += blockDim.x) {
            int i = k / width, j = k - i * width;
            if (i != l)
                tableau[k] -= column[i] * tableau[l * width + j];
        }
        __syncthreads();
        steps++;
    }
    for (int j = tid; j < n; j += blockDim.x)
        amounts[id * n + j] = 0.0;
    __syncthreads();
    for (int i = tid; i < m; i += blockDim.x)
        if (basis[i] < n)
            amounts[id * n + basis[i]] = tableau[i * width + width - 1];
    if (tid == 0) {
        best[id] = tableau[m * width + width - 1];
        outcome[id] = make_int2(end, steps);
    }
}
