extern "C" __global__ void embed(const int *ids, const float *t, float *o, int n, int dim) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n * dim; i += gridDim.x * blockDim.x)
        o[i] = t[ids[i / dim] * dim + i % dim];
}
