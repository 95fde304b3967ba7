// A layer of a convolutional network, forward: a thread for each output, images in the grid's z.
#define T 16

extern "C" __global__ void conv_layer(float *out, const float *in, const float *filter, int M, int C, int H, int W,
                                      int K) {
    int Ho = H - K + 1, Wo = W - K + 1, across = (Wo + T - 1) / T;
    int m = blockIdx.x, b = blockIdx.z;
    int h = blockIdx.y / across * T + threadIdx.y, w = blockIdx.y % across * T + threadIdx.x;
    if (h < Ho && w < Wo) {
        float acc = 0.0f;
        for (int c = 0; c < C; c++)
            for (int p = 0; p < K; p++)
                for (int q = 0; q < K; q++)
                    acc += in[((b * C + c) * H + h + p) * W + w + q] * filter[((m * C + c) * K + p) * K + q];
        out[((b * M + m) * Ho + h) * Wo + w] = acc;
    }
}
