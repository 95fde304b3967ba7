extern "C" __global__ void st(const float *__restrict__ in, float *__restrict__ out, int nx, int ny, int nz,
                              float c0, float c1) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 1 || y < 1 || x >= nx - 1 || y >= ny - 1)
        return;
    int s = nx * ny;
    int i = s + y * nx + x;
    float back = in[i - s], cur = in[i], front;
    for (int z = 1; z < nz - 1; z++, i += s) {
        front = in[i + s];
        out[i] = c0 * cur + c1 * (back + front + in[i - 1] + in[i + 1] + in[i - nx] + in[i + nx]);
        back = cur;
        cur = front;
    }
}
