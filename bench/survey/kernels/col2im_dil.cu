// Unfolding pictures into columns with dilation, stride and padding, and folding columns back by gathering, as
// convolutions and their gradients use them.
#include <cuda_fp16.h>

#define CUDA_1D_KERNEL_LOOP(i, n)                                                                                    \
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < (n); i += blockDim.x * gridDim.x)

template <typename dt>
__device__ void im2col(const int n, const dt *data_im, const int height, const int width, const int kernel_h,
                       const int kernel_w, const int pad_h, const int pad_w, const int stride_h, const int stride_w,
                       const int dil_h, const int dil_w, const int height_col, const int width_col, dt *data_col) {
    CUDA_1D_KERNEL_LOOP(index, n) {
        int w_out = index % width_col;
        int idx = index / width_col;
        int h_out = idx % height_col;
        int channel_in = idx / height_col;
        int channel_out = channel_in * kernel_h * kernel_w;
        int h_in = h_out * stride_h - pad_h, w_in = w_out * stride_w - pad_w;
        dt *col = data_col + (channel_out * height_col + h_out) * width_col + w_out;
        const dt *im = data_im + (channel_in * height + h_in) * width + w_in;
        for (int i = 0; i < kernel_h; ++i) {
            for (int j = 0; j < kernel_w; ++j) {
                int h = h_in + i * dil_h, w = w_in + j * dil_w;
                *col = (h >= 0 && w >= 0 && h < height && w < width) ? im[i * dil_h * width + j * dil_w]
                                                                     : static_cast<dt>(0);
                col += height_col * width_col;
            }
        }
    }
}

template <typename dt, typename accT>
__device__ void col2im(const int n, const dt *data_col, const int height, const int width, const int kernel_h,
                       const int kernel_w, const int pad_h, const int pad_w, const int stride_h, const int stride_w,
                       const int dil_h, const int dil_w, const int height_col, const int width_col, dt *data_im) {
    CUDA_1D_KERNEL_LOOP(index, n) {
        accT val = static_cast<accT>(0);
        const int w_im = index % width + pad_w;
        const int h_im = (index / width) % height + pad_h;
        const int c_im = index / (width * height);
        int kernel_extent_w = (kernel_w - 1) * dil_w + 1;
        int kernel_extent_h = (kernel_h - 1) * dil_h + 1;
        const int w_start = (w_im < kernel_extent_w) ? 0 : (w_im - kernel_extent_w) / stride_w + 1;
        const int w_end = ::min(w_im / stride_w + 1, width_col);
        const int h_start = (h_im < kernel_extent_h) ? 0 : (h_im - kernel_extent_h) / stride_h + 1;
        const int h_end = ::min(h_im / stride_h + 1, height_col);
        for (int h_col = h_start; h_col < h_end; h_col += 1) {
            for (int w_col = w_start; w_col < w_end; w_col += 1) {
                int h_k = (h_im - h_col * stride_h), w_k = (w_im - w_col * stride_w);
                if (h_k % dil_h == 0 && w_k % dil_w == 0) {
                    h_k /= dil_h;
                    w_k /= dil_w;
                    int data_col_index =
                        (((c_im * kernel_h + h_k) * kernel_w + w_k) * height_col + h_col) * width_col + w_col;
                    val += static_cast<accT>(data_col[data_col_index]);
                }
            }
        }
        data_im[index] = static_cast<dt>(val);
    }
}

extern "C" __global__ void __launch_bounds__(512)
    im2col_half(int n, const half *im, int height, int width, int kh, int kw, int ph, int pw, int sh, int sw, int dh,
                int dw, int hc, int wc, half *col) {
    im2col<half>(n, im, height, width, kh, kw, ph, pw, sh, sw, dh, dw, hc, wc, col);
}

extern "C" __global__ void __launch_bounds__(512)
    col2im_float(int n, const float *col, int height, int width, int kh, int kw, int ph, int pw, int sh, int sw,
                 int dh, int dw, int hc, int wc, float *im) {
    col2im<float, float>(n, col, height, width, kh, kw, ph, pw, sh, sw, dh, dw, hc, wc, im);
}
