// Adam whose two moments are bytes: blocks of 2048 numbers have a scale each, a byte is a place in a sorted table of
// 256 numbers. 256 threads have eight neighbours each; the nearest entry is found by halving.
constexpr int BLOCK_SIZE = 2048, PER_TH = 8, THREADS = BLOCK_SIZE / PER_TH;

template <int SIGNED>
__device__ unsigned char quantize(const float *__restrict__ quadrants, const float *smem, float x) {
    int pivot = 127, upper_pivot = 255, lower_pivot = 0;
    float lower = SIGNED ? -1.0f : 0.0f, upper = 1.0f;
    float midpoint, val = quadrants[1];
    int local_pivot = 1, offset = 1;
    for (int i = 64; i > 0; i >>= 1) {
        if (x > val) {
            lower_pivot = pivot;
            lower = val;
            pivot += i;
            local_pivot += offset;
        } else {
            upper_pivot = pivot;
            upper = val;
            pivot -= i;
            local_pivot -= offset;
        }
        val = i >= 64 ? quadrants[local_pivot] : smem[pivot];
        offset -= 1;
    }
    if (x > val) {
        midpoint = (upper + val) * 0.5f;
        return x > midpoint ? upper_pivot : pivot;
    }
    midpoint = (lower + val) * 0.5f;
    return x < midpoint ? lower_pivot : pivot;
}

__device__ __forceinline__ float block_max(float v, float *shared) {
#pragma unroll
    for (int o = 16; o > 0; o >>= 1)
        v = fmaxf(v, __shfl_xor_sync(0xffffffffu, v, o));
    if (threadIdx.x % 32 == 0)
        shared[threadIdx.x / 32] = v;
    __syncthreads();
    v = shared[threadIdx.x % (THREADS / 32)];
#pragma unroll
    for (int o = THREADS / 64; o > 0; o >>= 1)
        v = fmaxf(v, __shfl_xor_sync(0xffffffffu, v, o));
    return v;
}

extern "C" __global__ void __launch_bounds__(THREADS)
    adam8(float *p, const float *__restrict__ g, unsigned char *state1, unsigned char *state2, float *absmax1,
          float *absmax2, const float *__restrict__ quantiles1, const float *__restrict__ quantiles2, float beta1,
          float beta2, float eps, float step_size, float correction2, float weight_decay, float lr, int n) {
    __shared__ float smem1[256], smem2[256], max1[THREADS / 32], max2[THREADS / 32];
    if (threadIdx.x < 256) {
        smem1[threadIdx.x] = quantiles1[threadIdx.x];
        smem2[threadIdx.x] = quantiles2[threadIdx.x];
    }
    __syncthreads();
    float quadrants1[3], quadrants2[3];
#pragma unroll
    for (int k = 0; k < 3; k++) {
        quadrants1[k] = smem1[k * 64 + 63];
        quadrants2[k] = smem2[k * 64 + 63];
    }
    for (int i = blockIdx.x * BLOCK_SIZE; i < n; i += gridDim.x * BLOCK_SIZE) {
        int first = i + threadIdx.x * PER_TH, valid = min(PER_TH, n - first);
        float s1[PER_TH], s2[PER_TH];
        alignas(16) float g_vals[PER_TH], p_vals[PER_TH];
        alignas(16) unsigned char c1[PER_TH], c2[PER_TH];
        if (valid == PER_TH) {
            *reinterpret_cast<float4 *>(&g_vals[0]) = *reinterpret_cast<const float4 *>(&g[first]);
            *reinterpret_cast<float4 *>(&g_vals[4]) = *reinterpret_cast<const float4 *>(&g[first + 4]);
            *reinterpret_cast<float4 *>(&p_vals[0]) = *reinterpret_cast<const float4 *>(&p[first]);
            *reinterpret_cast<float4 *>(&p_vals[4]) = *reinterpret_cast<const float4 *>(&p[first + 4]);
            *reinterpret_cast<uint2 *>(c1) = *reinterpret_cast<const uint2 *>(&state1[first]);
            *reinterpret_cast<uint2 *>(c2) = *reinterpret_cast<const uint2 *>(&state2[first]);
        } else {
#pragma unroll
            for (int j = 0; j < PER_TH; j++) {
                g_vals[j] = j < valid ? g[first + j] : 0.0f;
                p_vals[j] = j < valid ? p[first + j] : 0.0f;
                c1[j] = j < valid ? state1[first + j] : 128;
                c2[j] = j < valid ? state2[first + j] : 0;
            }
        }
        float scale1 = absmax1[i / BLOCK_SIZE], scale2 = absmax2[i / BLOCK_SIZE];
        float new1 = 0.0f, new2 = 0.0f;
#pragma unroll
        for (int j = 0; j < PER_TH; j++) {
            float v = j < valid ? g_vals[j] : 0.0f;
            s1[j] = smem1[c1[j]] * scale1 * beta1 + (1.0f - beta1) * v;
            s2[j] = smem2[c2[j]] * scale2 * beta2 + (1.0f - beta2) * v * v;
            if (j < valid) {
                new1 = fmaxf(new1, fabsf(s1[j]));
                new2 = fmaxf(new2, fabsf(s2[j]));
            }
        }
        new1 = block_max(new1, max1);
        new2 = block_max(new2, max2);
        if (threadIdx.x == 0) {
            absmax1[i / BLOCK_SIZE] = new1;
            absmax2[i / BLOCK_SIZE] = new2;
        }
#pragma unroll
        for (int j = 0; j < PER_TH; j++) {
            p_vals[j] = p_vals[j] + step_size * (s1[j] / (sqrtf(s2[j]) + correction2 * eps));
            if (weight_decay > 0.0f)
                p_vals[j] = p_vals[j] * (1.0f - lr * weight_decay);
        }
#pragma unroll
        for (int j = 0; j < PER_TH; j++) {
            c1[j] = quantize<1>(quadrants1, smem1, __fdividef(s1[j], new1));
            c2[j] = quantize<0>(quadrants2, smem2, __fdividef(s2[j], new2));
            if (signbit(smem1[c1[j]]) != signbit(s1[j])) {
                if (s1[j] > 0.0f)
                    c1[j] += 1;
                else
                    c1[j] -= 1;
            }
        }
        if (valid == PER_TH) {
            *reinterpret_cast<float4 *>(&p[first]) = *reinterpret_cast<float4 *>(&p_vals[0]);
            *reinterpret_cast<float4 *>(&p[first + 4]) = *reinterpret_cast<float4 *>(&p_vals[4]);
            *reinterpret_cast<uint2 *>(&state1[first]) = *reinterpret_cast<uint2 *>(c1);
            *reinterpret_cast<uint2 *>(&state2[first]) = *reinterpret_cast<uint2 *>(c2);
        } else {
            for (int j = 0; j < valid; j++) {
                p[first + j] = p_vals[j];
                state1[first + j] = c1[j];
                state2[first + j] = c2[j];
            }
        }
        __syncthreads();
    }
}
