// Occlusion culling: a pyramid of the farthest depths of the frame before (odd sizes are kept: three texels where they
// must), then each object's box is projected, its mip chosen by its size, and the visible ones written as draws.
struct Instance {
    float4 centre;  // radius in w: unused
    float4 extent;
    unsigned mesh, pad[3];
};

struct Draw {
    unsigned count, instances, first_index;
    int base_vertex;
    unsigned first_instance;
};

extern "C" __global__ void hiz_down(const float *__restrict__ depth, float *__restrict__ smaller, int from, int to,
                                    int w, int h) {
    const int ow = max(w / 2, 1), oh = max(h / 2, 1);
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= ow || y >= oh)
        return;
    depth += from;
    const int x0 = 2 * x, y0 = 2 * y;
    const int x1 = min(x0 + ((w & 1) && x == ow - 1 ? 2 : 1), w - 1);
    const int y1 = min(y0 + ((h & 1) && y == oh - 1 ? 2 : 1), h - 1);
    float far = 0.0f;
    for (int j = y0; j <= y1; j++)
        for (int i = x0; i <= x1; i++)
            far = fmaxf(far, depth[j * w + i]);
    smaller[to + y * ow + x] = far;
}

extern "C" __global__ void hiz_cull(const Instance *__restrict__ instances, const float *__restrict__ matrix,
                                    const float *__restrict__ pyramid, const int4 *__restrict__ mips,
                                    const uint2 *__restrict__ meshes, Draw *__restrict__ draws,
                                    unsigned *__restrict__ draw_count, unsigned char *__restrict__ visible, int n,
                                    int levels) {
    __shared__ float m[16];
    if (threadIdx.x < 16)
        m[threadIdx.x] = matrix[threadIdx.x];
    __syncthreads();
    int id = blockIdx.x * blockDim.x + threadIdx.x;
    if (id >= n)
        return;
    const Instance object = instances[id];
    float2 lo = make_float2(1.0f, 1.0f), hi = make_float2(0.0f, 0.0f);
    float nearest = 1.0f;
    unsigned outside = 0x3f;
    bool crosses = false;
    for (int corner = 0; corner < 8; corner++) {
        float x = object.centre.x + (corner & 1 ? object.extent.x : -object.extent.x);
        float y = object.centre.y + (corner & 2 ? object.extent.y : -object.extent.y);
        float z = object.centre.z + (corner & 4 ? object.extent.z : -object.extent.z);
        float cx = m[0] * x + m[1] * y + m[2] * z + m[3];
        float cy = m[4] * x + m[5] * y + m[6] * z + m[7];
        float cz = m[8] * x + m[9] * y + m[10] * z + m[11];
        float cw = m[12] * x + m[13] * y + m[14] * z + m[15];
        unsigned code = (cx < -cw) | (cx > cw) << 1 | (cy < -cw) << 2 | (cy > cw) << 3 | (cz < 0) << 4 | (cz > cw) << 5;
        outside &= code;
        if (cw <= 0.0f || cz < 0.0f) {
            crosses = true;
            continue;
        }
        float inv = 1.0f / cw;
        float u = cx * inv * 0.5f + 0.5f, v = cy * inv * -0.5f + 0.5f;
        lo.x = fminf(lo.x, u);
        lo.y = fminf(lo.y, v);
        hi.x = fmaxf(hi.x, u);
        hi.y = fmaxf(hi.y, v);
        nearest = fminf(nearest, cz * inv);
    }
    unsigned char result = 0;
    if (outside) {
        result = 0;
    } else if (crosses) {
        result = 2;
    } else {
        lo.x = __saturatef(lo.x);
        lo.y = __saturatef(lo.y);
        hi.x = __saturatef(hi.x);
        hi.y = __saturatef(hi.y);
        const int4 full = mips[0];
        float size = fmaxf((hi.x - lo.x) * full.y, (hi.y - lo.y) * full.z);
        int level = size <= 2.0f ? 0 : min((int)ceilf(log2f(size * 0.5f)), levels - 1);
        const int4 mip = mips[level];
        int x0 = min((int)(lo.x * mip.y), mip.y - 1), x1 = min((int)(hi.x * mip.y), mip.y - 1);
        int y0 = min((int)(lo.y * mip.z), mip.z - 1), y1 = min((int)(hi.y * mip.z), mip.z - 1);
        float far = 0.0f;
        for (int y = y0; y <= y1; y++)
            for (int x = x0; x <= x1; x++)
                far = fmaxf(far, pyramid[mip.x + y * mip.y + x]);
        result = nearest <= far ? 1 : 0;
    }
    visible[id] = result;
    if (result) {
        uint2 mesh = meshes[object.mesh];
        unsigned at = atomicAdd(&draw_count[object.mesh], 1u);
        if (at == 0) {
            Draw d;
            d.count = mesh.y;
            d.instances = 1;
            d.first_index = mesh.x;
            d.base_vertex = 0;
            d.first_instance = object.mesh << 16;
            draws[object.mesh] = d;
        }
    }
}
