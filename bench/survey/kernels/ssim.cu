// Similarity of two pictures' blocks of 8 x 8, a CTA of 8 x 8 threads for each block.
extern "C" __global__ void ssim(const unsigned char *a, const unsigned char *b, float *out, int w) {
    __shared__ int sums[5][64];
    int x = blockIdx.x * 8 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y, t = threadIdx.y * 8 + threadIdx.x;
    int p = a[y * w + x], q = b[y * w + x];
    sums[0][t] = p;
    sums[1][t] = q;
    sums[2][t] = p * p;
    sums[3][t] = q * q;
    sums[4][t] = p * q;
    for (int k = 32; k > 0; k /= 2) {
        __syncthreads();
        if (t < k)
            for (int s = 0; s < 5; s++)
                sums[s][t] += sums[s][t + k];
    }
    if (t == 0) {
        float ma = sums[0][0] / 64.0f, mb = sums[1][0] / 64.0f, va = sums[2][0] / 64.0f - ma * ma,
              vb = sums[3][0] / 64.0f - mb * mb, c = sums[4][0] / 64.0f - ma * mb;
        out[blockIdx.y * gridDim.x + blockIdx.x] = (2 * ma * mb + 6.5025f) * (2 * c + 58.5225f) /
                                                   ((ma * ma + mb * mb + 6.5025f) * (va + vb + 58.5225f));
    }
}
