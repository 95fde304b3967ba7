// Chamfer distance: for each point of one cloud the nearest of the other, candidates in shared memory 512 at a time
// and four in a row; gradients by atomics.
extern "C" __global__ void nm_distance(int b, int n, const float *__restrict__ xyz, int m,
                                       const float *__restrict__ xyz2, float *__restrict__ result,
                                       int *__restrict__ result_i) {
    const int batch = 512;
    __shared__ float buf[batch * 3];
    for (int i = blockIdx.x; i < b; i += gridDim.x) {
        for (int k2 = 0; k2 < m; k2 += batch) {
            int end_k = min(m, k2 + batch) - k2;
            for (int j = threadIdx.x; j < end_k * 3; j += blockDim.x)
                buf[j] = xyz2[(i * m + k2) * 3 + j];
            __syncthreads();
            for (int j = threadIdx.x + blockIdx.y * blockDim.x; j < n; j += blockDim.x * gridDim.y) {
                float x1 = xyz[(i * n + j) * 3 + 0], y1 = xyz[(i * n + j) * 3 + 1], z1 = xyz[(i * n + j) * 3 + 2];
                int best_i = 0;
                float best = 0;
                int end_ka = end_k - (end_k & 3);
                if (end_ka == batch) {
                    for (int k = 0; k < batch; k += 4) {
#pragma unroll
                        for (int q = 0; q < 4; q++) {
                            float x2 = buf[(k + q) * 3 + 0] - x1, y2 = buf[(k + q) * 3 + 1] - y1;
                            float z2 = buf[(k + q) * 3 + 2] - z1;
                            float d = x2 * x2 + y2 * y2 + z2 * z2;
                            if (k + q == 0 || d < best) {
                                best = d;
                                best_i = k + q + k2;
                            }
                        }
                    }
                } else {
                    for (int k = 0; k < end_ka; k += 4) {
#pragma unroll
                        for (int q = 0; q < 4; q++) {
                            float x2 = buf[(k + q) * 3 + 0] - x1, y2 = buf[(k + q) * 3 + 1] - y1;
                            float z2 = buf[(k + q) * 3 + 2] - z1;
                            float d = x2 * x2 + y2 * y2 + z2 * z2;
                            if (k + q == 0 || d < best) {
                                best = d;
                                best_i = k + q + k2;
                            }
                        }
                    }
                }
                for (int k = end_ka; k < end_k; k++) {
                    float x2 = buf[k * 3 + 0] - x1, y2 = buf[k * 3 + 1] - y1, z2 = buf[k * 3 + 2] - z1;
                    float d = x2 * x2 + y2 * y2 + z2 * z2;
                    if (k == 0 || d < best) {
                        best = d;
                        best_i = k + k2;
                    }
                }
                if (k2 == 0 || result[i * n + j] > best) {
                    result[i * n + j] = best;
                    result_i[i * n + j] = best_i;
                }
            }
            __syncthreads();
        }
    }
}

extern "C" __global__ void nm_distance_grad(int b, int n, const float *__restrict__ xyz1, int m,
                                            const float *__restrict__ xyz2, const float *__restrict__ grad_dist1,
                                            const int *__restrict__ idx1, float *grad_xyz1, float *grad_xyz2) {
    for (int i = blockIdx.x; i < b; i += gridDim.x) {
        for (int j = threadIdx.x + blockIdx.y * blockDim.x; j < n; j += blockDim.x * gridDim.y) {
            int j2 = idx1[i * n + j];
            float g = grad_dist1[i * n + j] * 2;
#pragma unroll
            for (int c = 0; c < 3; c++) {
                float d = g * (xyz1[(i * n + j) * 3 + c] - xyz2[(i * m + j2) * 3 + c]);
                atomicAdd(&grad_xyz1[(i * n + j) * 3 + c], d);
                atomicAdd(&grad_xyz2[(i * m + j2) * 3 + c], -d);
            }
        }
    }
}
