// A perceptron of two layers learns from one batch: a thread for each activation, each delta and each weight,
// with sums in global memory and sigmoids that are double by their literals.
extern "C" __global__ void mlp_forward(float *x, float *w, float *b, float *y, int batch, int in, int out) {
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < batch && j < out) {
        y[i * out + j] = b[j];
        for (int k = 0; k < in; k++)
            y[i * out + j] += x[i * in + k] * w[k * out + j];
        y[i * out + j] = 1.0 / (1.0 + exp(-y[i * out + j]));
    }
}

extern "C" __global__ void mlp_error(float *y, float *target, float *delta, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        delta[i] = (y[i] - target[i]) * y[i] * (1 - y[i]);
}

extern "C" __global__ void mlp_hidden_error(float *delta, float *w, float *hidden, float *hidden_delta, int batch,
                                            int in, int out) {
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < batch && k < in) {
        float sum = 0;
        for (int j = 0; j < out; j++)
            sum += delta[i * out + j] * w[k * out + j];
        hidden_delta[i * in + k] = sum * hidden[i * in + k] * (1 - hidden[i * in + k]);
    }
}

extern "C" __global__ void mlp_update(float *x, float *delta, float *w, float *b, int batch, int in, int out,
                                      float rate) {
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int k = blockIdx.y * blockDim.y + threadIdx.y;
    if (k < in && j < out) {
        float gradient = 0;
        for (int i = 0; i < batch; i++)
            gradient += x[i * in + k] * delta[i * out + j];
        w[k * out + j] -= rate * gradient / batch;
        if (k == 0) {
            float bias = 0;
            for (int i = 0; i < batch; i++)
                bias += delta[i * out + j];
            b[j] -= rate * bias / batch;
        }
    }
}
