// Blelloch's scan of 512 numbers a CTA, with places that avoid conflicts of banks.
#define PLACE(i) ((i) + ((i) >> 5))

extern "C" __global__ void blelloch(const float *__restrict__ in, float *__restrict__ out) {
    __shared__ float s[PLACE(512)];
    int tid = threadIdx.x, n = 512, offset = 1, a = tid, b = tid + n / 2;
    size_t start = (size_t)blockIdx.x * n;
    s[PLACE(a)] = in[start + a];
    s[PLACE(b)] = in[start + b];
    for (int d = n >> 1; d > 0; d >>= 1) {
        __syncthreads();
        if (tid < d) {
            int i = PLACE(offset * (2 * tid + 1) - 1), j = PLACE(offset * (2 * tid + 2) - 1);
            s[j] += s[i];
        }
        offset *= 2;
    }
    if (tid == 0)
        s[PLACE(n - 1)] = 0;
    for (int d = 1; d < n; d *= 2) {
        offset >>= 1;
        __syncthreads();
        if (tid < d) {
            int i = PLACE(offset * (2 * tid + 1) - 1), j = PLACE(offset * (2 * tid + 2) - 1);
            float t = s[i];
            s[i] = s[j];
            s[j] += t;
        }
    }
    __syncthreads();
    out[start + a] = s[PLACE(a)];
    out[start + b] = s[PLACE(b)];
}
