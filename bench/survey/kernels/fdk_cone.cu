// Reconstruction from a cone beam (Feldkamp, Davis, Kress): rows of projections weighted and filtered by a ramp in space,
// then projected back into a volume; a thread makes four voxels along z, matrices of 16 views at a time are constant.
#define VIEWS 16
#define VOXELS 4

struct View {
    float cosine, sine;
};

extern "C" __global__ void fdk_weight(float *projections, int nu, int nv, float source_axis, float source_detector,
                                      float pitch) {
    int u = blockIdx.x * blockDim.x + threadIdx.x, v = blockIdx.y, view = blockIdx.z;
    if (u >= nu)
        return;
    float a = (u - 0.5f * (nu - 1)) * pitch, b = (v - 0.5f * (nv - 1)) * pitch;
    projections[((size_t)view * nv + v) * nu + u] *=
        source_detector * rsqrtf(source_detector * source_detector + a * a + b * b);
}

extern "C" __global__ void fdk_ramp(const float *__restrict__ projections, float *__restrict__ filtered, int nu, int rows,
                                    float pitch) {
    extern __shared__ float row[];
    const int r = blockIdx.x;
    for (int u = threadIdx.x; u < nu; u += blockDim.x)
        row[u] = projections[(size_t)r * nu + u];
    __syncthreads();
    const float pi = 3.14159265f;
    for (int u = threadIdx.x; u < nu; u += blockDim.x) {
        float sum = row[u] * 0.25f;
        for (int k = (u & 1) ^ 1; k < nu; k += 2) {  // only odd distances count
            int d = u - k;
            sum -= row[k] / (pi * pi * (float)(d * d));
        }
        filtered[(size_t)r * nu + u] = sum / pitch;
    }
}

extern "C" __global__ void fdk_cone(const float *__restrict__ filtered, const View *__restrict__ views,
                                    float *__restrict__ volume, int nx, int ny, int nz, int nu, int nv, int first,
                                    int count, float voxel, float source_axis, float source_detector, float pitch,
                                    float scale) {
    __shared__ View own[VIEWS];
    const int tid = threadIdx.y * blockDim.x + threadIdx.x;
    if (tid < count)
        own[tid] = views[first + tid];
    __syncthreads();
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    const int z0 = blockIdx.z * VOXELS;
    if (x >= nx || y >= ny)
        return;
    const float px = (x - 0.5f * (nx - 1)) * voxel, py = (y - 0.5f * (ny - 1)) * voxel;
    const float pz = (z0 - 0.5f * (nz - 1)) * voxel;
    float sum[VOXELS] = {0};
    for (int k = 0; k < count; k++) {
        const float along = px * own[k].cosine + py * own[k].sine;
        const float across = py * own[k].cosine - px * own[k].sine;
        const float inv = 1.0f / (source_axis - along);
        const float magnify = source_detector * inv / pitch;
        const float u = across * magnify + 0.5f * (nu - 1);
        const float weight = source_axis * inv * source_axis * inv;
        const int iu = (int)floorf(u);
        if (iu < 0 || iu >= nu - 1)
            continue;
        const float fu = u - iu;
        float v = pz * magnify + 0.5f * (nv - 1);
        const float step = voxel * magnify;
        const float *image = filtered + (size_t)(first + k) * nv * nu + iu;
#pragma unroll
        for (int i = 0; i < VOXELS; i++) {
            const int iv = (int)floorf(v);
            if (iv >= 0 && iv < nv - 1) {
                const float fv = v - iv;
                const float *p = image + iv * nu;
                const float low = p[0] + fu * (p[1] - p[0]), high = p[nu] + fu * (p[nu + 1] - p[nu]);
                sum[i] += weight * (low + fv * (high - low));
            }
            v += step;
        }
    }
#pragma unroll
    for (int i = 0; i < VOXELS; i++)
        if (z0 + i < nz)
            volume[((size_t)(z0 + i) * ny + y) * nx + x] += scale * sum[i];
}
