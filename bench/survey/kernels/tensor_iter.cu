// Element-wise operations on tensors with any strides: an index becomes offsets through divisions by multiplication,
// up to six dimensions; four elements for each of 128 threads.
struct IntDivider {
    unsigned divisor, magic, shift;
};

template <int NARGS> struct OffsetCalculator {
    int dims;
    IntDivider sizes[6];
    unsigned strides[6][NARGS];

    __device__ __forceinline__ void get(unsigned linear, unsigned (&offsets)[NARGS]) const {
#pragma unroll
        for (int arg = 0; arg < NARGS; arg++)
            offsets[arg] = 0;
#pragma unroll
        for (int dim = 0; dim < 6; ++dim) {
            if (dim == dims)
                break;
            unsigned t = __umulhi(linear, sizes[dim].magic);
            unsigned div = (t + linear) >> sizes[dim].shift;
            unsigned mod = linear - div * sizes[dim].divisor;
            linear = div;
#pragma unroll
            for (int arg = 0; arg < NARGS; arg++)
                offsets[arg] += mod * strides[dim][arg];
        }
    }
};

template <int nt, int vt, typename F> __device__ __forceinline__ void elementwise(int n, F f) {
    int idx = nt * vt * blockIdx.x + threadIdx.x;
#pragma unroll
    for (int i = 0; i < vt; i++) {
        if (idx < n) {
            f(idx);
            idx += nt;
        }
    }
}

extern "C" __global__ void __launch_bounds__(128, 4)
    iter_addcmul(char *out, const char *self, const char *t1, const char *t2, int n, float value,
                 OffsetCalculator<4> calc) {
    elementwise<128, 4>(n, [=](int idx) {
        unsigned o[4];
        calc.get(idx, o);
        *(float *)(out + o[0]) = *(const float *)(self + o[1]) + value * *(const float *)(t1 + o[2]) *
                                                                     *(const float *)(t2 + o[3]);
    });
}

extern "C" __global__ void __launch_bounds__(128, 4)
    iter_where(char *out, const char *mask, const char *a, int n, double other, OffsetCalculator<3> calc) {
    elementwise<128, 4>(n, [=](int idx) {
        unsigned o[3];
        calc.get(idx, o);
        bool m = *(const unsigned char *)(mask + o[1]) != 0;
        *(double *)(out + o[0]) = m ? (double)*(const float *)(a + o[2]) : other;
    });
}
