// The recurrence of RWKV (version 4) without overflow, forwards and backwards: a thread for each channel of each
// sequence, with what the way back needs in arrays of its own.
#define MAX_T 256

template <typename F>
__device__ void forward_body(int T, int C, const F *__restrict__ w_, const F *__restrict__ u_,
                             const F *__restrict__ k_, const F *__restrict__ v_, F *__restrict__ y_) {
    const int idx = blockIdx.x * blockDim.x + threadIdx.x;
    const int b = idx / C, c = idx % C;
    const size_t offset = (size_t)b * T * C + c;
    const F w = -expf(w_[c]), u = u_[c];
    const F *__restrict__ k = k_ + offset, *__restrict__ v = v_ + offset;
    F *__restrict__ y = y_ + offset;
    F p = 0, q = 0, o = -1e38f;
    for (int i = 0; i < T; i++) {
        const size_t at = (size_t)i * C;
        F next = fmaxf(o, u + k[at]);
        F a = expf(o - next), e = expf(u + k[at] - next);
        y[at] = (a * p + e * v[at]) / (a * q + e);
        next = fmaxf(w + o, k[at]);
        a = expf(w + o - next);
        e = expf(k[at] - next);
        p = a * p + e * v[at];
        q = a * q + e;
        o = next;
    }
}

template <typename F>
__device__ void backward_body(int T, int C, const F *__restrict__ w_, const F *__restrict__ u_,
                              const F *__restrict__ k_, const F *__restrict__ v_, const F *__restrict__ gy_,
                              F *__restrict__ gw_, F *__restrict__ gu_, F *__restrict__ gk_, F *__restrict__ gv_) {
    const int idx = blockIdx.x * blockDim.x + threadIdx.x;
    const int b = idx / C, c = idx % C;
    const size_t offset = (size_t)b * T * C + c;
    const F w = -expf(w_[c]), u = u_[c];
    const F *__restrict__ k = k_ + offset, *__restrict__ v = v_ + offset, *__restrict__ gy = gy_ + offset;
    F *__restrict__ gk = gk_ + offset, *__restrict__ gv = gv_ + offset;

    F y[MAX_T], z[MAX_T], zexp[MAX_T];
    F gw = 0, gu = 0, p = 0, q = 0, dpdw = 0, dqdw = 0, o = -1e38f;
    for (int i = 0; i < T; i++) {
        const size_t at = (size_t)i * C;
        F next = fmaxf(o, k[at] + u);
        F a = expf(o - next), e = expf(k[at] + u - next);
        const F num = a * p + e * v[at], iden = 1.0f / (a * q + e);
        y[i] = num * iden;
        z[i] = iden;
        zexp[i] = k[at] + u - next;
        gw += gy[at] * (dpdw - dqdw * y[i]) * iden * a;
        gu += gy[at] * (v[at] - y[i]) * e * iden;
        next = fmaxf(w + o, k[at]);
        a = expf(w + o - next);
        e = expf(k[at] - next);
        dpdw = a * (p + dpdw);
        dqdw = a * (q + dqdw);
        p = a * p + e * v[at];
        q = a * q + e;
        o = next;
    }
    F gp = 0, gq = 0;
    o = -1e38f;
    for (int i = T - 1; i >= 0; i--) {
        const size_t at = (size_t)i * C;
        F a = gy[at] * z[i] * expf(zexp[i]), e = expf(k[at] + o);
        gk[at] = a * (v[at] - y[i]) + e * (gp * v[at] + gq);
        gv[at] = a + e * gp;
        const F next = fmaxf(w + o, zexp[i] - k[at] - u);
        a = expf(w + o - next);
        e = gy[at] * z[i] * expf(zexp[i] - k[at] - u - next);
        gp = a * gp + e;
        gq = a * gq - e * y[i];
        o = next;
    }
    gw_[idx] = gw * w;  // to be summed over sequences
    gu_[idx] = gu;
}

extern "C" __global__ void wkv_forward(int T, int C, const float *w, const float *u, const float *k, const float *v,
                                       float *y) {
    forward_body<float>(T, C, w, u, k, v, y);
}

extern "C" __global__ void wkv_backward(int T, int C, const float *w, const float *u, const float *k, const float *v,
                                        const float *gy, float *gw, float *gu, float *gk, float *gv) {
    backward_body<float>(T, C, w, u, k, v, gy, gw, gu, gk, gv);
}
