// A layer of a network, forward: products of 16 inputs a CTA, summed by a tree over rows.
#define H 16

extern "C" __global__ void forward(const float *__restrict__ input, const float *__restrict__ weights,
                                   float *__restrict__ partial, int hidden) {
    __shared__ float in[H], w[H][H];
    int by = blockIdx.y, tx = threadIdx.x, ty = threadIdx.y;
    int index = (hidden + 1) * H * by + (hidden + 1) * ty + tx + hidden + 2;
    if (tx == 0)
        in[ty] = input[H * by + ty + 1];
    __syncthreads();
    w[ty][tx] = weights[index];
    __syncthreads();
    w[ty][tx] = w[ty][tx] * in[ty];
    __syncthreads();
    for (int i = 1; i <= 4; i++) {
        int power = 1 << i;
        if (ty % power == 0)
            w[ty][tx] = w[ty][tx] + w[ty + power / 2][tx];
        __syncthreads();
    }
    if (tx == 0)
        partial[by * hidden + ty] = w[tx][ty];
}
