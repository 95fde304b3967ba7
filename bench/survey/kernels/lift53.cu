// A level of the reversible 5/3 wavelet of JPEG 2000 on rows: a CTA for each row, in shared memory.
extern "C" __global__ void lift(const short *in, short *out, int w) {
    extern __shared__ int s[];
    const short *row = in + blockIdx.x * w;
    int half = w / 2;
    for (int i = threadIdx.x; i < w; i += blockDim.x)
        s[i] = row[i];
    __syncthreads();
    for (int i = threadIdx.x; i < half; i += blockDim.x) {
        int right = 2 * i + 2 < w ? s[2 * i + 2] : s[2 * i];
        s[2 * i + 1] -= (s[2 * i] + right) >> 1;
    }
    __syncthreads();
    for (int i = threadIdx.x; i < half; i += blockDim.x) {
        int left = i > 0 ? s[2 * i - 1] : s[1];
        s[2 * i] += (left + s[2 * i + 1] + 2) >> 2;
    }
    __syncthreads();
    for (int i = threadIdx.x; i < half; i += blockDim.x) {
        out[blockIdx.x * w + i] = s[2 * i];
        out[blockIdx.x * w + half + i] = s[2 * i + 1];
    }
}
