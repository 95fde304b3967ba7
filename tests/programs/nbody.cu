// Softened gravity of n bodies on each other, positions staged through shared memory. w is the mass.
#define TILE 64

extern "C" __global__ void accelerations(const float4 *bodies, float3 *result, int n, float softening)
{
    __shared__ float4 tile[TILE];
    int i = blockIdx.x * TILE + threadIdx.x;
    float4 mine = i < n ? bodies[i] : make_float4(0, 0, 0, 0);
    float ax = 0, ay = 0, az = 0;
    for (int start = 0; start < n; start += TILE) {
        int j = start + threadIdx.x;
        tile[threadIdx.x] = j < n ? bodies[j] : make_float4(0, 0, 0, 0);
        __syncthreads();
        for (int k = 0; k < TILE; ++k) {
            float dx = tile[k].x - mine.x, dy = tile[k].y - mine.y, dz = tile[k].z - mine.z;
            float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + softening);
            float weight = tile[k].w * inverse * inverse * inverse;
            ax += weight * dx;
            ay += weight * dy;
            az += weight * dz;
        }
        __syncthreads();
    }
    if (i < n)
        result[i] = make_float3(ax, ay, az);
}
