// Which boxes overlap which: a bit for each pair, 64 by 64 boxes a CTA.
extern "C" __global__ void nms(const float4 *boxes, unsigned long long *mask, int n, float threshold) {
    int row = blockIdx.y, column = blockIdx.x, words = (n + 63) / 64;
    int rows = min(n - row * 64, 64), columns = min(n - column * 64, 64);
    __shared__ float4 block[64];
    if (threadIdx.x < columns)
        block[threadIdx.x] = boxes[column * 64 + threadIdx.x];
    __syncthreads();
    if (threadIdx.x >= rows)
        return;
    int me = row * 64 + threadIdx.x;
    float4 a = boxes[me];
    float area = (a.z - a.x) * (a.w - a.y);
    unsigned long long bits = 0;
    for (int i = row == column ? threadIdx.x + 1 : 0; i < columns; i++) {
        float4 b = block[i];
        float w = fmaxf(fminf(a.z, b.z) - fmaxf(a.x, b.x), 0.0f);
        float h = fmaxf(fminf(a.w, b.w) - fmaxf(a.y, b.y), 0.0f);
        float both = w * h;
        if (both > threshold * (area + (b.z - b.x) * (b.w - b.y) - both))
            bits |= 1ull << i;
    }
    mask[(size_t)me * words + column] = bits;
}
