// Set abstraction of a network on point clouds: the furthest points by turns (a CTA a cloud), the neighbours within a
// ball around each of them, and the neighbours' features brought together.
#define THREADS 512

__device__ void keep_further(float *__restrict__ dist, int *__restrict__ index, int a, int b) {
    const float da = dist[a], db = dist[b];
    const int ia = index[a], ib = index[b];
    if (db > da || (db == da && ib < ia)) {
        dist[a] = db;
        index[a] = ib;
    }
}

extern "C" __global__ void furthest_points(const float *__restrict__ xyz, float *__restrict__ nearest,
                                           int *__restrict__ chosen, int n, int m) {
    __shared__ float dist[THREADS];
    __shared__ int index[THREADS];
    if (m <= 0)
        return;
    const int cloud = blockIdx.x, tid = threadIdx.x;
    xyz += (size_t)cloud * n * 3;
    nearest += (size_t)cloud * n;
    chosen += (size_t)cloud * m;

    int old = 0;
    if (tid == 0)
        chosen[0] = old;
    for (int k = tid; k < n; k += THREADS)
        nearest[k] = 1e10f;
    __syncthreads();
    for (int j = 1; j < m; j++) {
        int best_index = 0;
        float best = -1.0f;
        const float x1 = xyz[old * 3 + 0], y1 = xyz[old * 3 + 1], z1 = xyz[old * 3 + 2];
        for (int k = tid; k < n; k += THREADS) {
            const float x2 = xyz[k * 3 + 0], y2 = xyz[k * 3 + 1], z2 = xyz[k * 3 + 2];
            const float d = (x2 - x1) * (x2 - x1) + (y2 - y1) * (y2 - y1) + (z2 - z1) * (z2 - z1);
            const float d2 = min(d, nearest[k]);
            nearest[k] = d2;
            best_index = d2 > best ? k : best_index;
            best = d2 > best ? d2 : best;
        }
        dist[tid] = best;
        index[tid] = best_index;
        __syncthreads();
#pragma unroll
        for (int half = THREADS / 2; half > 0; half >>= 1) {
            if (tid < half)
                keep_further(dist, index, tid, tid + half);
            __syncthreads();
        }
        old = index[0];
        if (tid == 0)
            chosen[j] = old;
        __syncthreads();
    }
}

extern "C" __global__ void ball_query(const float *__restrict__ xyz, const int *__restrict__ chosen,
                                      int *__restrict__ neighbours, int n, int m, float radius, int nsample) {
    const int cloud = blockIdx.y;
    const int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j >= m)
        return;
    xyz += (size_t)cloud * n * 3;
    const int centre = chosen[cloud * m + j];
    int *list = neighbours + ((size_t)cloud * m + j) * nsample;
    const float radius2 = radius * radius;
    const float cx = xyz[centre * 3 + 0], cy = xyz[centre * 3 + 1], cz = xyz[centre * 3 + 2];
    int count = 0;
    for (int k = 0; k < n && count < nsample; ++k) {
        const float x = xyz[k * 3 + 0], y = xyz[k * 3 + 1], z = xyz[k * 3 + 2];
        const float d2 = (cx - x) * (cx - x) + (cy - y) * (cy - y) + (cz - z) * (cz - z);
        if (d2 < radius2) {
            if (count == 0) {
                for (int l = 0; l < nsample; ++l)
                    list[l] = k;
            }
            list[count] = k;
            ++count;
        }
    }
}

extern "C" __global__ void group_points(const float *__restrict__ features, const int *__restrict__ neighbours,
                                        float *__restrict__ grouped, int channels, int n, int m, int nsample) {
    const int cloud = blockIdx.z, c = blockIdx.y;
    const int index = blockIdx.x * blockDim.x + threadIdx.x;
    if (index >= m * nsample)
        return;
    const float *from = features + ((size_t)cloud * channels + c) * n;
    const int *list = neighbours + (size_t)cloud * m * nsample;
    grouped[((size_t)cloud * channels + c) * m * nsample + index] = from[list[index]];
}
