// Splats of Gaussians in 3D: their projection, lists for tiles of 16 x 16 pixels, each list sorted by depth in shared
// memory, and pixels that blend them front to back until they are opaque.
#include <float.h>

#define TILE 16
#define MOST 1024  // Gaussians of a tile
#define BATCH (TILE * TILE)

struct Camera {
    float rotation[9], translation[3];
    float fx, fy, cx, cy;
    int width, height;
};

struct Splat {
    float2 mean;
    float3 conic;
    float opacity;
    float3 color;
    float depth;
    int4 rect;  // tiles: from x, from y, to x, to y
};

__device__ void rotation_of(float4 q, float r[3][3]) {
    const float length = rsqrtf(q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w);
    const float w = q.x * length, x = q.y * length, y = q.z * length, z = q.w * length;
    r[0][0] = 1.f - 2.f * (y * y + z * z);
    r[0][1] = 2.f * (x * y - w * z);
    r[0][2] = 2.f * (x * z + w * y);
    r[1][0] = 2.f * (x * y + w * z);
    r[1][1] = 1.f - 2.f * (x * x + z * z);
    r[1][2] = 2.f * (y * z - w * x);
    r[2][0] = 2.f * (x * z - w * y);
    r[2][1] = 2.f * (y * z + w * x);
    r[2][2] = 1.f - 2.f * (x * x + y * y);
}

extern "C" __global__ void project(const float3 *__restrict__ means, const float3 *__restrict__ scales,
                                   const float4 *__restrict__ quaternions, const float *__restrict__ opacities,
                                   const float3 *__restrict__ colors, const Camera *__restrict__ camera,
                                   Splat *__restrict__ splats, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    splats[i].rect = make_int4(0, 0, 0, 0);
    const float *v = camera->rotation, *t = camera->translation;
    const float3 m = means[i];
    const float x = v[0] * m.x + v[1] * m.y + v[2] * m.z + t[0];
    const float y = v[3] * m.x + v[4] * m.y + v[5] * m.z + t[1];
    const float z = v[6] * m.x + v[7] * m.y + v[8] * m.z + t[2];
    if (z < 0.2f)
        return;

    // The covariance is M M^T with M = J V R S.
    float r[3][3], jv[2][3], mm[2][3];
    rotation_of(quaternions[i], r);
    const float s[3] = {scales[i].x, scales[i].y, scales[i].z};
    const float jx = camera->fx / z, jy = camera->fy / z;
    for (int k = 0; k < 3; k++) {
        jv[0][k] = jx * v[k] - jx * x / z * v[6 + k];
        jv[1][k] = jy * v[3 + k] - jy * y / z * v[6 + k];
    }
    for (int a = 0; a < 2; a++)
        for (int b = 0; b < 3; b++) {
            float sum = 0.f;
            for (int k = 0; k < 3; k++)
                sum += jv[a][k] * r[k][b];
            mm[a][b] = sum * s[b];
        }
    const float a = mm[0][0] * mm[0][0] + mm[0][1] * mm[0][1] + mm[0][2] * mm[0][2] + 0.3f;
    const float b = mm[0][0] * mm[1][0] + mm[0][1] * mm[1][1] + mm[0][2] * mm[1][2];
    const float c = mm[1][0] * mm[1][0] + mm[1][1] * mm[1][1] + mm[1][2] * mm[1][2] + 0.3f;
    const float det = a * c - b * b;
    if (det <= 0.f)
        return;
    const float middle = 0.5f * (a + c);
    const float radius = ceilf(3.f * sqrtf(middle + sqrtf(fmaxf(0.1f, middle * middle - det))));
    const float px = camera->fx * x / z + camera->cx, py = camera->fy * y / z + camera->cy;

    const int tiles_x = (camera->width + TILE - 1) / TILE, tiles_y = (camera->height + TILE - 1) / TILE;
    int4 rect;
    rect.x = min(tiles_x, max(0, (int)((px - radius) / TILE)));
    rect.y = min(tiles_y, max(0, (int)((py - radius) / TILE)));
    rect.z = min(tiles_x, max(0, (int)((px + radius + TILE - 1) / TILE)));
    rect.w = min(tiles_y, max(0, (int)((py + radius + TILE - 1) / TILE)));
    if ((rect.z - rect.x) * (rect.w - rect.y) == 0)
        return;
    Splat out;
    out.mean = make_float2(px, py);
    out.conic = make_float3(c / det, -b / det, a / det);
    out.opacity = opacities[i];
    out.color = colors[i];
    out.depth = z;
    out.rect = rect;
    splats[i] = out;
}

