// A layer of bytes: each row of inputs and each row of weights has a scale of its own.
extern "C" __global__ void linear_int8(const signed char *x, const signed char *w, const float *x_scale,
                                       const float *w_scale, const float *bias, float *y, int m, int n, int k) {
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= m || col >= n)
        return;
    int acc = 0;
    for (int i = 0; i < k; i++)
        acc += (int)x[row * k + i] * (int)w[col * k + i];
    y[row * n + col] = acc * x_scale[row] * w_scale[col] + bias[col];
}
