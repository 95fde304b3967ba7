// Fusion of a depth image into a volume of signed distances: a thread a column of voxels, 16 bits and a weight each.
#define SCALE 32767

struct Mat34 {
    float r[3][4];
};

__device__ __forceinline__ float3 operator*(const Mat34 &m, float3 p) {
    return make_float3(m.r[0][0] * p.x + m.r[0][1] * p.y + m.r[0][2] * p.z + m.r[0][3],
                       m.r[1][0] * p.x + m.r[1][1] * p.y + m.r[1][2] * p.z + m.r[1][3],
                       m.r[2][0] * p.x + m.r[2][1] * p.y + m.r[2][2] * p.z + m.r[2][3]);
}

extern "C" __global__ void tsdf_fuse(const unsigned short *__restrict__ depth, short2 *__restrict__ volume, Mat34 pose,
                                     int w, int h, int n, float voxel, float focal, float truncation, int most) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= n || y >= n)
        return;
    const float cx = 0.5f * w, cy = 0.5f * h;
    float3 at = pose * make_float3((x + 0.5f) * voxel, (y + 0.5f) * voxel, 0.5f * voxel);
    const float3 dz = make_float3(pose.r[0][2] * voxel, pose.r[1][2] * voxel, pose.r[2][2] * voxel);
    short2 *cell = volume + (size_t)y * n + x;
    for (int z = 0; z < n; z++, cell += (size_t)n * n) {
        float px = at.x + z * dz.x, py = at.y + z * dz.y, pz = at.z + z * dz.z;
        if (pz <= 0.1f)
            continue;
        int u = __float2int_rn(focal * px / pz + cx), v = __float2int_rn(focal * py / pz + cy);
        if (u < 0 || v < 0 || u >= w || v >= h)
            continue;
        int millimetres = depth[v * w + u];
        if (millimetres == 0)
            continue;
        float lx = (u - cx) / focal, ly = (v - cy) / focal;
        float along = rsqrtf(lx * lx + ly * ly + 1.0f);
        float sdf = 0.001f * millimetres - along * sqrtf(px * px + py * py + pz * pz);
        if (sdf < -truncation)
            continue;
        float tsdf = fminf(1.0f, sdf / truncation);
        short2 old = *cell;
        float fused = (old.x * (1.0f / SCALE) * old.y + tsdf) / (old.y + 1);
        *cell = make_short2(max(-SCALE, min(SCALE, __float2int_rz(fused * SCALE))), min(old.y + 1, most));
    }
}
