// Sums over rectangles: rows by a warp's prefix sums, then columns, a thread each.
extern "C" __global__ void rows(const unsigned char *__restrict__ in, int *__restrict__ out, int w, int h) {
    int y = blockIdx.x * blockDim.y + threadIdx.y, lane = threadIdx.x, carry = 0;
    if (y >= h)
        return;
    for (int x = lane; x - lane < w; x += 32) {
        int v = x < w ? in[y * w + x] : 0;
#pragma unroll
        for (int d = 1; d < 32; d *= 2) {
            int u = __shfl_up_sync(~0u, v, d);
            if (lane >= d)
                v += u;
        }
        v += carry;
        if (x < w)
            out[y * w + x] = v;
        carry = __shfl_sync(~0u, v, 31);
    }
}

extern "C" __global__ void columns(int *__restrict__ out, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, sum = 0;
    if (x >= w)
        return;
    for (int y = 0; y < h; y++) {
        sum += out[y * w + x];
        out[y * w + x] = sum;
    }
}
