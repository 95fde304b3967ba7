// A layer of a network with padding: a thread for each result, and `continue` for what lies outside.
extern "C" __global__ void conv_nchw(const float *__restrict__ x, const float *__restrict__ weight, const float *__restrict__ bias,
                                     float *__restrict__ y, int n, int ci, int h, int w, int co, int k, int pad) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n * co * h * w)
        return;
    int ow = i % w, oh = i / w % h, oc = i / (w * h) % co, b = i / (w * h * co);
    float sum = bias[oc];
    for (int c = 0; c < ci; c++)
        for (int kh = 0; kh < k; kh++) {
            int ih = oh - pad + kh;
            if (ih < 0 || ih >= h)
                continue;
            for (int kw = 0; kw < k; kw++) {
                int iw = ow - pad + kw;
                if (iw < 0 || iw >= w)
                    continue;
                sum += x[((b * ci + c) * h + ih) * w + iw] * weight[((oc * ci + c) * k + kh) * k + kw];
            }
        }
    y[i] = sum;
}