extern "C" __global__ void bin_splats(const Splat *__restrict__ splats, int *__restrict__ counts,
                                      int *__restrict__ lists, int n, int tiles_x) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const int4 rect = splats[i].rect;
    for (int ty = rect.y; ty < rect.w; ty++)
        for (int tx = rect.x; tx < rect.z; tx++) {
            const int tile = ty * tiles_x + tx;
            const int at = atomicAdd(&counts[tile], 1);
            if (at < MOST)
                lists[tile * MOST + at] = i;
        }
}

extern "C" __global__ void __launch_bounds__(BATCH)
    render(const Splat *__restrict__ splats, const int *__restrict__ counts, const int *__restrict__ lists,
           float *__restrict__ image, float *__restrict__ rest, int width, int height) {
    __shared__ unsigned long long keys[MOST];
    __shared__ float2 batch_mean[BATCH];
    __shared__ float4 batch_conic[BATCH];
    __shared__ float3 batch_color[BATCH];
    const int tile = blockIdx.y * gridDim.x + blockIdx.x;
    const int tid = threadIdx.y * TILE + threadIdx.x;
    const int count = min(counts[tile], MOST);

    int size = 1;
    while (size < count)
        size <<= 1;
    for (int k = tid; k < size; k += BATCH) {
        unsigned long long key = ~0ull;
        if (k < count) {
            const int id = lists[tile * MOST + k];
            key = (unsigned long long)__float_as_uint(splats[id].depth) << 32 | (unsigned)id;
        }
        keys[k] = key;
    }
    __syncthreads();
    for (int span = 2; span <= size; span <<= 1)
        for (int step = span >> 1; step > 0; step >>= 1) {
            for (int k = tid; k < size; k += BATCH) {
                const int other = k ^ step;
                if (other > k) {
                    const unsigned long long a = keys[k], b = keys[other];
                    if ((a > b) == ((k & span) == 0)) {
                        keys[k] = b;
                        keys[other] = a;
                    }
                }
            }
            __syncthreads();
        }

    const int px = blockIdx.x * TILE + threadIdx.x, py = blockIdx.y * TILE + threadIdx.y;
    const bool inside = px < width && py < height;
    bool done = !inside;
    float transparency = 1.f;
    float3 color = make_float3(0.f, 0.f, 0.f);
    for (int first = 0; first < count; first += BATCH) {
        if (__syncthreads_count(done) == BATCH)
            break;
        if (first + tid < count) {
            const Splat &s = splats[(unsigned)keys[first + tid]];
            batch_mean[tid] = s.mean;
            batch_conic[tid] = make_float4(s.conic.x, s.conic.y, s.conic.z, s.opacity);
            batch_color[tid] = s.color;
        }
        __syncthreads();
        const int entries = min(BATCH, count - first);
        for (int j = 0; !done && j < entries; j++) {
            const float2 mean = batch_mean[j];
            const float4 conic = batch_conic[j];
            const float dx = mean.x - px, dy = mean.y - py;
            const float power = -0.5f * (conic.x * dx * dx + conic.z * dy * dy) - conic.y * dx * dy;
            if (power > 0.f)
                continue;
            const float alpha = fminf(0.99f, conic.w * __expf(power));
            if (alpha < 1.f / 255.f)
                continue;
            const float next = transparency * (1.f - alpha);
            if (next < 0.0001f) {
                done = true;
                continue;
            }
            const float weight = alpha * transparency;
            color.x += weight * batch_color[j].x;
            color.y += weight * batch_color[j].y;
            color.z += weight * batch_color[j].z;
            transparency = next;
        }
    }
    if (inside) {
        const int at = py * width + px, plane = width * height;
        rest[at] = transparency;
        image[at] = color.x + transparency * 0.1f;
        image[plane + at] = color.y + transparency * 0.1f;
        image[2 * plane + at] = color.z + transparency * 0.1f;
    }
}
