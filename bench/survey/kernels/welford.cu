// Mean and sum of squares about it, of so many numbers.
struct Moments {
    float mean, squares, count;
};

__device__ void take(Moments &m, float v) {
    float apart = v - m.mean;
    m.count += 1.0f;
    m.mean += apart / m.count;
    m.squares += apart * (v - m.mean);
}

__device__ Moments both(Moments a, Moments b) {
    float count = a.count + b.count;
    if (count == 0.0f)
        return a;
    float apart = b.mean - a.mean, share = b.count / count;
    return {a.mean + apart * share, a.squares + b.squares + apart * apart * a.count * share, count};
}

// Rows brought to mean 0 and variance 1, by Welford's method: a CTA of 32 x 4 threads for each, four numbers at once.
extern "C" __global__ void welford(const float4 *x, const float4 *factor, const float4 *summand, float4 *y, float2 *kept,
                                   int fours, float little) {
    __shared__ Moments part[4];
    const int threads = blockDim.x * blockDim.y, first = threadIdx.y * blockDim.x + threadIdx.x;
    const float4 *row = x + blockIdx.x * fours;
    Moments m = {0.0f, 0.0f, 0.0f};
    for (int i = first; i < fours; i += threads) {
        float4 v = row[i];
        take(m, v.x);
        take(m, v.y);
        take(m, v.z);
        take(m, v.w);
    }
#pragma unroll
    for (int d = 16; d > 0; d /= 2) {
        Moments other = {__shfl_down_sync(0xffffffff, m.mean, d), __shfl_down_sync(0xffffffff, m.squares, d),
                         __shfl_down_sync(0xffffffff, m.count, d)};
        m = both(m, other);
    }
    if (threadIdx.x == 0)
        part[threadIdx.y] = m;
    __syncthreads();
    m = both(both(part[0], part[1]), both(part[2], part[3]));
    const float scale = rsqrtf(m.squares / m.count + little);
    for (int i = first; i < fours; i += threads) {
        float4 v = row[i], f = factor[i], s = summand[i];
        y[blockIdx.x * fours + i] =
            make_float4((v.x - m.mean) * scale * f.x + s.x, (v.y - m.mean) * scale * f.y + s.y,
                        (v.z - m.mean) * scale * f.z + s.z, (v.w - m.mean) * scale * f.w + s.w);
    }
    if (first == 0)
        kept[blockIdx.x] = make_float2(m.mean, scale);
}
