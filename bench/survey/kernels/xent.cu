// Softmax with the loss' gradient, a warp a row: greatest and sum in one pass, merged over lanes.
extern "C" __global__ void xent(float *logits, float *losses, const int *targets, int rows, int v) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= rows)
        return;
    float *x = logits + (long long)row * v;
    float top = -INFINITY, sum = 0.0f;
    for (int i = lane; i < v; i += 32) {
        float old = top;
        top = fmaxf(top, x[i]);
        sum = sum * expf(old - top) + expf(x[i] - top);
    }
    for (int k = 16; k; k /= 2) {
        float t = __shfl_xor_sync(~0u, top, k), s = __shfl_xor_sync(~0u, sum, k), m = fmaxf(top, t);
        sum = sum * expf(top - m) + s * expf(t - m);
        top = m;
    }
    int target = targets[row];
    if (lane == 0)
        losses[row] = logf(sum) + top - x[target];
    __syncwarp();
    for (int i = lane; i < v; i += 32)
        x[i] = (expf(x[i] - top) / sum - (i == target ? 1.0f : 0.0f)) / rows;
}
