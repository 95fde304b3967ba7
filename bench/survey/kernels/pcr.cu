// Tridiagonal systems of 256 rows, one for each CTA, by parallel cyclic reduction.
#define N 256

extern "C" __global__ void pcr(const float *a, const float *b, const float *c, const float *d, float *x) {
    __shared__ float sa[N], sb[N], sc[N], sd[N];
    int t = threadIdx.x, i = blockIdx.x * N + t;
    sa[t] = t ? a[i] : 0;
    sb[t] = b[i];
    sc[t] = t < N - 1 ? c[i] : 0;
    sd[t] = d[i];
    __syncthreads();
    for (int s = 1; s < N; s *= 2) {
        int l = t - s < 0 ? 0 : t - s, r = t + s > N - 1 ? N - 1 : t + s;
        float k1 = t - s < 0 ? 0 : sa[t] / sb[l], k2 = t + s > N - 1 ? 0 : sc[t] / sb[r];
        float na = -sa[l] * k1, nb = sb[t] - sc[l] * k1 - sa[r] * k2;
        float nc = -sc[r] * k2, nd = sd[t] - sd[l] * k1 - sd[r] * k2;
        __syncthreads();
        sa[t] = na;
        sb[t] = nb;
        sc[t] = nc;
        sd[t] = nd;
        __syncthreads();
    }
    x[i] = sd[t] / sb[t];
}
