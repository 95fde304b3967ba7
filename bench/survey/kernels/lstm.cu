__device__ float sig(float x) { return 1.0f / (1.0f + expf(-x)); }
extern "C" __global__ void cell(const float *gates, float *c, float *h, int batch, int dim) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= batch * dim)
        return;
    int b = i / dim, j = i % dim;
    const float *g = gates + b * 4 * dim + j;
    float v = sig(g[dim]) * c[i] + sig(g[0]) * tanhf(g[2 * dim]);
    c[i] = v;
    h[i] = sig(g[3 * dim]) * tanhf(v);
}
