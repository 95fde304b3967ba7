// A buffer of depths: the nearest point of each pixel, by the least of 64 bits (depth above, number below).
extern "C" __global__ void splat(const float4 *__restrict__ points, unsigned long long *buffer, int n, int w, int h) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float4 p = points[i];
    float z = p.z + 2.0f;
    int x = (int)((p.x / z + 0.5f) * w), y = (int)((p.y / z + 0.5f) * h);
    if (x < 0 || y < 0 || x >= w || y >= h)
        return;
    unsigned long long key = (unsigned long long)__float_as_uint(z) << 32 | i;
    if (key < buffer[y * w + x])
        atomicMin(buffer + y * w + x, key);
}
