// Rays of a radiance field: samples only in occupied cells of a grid of bits in Morton order, counted, packed by a
// scan, written, and blended with densities and colours until a ray is opaque.
#include <stdint.h>
#define SQRT3 1.7320508f

struct GridInfo {
    int size;       // cells along an axis, a power of two
    float step;     // between samples of a ray
    int max_steps;
};

__device__ inline uint32_t expand_bits(uint32_t v) {
    v = (v * 0x00010001u) & 0xFF0000FFu;
    v = (v * 0x00000101u) & 0x0F00F00Fu;
    v = (v * 0x00000011u) & 0xC30C30C3u;
    v = (v * 0x00000005u) & 0x49249249u;
    return v;
}

__device__ inline uint32_t morton3D(uint32_t x, uint32_t y, uint32_t z) {
    return expand_bits(x) | (expand_bits(y) << 1) | (expand_bits(z) << 2);
}

__device__ inline float clampf(float x, float lo, float hi) { return fminf(hi, fmaxf(lo, x)); }
__device__ inline int clampi(int x, int lo, int hi) { return min(hi, max(lo, x)); }
__device__ inline float signf(float x) { return copysignf(1.0f, x); }

struct Ray {
    float ox, oy, oz, dx, dy, dz, rdx, rdy, rdz, near, far;
    __device__ Ray(const float *o, const float *d) {
        ox = o[0], oy = o[1], oz = o[2];
        dx = d[0], dy = d[1], dz = d[2];
        rdx = 1 / dx, rdy = 1 / dy, rdz = 1 / dz;
        near = (-1.0f - ox) * rdx, far = (1.0f - ox) * rdx;
        if (near > far)
            swap(near, far);
        float ny = (-1.0f - oy) * rdy, fy = (1.0f - oy) * rdy;
        if (ny > fy)
            swap(ny, fy);
        float nz = (-1.0f - oz) * rdz, fz = (1.0f - oz) * rdz;
        if (nz > fz)
            swap(nz, fz);
        near = fmaxf(fmaxf(near, ny), fmaxf(nz, 0.05f));
        far = fminf(far, fminf(fy, fz));
    }
    static __device__ void swap(float &a, float &b) {
        float t = a;
        a = b;
        b = t;
    }
};

template <typename F>
__device__ int march(const Ray &ray, const uint8_t *bits, const GridInfo &grid, F found) {
    int steps = 0;
    float t = ray.near;
    const float half = 0.5f * grid.size, cell = 2.0f / grid.size;
    while (t < ray.far && steps < grid.max_steps) {
        const float x = clampf(ray.ox + t * ray.dx, -1.0f, 1.0f);
        const float y = clampf(ray.oy + t * ray.dy, -1.0f, 1.0f);
        const float z = clampf(ray.oz + t * ray.dz, -1.0f, 1.0f);
        const int nx = clampi((int)((x + 1.0f) * half), 0, grid.size - 1);
        const int ny = clampi((int)((y + 1.0f) * half), 0, grid.size - 1);
        const int nz = clampi((int)((z + 1.0f) * half), 0, grid.size - 1);
        const uint32_t index = morton3D(nx, ny, nz);
        if (bits[index >> 3] & (1u << (index & 7))) {
            found(steps, t, index);
            t += grid.step;
            steps++;
        } else {
            const float tx = ((nx + 0.5f + 0.5f * signf(ray.dx)) * cell - 1.0f - x) * ray.rdx;
            const float ty = ((ny + 0.5f + 0.5f * signf(ray.dy)) * cell - 1.0f - y) * ray.rdy;
            const float tz = ((nz + 0.5f + 0.5f * signf(ray.dz)) * cell - 1.0f - z) * ray.rdz;
            const float tt = t + fmaxf(0.0f, fminf(tx, fminf(ty, tz)));
            do {
                t += grid.step;
            } while (t < tt);
        }
    }
    return steps;
}

extern "C" __global__ void march_count(const float *__restrict__ rays_o, const float *__restrict__ rays_d,
                                       const uint8_t *__restrict__ bits, int *counts, int n, int size, float step,
                                       int max_steps) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    GridInfo grid = {size, step, max_steps};
    Ray ray(rays_o + 3 * i, rays_d + 3 * i);
    counts[i] = march(ray, bits, grid, [](int, float, uint32_t) {});
}

extern "C" __global__ void pack_rays(const int *__restrict__ counts, int *offsets, int n) {
    __shared__ int warp_sums[32];
    __shared__ int carry;
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    if (threadIdx.x == 0)
        carry = 0;
    __syncthreads();
    for (int base = 0; base < n; base += blockDim.x) {
        int i = base + threadIdx.x, own = i < n ? counts[i] : 0, sum = own;
        for (int d = 1; d < 32; d <<= 1) {
            int other = __shfl_up_sync(0xffffffffu, sum, d);
            if (lane >= d)
                sum += other;
        }
        if (lane == 31)
            warp_sums[warp] = sum;
        __syncthreads();
        if (warp == 0) {
            int w = lane < blockDim.x / 32 ? warp_sums[lane] : 0;
            for (int d = 1; d < 32; d <<= 1) {
                int other = __shfl_up_sync(0xffffffffu, w, d);
                if (lane >= d)
                    w += other;
            }
            warp_sums[lane] = w;
        }
        __syncthreads();
        int before = carry + (warp ? warp_sums[warp - 1] : 0) + sum - own;
        if (i < n)
            offsets[i] = before;
        __syncthreads();
        if (threadIdx.x == blockDim.x - 1)
            carry = before + own;
        __syncthreads();
    }
    if (threadIdx.x == 0)
        offsets[n] = carry;
}

extern "C" __global__ void march_write(const float *__restrict__ rays_o, const float *__restrict__ rays_d,
                                       const uint8_t *__restrict__ bits, const int *__restrict__ offsets,
                                       float *__restrict__ ts, uint32_t *__restrict__ cells, int n, int size,
                                       float step, int max_steps) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    GridInfo grid = {size, step, max_steps};
    Ray ray(rays_o + 3 * i, rays_d + 3 * i);
    ts += offsets[i];
    cells += offsets[i];
    march(ray, bits, grid, [=](int k, float t, uint32_t cell) {
        ts[k] = t;
        cells[k] = cell;
    });
}

extern "C" __global__ void composite(const int *__restrict__ offsets, const float *__restrict__ ts,
                                     const uint32_t *__restrict__ cells, const float4 *__restrict__ field,
                                     float4 *image, float *depth, int n, float step, float T_thresh) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float T = 1.0f, r = 0, g = 0, b = 0, ws = 0, d = 0;
    for (int k = offsets[i]; k < offsets[i + 1]; k++) {
        const float4 c = field[cells[k]];
        const float alpha = 1.0f - __expf(-c.w * step);
        const float weight = alpha * T;
        r += weight * c.x;
        g += weight * c.y;
        b += weight * c.z;
        d += weight * ts[k];
        ws += weight;
        T *= 1.0f - alpha;
        if (T < T_thresh)
            break;
    }
    image[i] = make_float4(r + T, g + T, b + T, ws);
    depth[i] = d;
}
