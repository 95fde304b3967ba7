// Bicubic interpolation of pictures and its gradient: a thread a pixel of the larger picture goes over images and
// channels; the gradient goes by atomics to 16 pixels.
template <typename opmath_t>
__device__ __forceinline__ opmath_t source_index(opmath_t scale, int dst_index, bool align_corners) {
    if (align_corners)
        return scale * dst_index;
    return scale * (dst_index + static_cast<opmath_t>(0.5)) - static_cast<opmath_t>(0.5);
}

template <typename T> __device__ __forceinline__ T convolution1(T x, T A) {
    return ((A + 2) * x - (A + 3)) * x * x + 1;
}

template <typename T> __device__ __forceinline__ T convolution2(T x, T A) {
    return ((A * x - 5 * A) * x + 8 * A) * x - 4 * A;
}

template <typename T> __device__ __forceinline__ void cubic_coefficients(T coeffs[4], T t) {
    T A = -0.75;
    T x1 = t;
    coeffs[0] = convolution2<T>(x1 + 1.0f, A);
    coeffs[1] = convolution1<T>(x1, A);
    T x2 = 1.0f - t;
    coeffs[2] = convolution1<T>(x2, A);
    coeffs[3] = convolution2<T>(x2 + 1.0f, A);
}

template <typename scalar_t, typename opmath_t>
__device__ __forceinline__ opmath_t interp1d(scalar_t x0, scalar_t x1, scalar_t x2, scalar_t x3, opmath_t t) {
    opmath_t coeffs[4];
    cubic_coefficients<opmath_t>(coeffs, t);
    return x0 * coeffs[0] + x1 * coeffs[1] + x2 * coeffs[2] + x3 * coeffs[3];
}

template <typename scalar_t>
__device__ __forceinline__ scalar_t bounded(const scalar_t *plane, int height, int width, int y, int x) {
    return plane[max(min(y, height - 1), 0) * width + max(min(x, width - 1), 0)];
}

extern "C" __global__ void __launch_bounds__(512)
    bicubic_up(int num_elements, float height_scale, float width_scale, int align_corners, const float *idata,
               float *odata, int planes, int in_h, int in_w, int out_h, int out_w) {
    int index = threadIdx.x + blockIdx.x * blockDim.x;
    if (index >= num_elements)
        return;
    const int out_x = index % out_w, out_y = index / out_w;
    float real_x = source_index(width_scale, out_x, align_corners != 0);
    int x = floorf(real_x);
    float t_x = real_x - x;
    float real_y = source_index(height_scale, out_y, align_corners != 0);
    int y = floorf(real_y);
    float t_y = real_y - y;
    for (int p = 0; p < planes; p++) {
        const float *plane = idata + p * in_h * in_w;
        float coefficients[4];
#pragma unroll
        for (int k = 0; k < 4; k++)
            coefficients[k] = interp1d(bounded(plane, in_h, in_w, y - 1 + k, x - 1),
                                       bounded(plane, in_h, in_w, y - 1 + k, x + 0),
                                       bounded(plane, in_h, in_w, y - 1 + k, x + 1),
                                       bounded(plane, in_h, in_w, y - 1 + k, x + 2), t_x);
        odata[(p * out_h + out_y) * out_w + out_x] =
            interp1d(coefficients[0], coefficients[1], coefficients[2], coefficients[3], t_y);
    }
}

extern "C" __global__ void bicubic_zero(float *data, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        data[i] = 0.0f;
}

extern "C" __global__ void __launch_bounds__(512)
    bicubic_backward(int num_elements, float height_scale, float width_scale, int align_corners, float *grad_in,
                     const float *grad_out, int planes, int in_h, int in_w, int out_h, int out_w) {
    int index = threadIdx.x + blockIdx.x * blockDim.x;
    if (index >= num_elements)
        return;
    const int out_x = index % out_w, out_y = index / out_w;
    float real_x = source_index(width_scale, out_x, align_corners != 0);
    int x = floorf(real_x);
    float real_y = source_index(height_scale, out_y, align_corners != 0);
    int y = floorf(real_y);
    float x_coeffs[4], y_coeffs[4];
    cubic_coefficients(x_coeffs, real_x - x);
    cubic_coefficients(y_coeffs, real_y - y);
    for (int p = 0; p < planes; p++) {
        float g = grad_out[(p * out_h + out_y) * out_w + out_x];
        for (int i = 0; i < 4; i++)
            for (int j = 0; j < 4; j++) {
                int yy = max(min(y - 1 + i, in_h - 1), 0), xx = max(min(x - 1 + j, in_w - 1), 0);
                atomicAdd(&grad_in[(p * in_h + yy) * in_w + xx], g * y_coeffs[i] * x_coeffs[j]);
            }
    }
}
