// A signal of several channels drawn out by a step and smoothed: each output looks for the inputs that reach it.
extern "C" __global__ void spread_taps(const float *in, const float *taps, float *out, int length, int out_length,
                                       int width, int step, int inputs, int outputs) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= outputs * out_length)
        return;
    int channel = i / out_length, at = i % out_length;
    float sum = 0.0f;
    for (int c = 0; c < inputs; c++)
        for (int k = 0; k < length; k++) {
            int tap = at - k * step;
            if (tap >= 0 && tap < width)
                sum += in[c * length + k] * taps[(c * outputs + channel) * width + tap];
        }
    out[i] = sum;
}
