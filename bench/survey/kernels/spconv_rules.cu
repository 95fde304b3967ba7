// A submanifold sparse convolution (3 x 3 x 3): coordinates go into a hash table, pairs of neighbours are listed for each
// offset, features are gathered, multiplied by the offset's weights and added where they belong; then bias and ReLU.
#define EMPTY_KEY 0xffffffffffffffffull
#define IN_CHANNELS 16
#define OUT_CHANNELS 32
#define PAIRS 32

typedef unsigned long long Key;

struct Shape {
    int z, y, x;
};

__device__ __forceinline__ Key linear_key(const Shape &shape, int b, int z, int y, int x) {
    return (((Key)b * shape.z + z) * shape.y + y) * shape.x + x;
}

__device__ __forceinline__ unsigned int murmur(Key key) {
    key ^= key >> 33;
    key *= 0xff51afd7ed558ccdull;
    key ^= key >> 33;
    key *= 0xc4ceb9fe1a85ec53ull;
    key ^= key >> 33;
    return (unsigned int)key;
}

extern "C" __global__ void sp_clear(Key *keys, int *values, unsigned int slots) {
    for (unsigned int i = blockIdx.x * blockDim.x + threadIdx.x; i < slots; i += blockDim.x * gridDim.x) {
        keys[i] = EMPTY_KEY;
        values[i] = -1;
    }
}

extern "C" __global__ void sp_insert(const int4 *__restrict__ coords, Key *keys, int *values, unsigned int slots, int n,
                                     int sz, int sy, int sx) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const int4 c = coords[i];
    const Key key = linear_key({sz, sy, sx}, c.x, c.y, c.z, c.w);
    unsigned int slot = murmur(key) & (slots - 1);
    while (true) {
        const Key old = atomicCAS(keys + slot, EMPTY_KEY, key);
        if (old == EMPTY_KEY || old == key) {
            values[slot] = i;
            return;
        }
        slot = (slot + 1) & (slots - 1);
    }
}

extern "C" __global__ void sp_pairs(const int4 *__restrict__ coords, const Key *__restrict__ keys,
                                    const int *__restrict__ values, int2 *pairs, int *counts, unsigned int slots, int n,
                                    int sz, int sy, int sx) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x, k = blockIdx.y;
    if (i >= n)
        return;
    const int4 c = coords[i];
    const int z = c.y + k / 9 - 1, y = c.z + k / 3 % 3 - 1, x = c.w + k % 3 - 1;
    if (z < 0 || y < 0 || x < 0 || z >= sz || y >= sy || x >= sx)
        return;
    const Key key = linear_key({sz, sy, sx}, c.x, z, y, x);
    unsigned int slot = murmur(key) & (slots - 1);
    for (Key found = keys[slot]; found != EMPTY_KEY; found = keys[slot]) {
        if (found == key) {
            const int place = atomicAdd(counts + k, 1);
            pairs[(size_t)k * n + place] = make_int2(values[slot], i);
            return;
        }
        slot = (slot + 1) & (slots - 1);
    }
}

extern "C" __global__ void sp_gemm(const float *__restrict__ features, const float *__restrict__ weights,
                                   const int2 *__restrict__ pairs, const int *__restrict__ counts, float *out, int n) {
    __shared__ float weight[IN_CHANNELS][OUT_CHANNELS];
    __shared__ float tile[PAIRS][IN_CHANNELS];
    __shared__ int target[PAIRS];
    const int k = blockIdx.y, first = blockIdx.x * PAIRS, count = counts[k];
    if (first >= count)
        return;
    const int t = threadIdx.y * blockDim.x + threadIdx.x;
    for (int i = t; i < IN_CHANNELS * OUT_CHANNELS; i += blockDim.x * blockDim.y)
        weight[i / OUT_CHANNELS][i % OUT_CHANNELS] = weights[k * IN_CHANNELS * OUT_CHANNELS + i];
    for (int i = t; i < PAIRS * IN_CHANNELS; i += blockDim.x * blockDim.y) {
        const int p = i / IN_CHANNELS, c = i % IN_CHANNELS;
        float v = 0.0f;
        if (first + p < count) {
            const int2 pair = pairs[(size_t)k * n + first + p];
            v = features[(size_t)pair.x * IN_CHANNELS + c];
            if (c == 0)
                target[p] = pair.y;
        }
        tile[p][c] = v;
    }
    __syncthreads();
    for (int p = threadIdx.y; p < PAIRS && first + p < count; p += blockDim.y) {
        float sum = 0.0f;
#pragma unroll
        for (int c = 0; c < IN_CHANNELS; c++)
            sum += tile[p][c] * weight[c][threadIdx.x];
        atomicAdd(out + (size_t)target[p] * OUT_CHANNELS + threadIdx.x, sum);
    }
}

extern "C" __global__ void sp_bias_relu(float4 *out, const float4 *__restrict__ bias, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count)
        return;
    float4 v = out[i];
    const float4 b = bias[i % (OUT_CHANNELS / 4)];
    v.x = fmaxf(v.x + b.x, 0.0f);
    v.y = fmaxf(v.y + b.y, 0.0f);
    v.z = fmaxf(v.z + b.z, 0.0f);
    v.w = fmaxf(v.w + b.w, 0.0f);
    out[i] = v;
}
