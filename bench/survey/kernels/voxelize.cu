// A mesh to voxels, one bit each: a thread walks over the cells of a triangle's bounding box and asks whether triangle
// and cell overlap (its plane, and its edges in three projections). Then the bits of each slice are counted.
struct Edges {
    float nx[3], ny[3], d[3];

    // The triangle's edges in a projection, moved outwards by a cell's extent; `sign` by which side is inside.
    __device__ void set(const float (&u)[3], const float (&v)[3], float sign) {
        for (int i = 0; i < 3; i++) {
            int j = i == 2 ? 0 : i + 1;
            nx[i] = -(v[j] - v[i]) * sign;
            ny[i] = (u[j] - u[i]) * sign;
            d[i] = -(nx[i] * u[i] + ny[i] * v[i]) + fmaxf(0.0f, nx[i]) + fmaxf(0.0f, ny[i]);
        }
    }

    __device__ bool inside(float u, float v) const {
        for (int i = 0; i < 3; i++)
            if (nx[i] * u + ny[i] * v + d[i] < 0.0f)
                return false;
        return true;
    }
};

__device__ float3 operator-(float3 a, float3 b) {
    return make_float3(a.x - b.x, a.y - b.y, a.z - b.z);
}

extern "C" __global__ void voxelize(const float3 *__restrict__ vertices, const int3 *__restrict__ triangles, unsigned *bits,
                                    int count, int nx, int ny, int nz) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= count)
        return;
    int3 tri = triangles[t];
    float3 a = vertices[tri.x], b = vertices[tri.y], c = vertices[tri.z];
    float3 ab = b - a, ac = c - a;
    float3 n = make_float3(ab.y * ac.z - ab.z * ac.y, ab.z * ac.x - ab.x * ac.z, ab.x * ac.y - ab.y * ac.x);
    float px[3] = {a.x, b.x, c.x}, py[3] = {a.y, b.y, c.y}, pz[3] = {a.z, b.z, c.z};
    Edges xy, yz, zx;
    xy.set(px, py, n.z < 0.0f ? -1.0f : 1.0f);
    yz.set(py, pz, n.x < 0.0f ? -1.0f : 1.0f);
    zx.set(pz, px, n.y < 0.0f ? -1.0f : 1.0f);
    float far_x = n.x > 0.0f ? 1.0f : 0.0f, far_y = n.y > 0.0f ? 1.0f : 0.0f, far_z = n.z > 0.0f ? 1.0f : 0.0f;
    float d1 = n.x * (far_x - a.x) + n.y * (far_y - a.y) + n.z * (far_z - a.z);
    float d2 = n.x * (1.0f - far_x - a.x) + n.y * (1.0f - far_y - a.y) + n.z * (1.0f - far_z - a.z);
    int x0 = max(0, (int)floorf(fminf(a.x, fminf(b.x, c.x)))), x1 = min(nx - 1, (int)fmaxf(a.x, fmaxf(b.x, c.x)));
    int y0 = max(0, (int)floorf(fminf(a.y, fminf(b.y, c.y)))), y1 = min(ny - 1, (int)fmaxf(a.y, fmaxf(b.y, c.y)));
    int z0 = max(0, (int)floorf(fminf(a.z, fminf(b.z, c.z)))), z1 = min(nz - 1, (int)fmaxf(a.z, fmaxf(b.z, c.z)));
    for (int x = x0; x <= x1; x++)
        for (int y = y0; y <= y1; y++) {
            if (!xy.inside(x, y))
                continue;
            for (int z = z0; z <= z1; z++) {
                float along = n.x * x + n.y * y + n.z * z;
                if ((along + d1) * (along + d2) > 0.0f)
                    continue;
                if (!yz.inside(y, z) || !zx.inside(z, x))
                    continue;
                size_t at = ((size_t)x * ny + y) * nz + z;
                atomicOr(bits + (at >> 5), 1u << (at & 31));
            }
        }
}

extern "C" __global__ void count_slices(const unsigned *__restrict__ bits, int *__restrict__ filled, int words) {
    const unsigned *slice = bits + (size_t)blockIdx.x * words;
    int sum = 0;
    for (int i = threadIdx.x; i < words; i += 32)
        sum += __popc(slice[i]);
    sum = __reduce_add_sync(0xffffffffu, sum);
    if (threadIdx.x == 0)
        filled[blockIdx.x] = sum;
}
