// The gradient's length in a volume, 0 at its faces.
extern "C" __global__ void volume2(const float *in, float *out, int n) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    int z = blockIdx.z * blockDim.z + threadIdx.z, i = (z * n + y) * n + x;
    if (x >= n || y >= n || z >= n)
        return;
    float length = 0;
    if (x > 0 && y > 0 && z > 0 && x < n - 1 && y < n - 1 && z < n - 1) {
        float u = in[i + 1] - in[i - 1], v = in[i + n] - in[i - n], w = in[i + n * n] - in[i - n * n];
        length = sqrtf(u * u + v * v + w * w);
    }
    out[i] = length;
}
