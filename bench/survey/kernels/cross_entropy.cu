// The loss of rows of logits, and its gradient: a CTA for each row, greatest and sum through shared memory.
extern "C" __global__ void cross_entropy(const float *logits, const int *label, float *loss, float *grad,
                                         int columns) {
    __shared__ float part[256];
    int row = blockIdx.x, tid = threadIdx.x;
    const float *x = logits + row * columns;
    float most = -1e30f;
    for (int i = tid; i < columns; i += blockDim.x)
        most = fmaxf(most, x[i]);
    part[tid] = most;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (tid < s)
            part[tid] = fmaxf(part[tid], part[tid + s]);
        __syncthreads();
    }
    most = part[0];
    __syncthreads();
    float sum = 0;
    for (int i = tid; i < columns; i += blockDim.x)
        sum += __expf(x[i] - most);
    part[tid] = sum;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (tid < s)
            part[tid] += part[tid + s];
        __syncthreads();
    }
    sum = part[0];
    for (int i = tid; i < columns; i += blockDim.x)
        grad[row * columns + i] = __expf(x[i] - most) / sum - (i == label[row] ? 1.0f : 0.0f);
    if (tid == 0)
        loss[row] = __logf(sum) + most - x[label[row]];
}
