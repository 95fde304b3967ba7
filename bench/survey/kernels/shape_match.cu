// Shape matching for soft bodies: a block a cluster, its best rotation from the last one, goals added by atomics.
#define THREADS 64

struct Quat {
    float x, y, z, w;
};

__device__ __forceinline__ Quat operator*(Quat a, Quat b) {
    return {a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y, a.w * b.y + a.y * b.w + a.z * b.x - a.x * b.z,
            a.w * b.z + a.z * b.w + a.x * b.y - a.y * b.x, a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z};
}

__device__ void matrix_of(Quat q, float3 c[3]) { // columns
    c[0] = make_float3(1 - 2 * (q.y * q.y + q.z * q.z), 2 * (q.x * q.y + q.w * q.z), 2 * (q.x * q.z - q.w * q.y));
    c[1] = make_float3(2 * (q.x * q.y - q.w * q.z), 1 - 2 * (q.x * q.x + q.z * q.z), 2 * (q.y * q.z + q.w * q.x));
    c[2] = make_float3(2 * (q.x * q.z + q.w * q.y), 2 * (q.y * q.z - q.w * q.x), 1 - 2 * (q.x * q.x + q.y * q.y));
}

__device__ __forceinline__ float3 crossed(float3 a, float3 b) {
    return make_float3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}
__device__ __forceinline__ float dot(float3 a, float3 b) {
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

template <int N> __device__ void block_sum(float (&v)[N]) {
    __shared__ float part[2][N];
    __syncthreads();
#pragma unroll
    for (int k = 0; k < N; k++) {
        for (int d = 16; d > 0; d /= 2)
            v[k] += __shfl_xor_sync(0xffffffffu, v[k], d);
        if (threadIdx.x % 32 == 0)
            part[threadIdx.x / 32][k] = v[k];
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < N; k++)
        v[k] = part[0][k] + part[1][k];
}

extern "C" __global__ void __launch_bounds__(THREADS)
    shape_match(const int *__restrict__ start, const int *__restrict__ member, const float3 *__restrict__ rest,
                const float4 *__restrict__ particle, Quat *__restrict__ rotation, float *goal, int rounds) {
    const int first = start[blockIdx.x], last = start[blockIdx.x + 1];
    float sums[4] = {0, 0, 0, 0};
    for (int i = first + threadIdx.x; i < last; i += THREADS) {
        float4 p = particle[member[i]];
        sums[0] += p.w * p.x;
        sums[1] += p.w * p.y;
        sums[2] += p.w * p.z;
        sums[3] += p.w;
    }
    block_sum(sums);
    const float3 centre = make_float3(sums[0] / sums[3], sums[1] / sums[3], sums[2] / sums[3]);
    float a[9] = {0};
    for (int i = first + threadIdx.x; i < last; i += THREADS) {
        float4 p = particle[member[i]];
        float3 q = rest[i];
        float x = p.w * (p.x - centre.x), y = p.w * (p.y - centre.y), z = p.w * (p.z - centre.z);
        a[0] += x * q.x, a[1] += y * q.x, a[2] += z * q.x;
        a[3] += x * q.y, a[4] += y * q.y, a[5] += z * q.y;
        a[6] += x * q.z, a[7] += y * q.z, a[8] += z * q.z;
    }
    block_sum(a);

    __shared__ Quat shared_q;
    if (threadIdx.x == 0) {
        Quat q = rotation[blockIdx.x];
        for (int it = 0; it < rounds; it++) {
            float3 r[3], omega = make_float3(0, 0, 0);
            matrix_of(q, r);
            float scale = 0;
            for (int k = 0; k < 3; k++) {
                float3 col = make_float3(a[3 * k], a[3 * k + 1], a[3 * k + 2]), c = crossed(r[k], col);
                omega.x += c.x, omega.y += c.y, omega.z += c.z;
                scale += dot(r[k], col);
            }
            float by = 1.0f / (fabsf(scale) + 1e-9f);
            omega.x *= by, omega.y *= by, omega.z *= by;
            float angle = sqrtf(dot(omega, omega));
            if (angle < 1e-6f)
                break;
            float s = sinf(0.5f * angle) / angle;
            q = Quat{s * omega.x, s * omega.y, s * omega.z, cosf(0.5f * angle)} * q;
            float norm = rsqrtf(q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w);
            q = {q.x * norm, q.y * norm, q.z * norm, q.w * norm};
        }
        shared_q = q;
        rotation[blockIdx.x] = q;
    }
    __syncthreads();
    float3 r[3];
    matrix_of(shared_q, r);
    for (int i = first + threadIdx.x; i < last; i += THREADS) {
        float3 q = rest[i];
        float *g = goal + 4 * member[i];
        atomicAdd(g, centre.x + r[0].x * q.x + r[1].x * q.y + r[2].x * q.z);
        atomicAdd(g + 1, centre.y + r[0].y * q.x + r[1].y * q.y + r[2].y * q.z);
        atomicAdd(g + 2, centre.z + r[0].z * q.x + r[1].z * q.y + r[2].z * q.z);
        atomicAdd(g + 3, 1.0f);
    }
}

extern "C" __global__ void shape_apply(float4 *particle, float4 *goal, float stiffness, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float4 g = goal[i], p = particle[i];
    if (g.w > 0.0f) {
        p.x += stiffness * (g.x / g.w - p.x);
        p.y += stiffness * (g.y / g.w - p.y);
        p.z += stiffness * (g.z / g.w - p.z);
        particle[i] = p;
    }
    goal[i] = make_float4(0, 0, 0, 0);
}
