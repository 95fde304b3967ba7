// Complex transforms of 256 points by Stockham with four in a step: a CTA of 64 threads for each, in shared memory.
#define N 256

__device__ __forceinline__ float2 add(float2 a, float2 b) {
    return make_float2(a.x + b.x, a.y + b.y);
}

__device__ __forceinline__ float2 sub(float2 a, float2 b) {
    return make_float2(a.x - b.x, a.y - b.y);
}

__device__ __forceinline__ float2 mul(float2 a, float2 b) {
    return make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}

extern "C" __global__ void fft_stock(const float2 *__restrict__ in, float2 *__restrict__ out, float direction) {
    __shared__ float2 buffer[2][N];
    int t = threadIdx.x;
    in += (size_t)blockIdx.x * N;
    out += (size_t)blockIdx.x * N;

    float2 v[4];
    for (int r = 0; r < 4; r++)
        v[r] = in[t + r * (N / 4)];

    int side = 0;
    for (int s = 1; s < N; s *= 4) {
        int k = t & (s - 1);
        float angle = direction * 6.283185307f * k / (4 * s);
        for (int r = 1; r < 4; r++) {
            float2 w;
            sincosf(r * angle, &w.y, &w.x);
            v[r] = mul(v[r], w);
        }
        float2 a = add(v[0], v[2]), b = sub(v[0], v[2]);
        float2 c = add(v[1], v[3]), d = sub(v[1], v[3]);
        d = make_float2(-direction * d.y, direction * d.x);
        int to = (t - k) * 4 + k;
        float2 *target = s * 4 == N ? out : buffer[side];
        target[to] = add(a, c);
        target[to + s] = add(b, d);
        target[to + 2 * s] = sub(a, c);
        target[to + 3 * s] = sub(b, d);
        if (s * 4 < N) {
            __syncthreads();
            for (int r = 0; r < 4; r++)
                v[r] = buffer[side][t + r * (N / 4)];
            side ^= 1;
        }
    }
}
