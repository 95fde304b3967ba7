extern "C" __global__ void heat(const float *__restrict__ u, float *__restrict__ v, int nx, int ny, float k) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= nx || y >= ny)
        return;
    int i = y * nx + x;
    float c = u[i];
    float l = x > 0 ? u[i - 1] : c, r = x < nx - 1 ? u[i + 1] : c, t = y > 0 ? u[i - nx] : c,
          b = y < ny - 1 ? u[i + nx] : c;
    v[i] = c + k * (l + r + t + b - 4 * c);
}
