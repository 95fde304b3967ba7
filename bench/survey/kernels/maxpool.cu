extern "C" __global__ void pool(const float *__restrict__ in, float *__restrict__ out, int oh, int ow) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int x = i % ow, y = (i / ow) % oh, c = i / (ow * oh);
    const float *p = in + (size_t)c * oh * ow * 4 + (2 * y) * (2 * ow) + 2 * x;
    out[i] = fmaxf(fmaxf(p[0], p[1]), fmaxf(p[2 * ow], p[2 * ow + 1]));
}
