// A layer norm backward, a warp a row; gradients of weight and bias by atomic sums in shared memory.
extern "C" __global__ void ln_back(float *dx, float *dw, float *db, const float *dy, const float *x, const float *weight,
                                   const float *mean, const float *rstd, int rows, int c) {
    extern __shared__ float sums[];
    float *ws = sums, *bs = sums + c;
    for (int i = threadIdx.x; i < c; i += blockDim.x)
        ws[i] = bs[i] = 0.0f;
    __syncthreads();
    int warps = gridDim.x * blockDim.x / 32, lane = threadIdx.x % 32;
    for (int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32; row < rows; row += warps) {
        const float *dyr = dy + row * c, *xr = x + row * c;
        float m = mean[row], s = rstd[row], a = 0.0f, b = 0.0f;
        for (int i = lane; i < c; i += 32) {
            float norm = (xr[i] - m) * s, d = weight[i] * dyr[i];
            a += d;
            b += d * norm;
        }
        for (int k = 16; k; k /= 2) {
            a += __shfl_xor_sync(~0u, a, k);
            b += __shfl_xor_sync(~0u, b, k);
        }
        a /= c;
        b /= c;
        for (int i = lane; i < c; i += 32) {
            float g = dyr[i], norm = (xr[i] - m) * s;
            atomicAdd(&bs[i], g);
            atomicAdd(&ws[i], norm * g);
            dx[row * c + i] += (weight[i] * g - a - norm * b) * s;
        }
    }
    __syncthreads();
    for (int i = threadIdx.x; i < c; i += blockDim.x) {
        atomicAdd(&db[i], bs[i]);
        atomicAdd(&dw[i], ws[i]);
    }
}
