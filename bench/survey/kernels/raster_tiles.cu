// Triangles into pixels: edges in fixed point by the top-left rule, then a block for each 16 x 16 pixels
// lists the triangles that may touch it, in their order, and each thread tests its pixel against them.
#define TILE 16
#define THREADS (TILE * TILE)

struct Vertex {
    float x, y, z;
};

struct Setup {
    int a[3], b[3], c[3];
    short left, top, right, bottom; // right < left: not to be drawn
    float z0, zx, zy;
    unsigned int colour;
};

extern "C" __global__ void raster_setup(const Vertex *__restrict__ vertices, const int3 *__restrict__ triangles,
                                        Setup *__restrict__ setups, int count, int width, int height) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= count)
        return;
    int3 tri = triangles[t];
    Vertex v[3] = {vertices[tri.x], vertices[tri.y], vertices[tri.z]};
    int x[3], y[3];
    for (int i = 0; i < 3; i++) {
        x[i] = __float2int_rn(v[i].x * 16.0f);
        y[i] = __float2int_rn(v[i].y * 16.0f);
    }
    Setup s;
    int area = (x[1] - x[0]) * (y[2] - y[0]) - (x[2] - x[0]) * (y[1] - y[0]);
    s.left = max(min(min(x[0], x[1]), x[2]) >> 4, 0);
    s.top = max(min(min(y[0], y[1]), y[2]) >> 4, 0);
    s.right = min(max(max(x[0], x[1]), x[2]) >> 4, width - 1);
    s.bottom = min(max(max(y[0], y[1]), y[2]) >> 4, height - 1);
    if (area <= 0 || s.bottom < s.top) {
        s.left = 1;
        s.right = 0;
    }
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3;
        int dx = x[j] - x[i], dy = y[j] - y[i];
        s.a[i] = -dy;
        s.b[i] = dx;
        bool top_left = dy < 0 || (dy == 0 && dx > 0);
        s.c[i] = dy * x[i] - dx * y[i] - (top_left ? 0 : 1);
    }
    float ux = v[1].x - v[0].x, uy = v[1].y - v[0].y, uz = v[1].z - v[0].z;
    float wx = v[2].x - v[0].x, wy = v[2].y - v[0].y, wz = v[2].z - v[0].z;
    float det = ux * wy - uy * wx;
    s.zx = area > 0 ? (uz * wy - uy * wz) / det : 0.0f;
    s.zy = area > 0 ? (ux * wz - uz * wx) / det : 0.0f;
    s.z0 = v[0].z - s.zx * v[0].x - s.zy * v[0].y;
    float light = rsqrtf(1.0f + 900.0f * (s.zx * s.zx + s.zy * s.zy));
    unsigned int grey = (unsigned int)(40.0f + 200.0f * light);
    s.colour = 0xff000000u | (t * 37u & 255u) << 16 | (t * 101u & 255u) << 8 | grey;
    setups[t] = s;
}

extern "C" __global__ void raster_tiles(const Setup *__restrict__ setups, float *__restrict__ depth,
                                        uchar4 *__restrict__ pixels, int count, int width, int height) {
    __shared__ int list[THREADS];
    __shared__ int warp_count[THREADS / 32];
    int x0 = blockIdx.x * TILE, y0 = blockIdx.y * TILE;
    int x = x0 + threadIdx.x, y = y0 + threadIdx.y;
    int tid = threadIdx.y * TILE + threadIdx.x, warp = tid / 32, lane = tid % 32;
    int px = x * 16 + 8, py = y * 16 + 8;
    float nearest = 1.0f;
    unsigned int colour = 0xff202020u;
    for (int base = 0; base < count; base += THREADS) {
        bool touches = false;
        if (base + tid < count) {
            const Setup &s = setups[base + tid];
            touches = s.left <= s.right && s.left < x0 + TILE && s.right >= x0 && s.top < y0 + TILE && s.bottom >= y0;
        }
        unsigned int votes = __ballot_sync(0xffffffffu, touches);
        if (lane == 0)
            warp_count[warp] = __popc(votes);
        __syncthreads();
        int before = 0, listed = 0;
        for (int i = 0; i < THREADS / 32; i++) {
            if (i < warp)
                before += warp_count[i];
            listed += warp_count[i];
        }
        if (touches)
            list[before + __popc(votes & ((1u << lane) - 1))] = base + tid;
        __syncthreads();
        for (int k = 0; k < listed; k++) {
            const Setup &s = setups[list[k]];
            int e0 = s.a[0] * px + s.b[0] * py + s.c[0];
            int e1 = s.a[1] * px + s.b[1] * py + s.c[1];
            int e2 = s.a[2] * px + s.b[2] * py + s.c[2];
            if ((e0 | e1 | e2) < 0)
                continue;
            float z = s.z0 + s.zx * (x + 0.5f) + s.zy * (y + 0.5f);
            if (z < nearest && z >= 0.0f) {
                nearest = z;
                colour = s.colour;
            }
        }
        __syncthreads();
    }
    if (x < width && y < height) {
        depth[y * width + x] = nearest;
        pixels[y * width + x] =
            make_uchar4(colour & 255, colour >> 8 & 255, colour >> 16 & 255, colour >> 24);
    }
}
