// Direct Coulomb summation of a slice of a lattice: each thread has eight points of a row, a block's width apart;
// atoms come in chunks, one launch each, that wait in shared memory with their squared distance to the slice.
#define CHUNK 128
#define UNROLLX 8

extern "C" __global__ void __launch_bounds__(128) dcs_slice(const float4 *__restrict__ atominfo, int first,
                                                            int numatoms, int nx, int ny, float gridspacing, float z,
                                                            float *energygrid) {
    __shared__ float4 atoms[CHUNK];
    int count = min(CHUNK, numatoms - first);
    int tid = threadIdx.y * blockDim.x + threadIdx.x;
    if (tid < count) {
        float4 a = atominfo[first + tid];
        float dz = a.z - z;
        atoms[tid] = make_float4(a.x, a.y, dz * dz, a.w);
    }
    __syncthreads();

    int xindex = blockIdx.x * blockDim.x * UNROLLX + threadIdx.x;
    int yindex = blockIdx.y * blockDim.y + threadIdx.y;
    if (yindex >= ny)
        return;
    float coorx = gridspacing * xindex;
    float coory = gridspacing * yindex;
    float gridspacing_coalesce = gridspacing * blockDim.x;

    float energy[UNROLLX];
#pragma unroll
    for (int u = 0; u < UNROLLX; u++)
        energy[u] = 0.0f;
    for (int n = 0; n < count; n++) {
        float dy = coory - atoms[n].y;
        float dyz2 = dy * dy + atoms[n].z;
        float dx = coorx - atoms[n].x;
#pragma unroll
        for (int u = 0; u < UNROLLX; u++) {
            energy[u] += atoms[n].w * rsqrtf(dx * dx + dyz2);
            dx += gridspacing_coalesce;
        }
    }
    float *row = energygrid + yindex * nx;
#pragma unroll
    for (int u = 0; u < UNROLLX; u++) {
        int x = xindex + u * blockDim.x;
        if (x < nx)
            row[x] += energy[u];
    }
}
