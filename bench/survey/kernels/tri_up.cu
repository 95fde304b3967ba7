// Volumes enlarged by trilinear interpolation, a thread for each place of a plane of all outputs that loops over
// images and channels; the gradient by atomics.
template <typename accscalar_t>
__device__ __forceinline__ accscalar_t source_index(accscalar_t scale, int dst_index, bool align_corners) {
    if (align_corners)
        return scale * dst_index;
    accscalar_t src = scale * (dst_index + static_cast<accscalar_t>(0.5)) - static_cast<accscalar_t>(0.5);
    return src < static_cast<accscalar_t>(0) ? static_cast<accscalar_t>(0) : src;
}

struct Volume {
    int n, c, t, h, w;
    long long stride[5];

    __device__ long long at(int in, int ic, int it, int ih, int iw) const {
        return in * stride[0] + ic * stride[1] + it * stride[2] + ih * stride[3] + iw * stride[4];
    }
};

extern "C" __global__ __launch_bounds__(512) void tri_forward(int n, float rdepth, float rheight, float rwidth,
                                                              bool align_corners, const float *idata, Volume in,
                                                              float *odata, Volume out) {
    int index = threadIdx.x + blockIdx.x * blockDim.x;
    if (index < n) {
        const int w2 = (index % (out.h * out.w)) % out.w;
        const int h2 = (index % (out.h * out.w)) / out.w;
        const int t2 = index / (out.h * out.w);
        if (in.t == out.t && in.h == out.h && in.w == out.w) {
            for (int b = 0; b < in.n; b++)
                for (int c = 0; c < in.c; ++c)
                    odata[out.at(b, c, t2, h2, w2)] = idata[in.at(b, c, t2, h2, w2)];
            return;
        }
        const float t1r = source_index<float>(rdepth, t2, align_corners);
        const int t1 = t1r, t1p = (t1 < in.t - 1) ? 1 : 0;
        const float t1lambda = t1r - t1, t0lambda = 1.0f - t1lambda;
        const float h1r = source_index<float>(rheight, h2, align_corners);
        const int h1 = h1r, h1p = (h1 < in.h - 1) ? 1 : 0;
        const float h1lambda = h1r - h1, h0lambda = 1.0f - h1lambda;
        const float w1r = source_index<float>(rwidth, w2, align_corners);
        const int w1 = w1r, w1p = (w1 < in.w - 1) ? 1 : 0;
        const float w1lambda = w1r - w1, w0lambda = 1.0f - w1lambda;
        for (int b = 0; b < in.n; b++)
            for (int c = 0; c < in.c; ++c) {
                const float val =
                    t0lambda * (h0lambda * (w0lambda * idata[in.at(b, c, t1, h1, w1)] +
                                            w1lambda * idata[in.at(b, c, t1, h1, w1 + w1p)]) +
                                h1lambda * (w0lambda * idata[in.at(b, c, t1, h1 + h1p, w1)] +
                                            w1lambda * idata[in.at(b, c, t1, h1 + h1p, w1 + w1p)])) +
                    t1lambda * (h0lambda * (w0lambda * idata[in.at(b, c, t1 + t1p, h1, w1)] +
                                            w1lambda * idata[in.at(b, c, t1 + t1p, h1, w1 + w1p)]) +
                                h1lambda * (w0lambda * idata[in.at(b, c, t1 + t1p, h1 + h1p, w1)] +
                                            w1lambda * idata[in.at(b, c, t1 + t1p, h1 + h1p, w1 + w1p)]));
                odata[out.at(b, c, t2, h2, w2)] = val;
            }
    }
}

extern "C" __global__ __launch_bounds__(256) void tri_backward(int n, float rdepth, float rheight, float rwidth,
                                                               bool align_corners, float *idata, Volume in,
                                                               const float *odata, Volume out) {
    int index = threadIdx.x + blockIdx.x * blockDim.x;
    if (index >= n)
        return;
    const int w2 = (index % (out.h * out.w)) % out.w;
    const int h2 = (index % (out.h * out.w)) / out.w;
    const int t2 = index / (out.h * out.w);
    const float t1r = source_index<float>(rdepth, t2, align_corners);
    const int t1 = t1r, t1p = (t1 < in.t - 1) ? 1 : 0;
    const float t1lambda = t1r - t1, t0lambda = 1.0f - t1lambda;
    const float h1r = source_index<float>(rheight, h2, align_corners);
    const int h1 = h1r, h1p = (h1 < in.h - 1) ? 1 : 0;
    const float h1lambda = h1r - h1, h0lambda = 1.0f - h1lambda;
    const float w1r = source_index<float>(rwidth, w2, align_corners);
    const int w1 = w1r, w1p = (w1 < in.w - 1) ? 1 : 0;
    const float w1lambda = w1r - w1, w0lambda = 1.0f - w1lambda;
    for (int b = 0; b < in.n; b++)
        for (int c = 0; c < in.c; ++c) {
            const float g = odata[out.at(b, c, t2, h2, w2)];
            atomicAdd(idata + in.at(b, c, t1, h1, w1), t0lambda * h0lambda * w0lambda * g);
            atomicAdd(idata + in.at(b, c, t1, h1, w1 + w1p), t0lambda * h0lambda * w1lambda * g);
            atomicAdd(idata + in.at(b, c, t1, h1 + h1p, w1), t0lambda * h1lambda * w0lambda * g);
            atomicAdd(idata + in.at(b, c, t1, h1 + h1p, w1 + w1p), t0lambda * h1lambda * w1lambda * g);
            atomicAdd(idata + in.at(b, c, t1 + t1p, h1, w1), t1lambda * h0lambda * w0lambda * g);
            atomicAdd(idata + in.at(b, c, t1 + t1p, h1, w1 + w1p), t1lambda * h0lambda * w1lambda * g);
            atomicAdd(idata + in.at(b, c, t1 + t1p, h1 + h1p, w1), t1lambda * h1lambda * w0lambda * g);
            atomicAdd(idata + in.at(b, c, t1 + t1p, h1 + h1p, w1 + w1p), t1lambda * h1lambda * w1lambda * g);
        }
}
