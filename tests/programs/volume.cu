// Three-dimensional grids and CTAs.
// Every voxel gets its thread's coordinates packed together, and the distance to a corner.
extern "C" __global__ void label(unsigned *labels, float *distances, int3 size)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    int z = blockIdx.z * blockDim.z + threadIdx.z;
    if (x >= size.x || y >= size.y || z >= size.z)
        return;
    int i = (z * size.y + y) * size.x + x;
    labels[i] = blockIdx.x << 28 | blockIdx.y << 24 | blockIdx.z << 20 | threadIdx.x << 14 | threadIdx.y << 7 | threadIdx.z;
    distances[i] = sqrtf((float)(x * x + y * y + z * z));
}

// Number of live neighbours of 26 on a torus.
extern "C" __global__ void neighbours(const unsigned char *live, unsigned char *count, int3 size)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    int z = blockIdx.z * blockDim.z + threadIdx.z;
    if (x >= size.x || y >= size.y || z >= size.z)
        return;
    int sum = 0;
    for (int dz = -1; dz <= 1; ++dz)
        for (int dy = -1; dy <= 1; ++dy)
            for (int dx = -1; dx <= 1; ++dx) {
                if (dx == 0 && dy == 0 && dz == 0)
                    continue;
                int u = (x + dx + size.x) % size.x, v = (y + dy + size.y) % size.y, w = (z + dz + size.z) % size.z;
                sum += live[(w * size.y + v) * size.x + u];
            }
    count[(z * size.y + y) * size.x + x] = sum;
}

// What a thread knows of its launch: ntid, nctaid, and its own place.
extern "C" __global__ void shape(unsigned *shapes)
{
    unsigned cta = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    unsigned thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    unsigned *mine = shapes + 4 * (cta * (blockDim.x * blockDim.y * blockDim.z) + thread);
    unsigned lane;
    asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
    mine[0] = blockDim.x + 100 * blockDim.y + 10000 * blockDim.z;
    mine[1] = gridDim.x + 100 * gridDim.y + 10000 * gridDim.z;
    mine[2] = lane;
    mine[3] = thread;
}
