// Forces between particles of a box and those of the boxes around it, sums kept in global memory.
#define COUNT 100

struct Particle {
    float v, x, y, z;
};
struct Box {
    int x, y, z, number, first, neighbours, near[26];
};

extern "C" __global__ void forces(float alpha, const Box *boxes, const Particle *all, const float *charges, Particle *force) {
    __shared__ Particle mine[COUNT], theirs[COUNT];
    __shared__ float charge[COUNT];
    const Box *box = boxes + blockIdx.x;
    int first = box->first;
    for (int i = threadIdx.x; i < COUNT; i += blockDim.x)
        mine[i] = all[first + i];
    __syncthreads();
    for (int k = 0; k <= box->neighbours; k++) {
        int other = boxes[k == 0 ? blockIdx.x : box->near[k - 1]].first;
        for (int i = threadIdx.x; i < COUNT; i += blockDim.x) {
            theirs[i] = all[other + i];
            charge[i] = charges[other + i];
        }
        __syncthreads();
        for (int i = threadIdx.x; i < COUNT; i += blockDim.x)
            for (int j = 0; j < COUNT; j++) {
                Particle a = mine[i], b = theirs[j];
                float r2 = a.v + b.v - (a.x * b.x + a.y * b.y + a.z * b.z), v = expf(-alpha * r2), f = 2 * v;
                force[first + i].v += charge[j] * v;
                force[first + i].x += charge[j] * f * (a.x - b.x);
                force[first + i].y += charge[j] * f * (a.y - b.y);
                force[first + i].z += charge[j] * f * (a.z - b.z);
            }
        __syncthreads();
    }
}
