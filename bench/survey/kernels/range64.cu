// The largest minus the smallest of a number's neighbours; indices of 64 bits.
extern "C" __global__ void range64(const float *in, float *out, long long n, int r) {
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float least = in[i], most = least;
    for (int d = -r; d <= r; d++) {
        long long j = i + d;
        if (j >= 0 && j < n) {
            least = fminf(least, in[j]);
            most = fmaxf(most, in[j]);
        }
    }
    out[i] = most - least;
}
