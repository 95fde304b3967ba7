// Content-aware reassembly of features: an output pixel is a sum of 5 x 5 input pixels with weights of its own, that
// all channels of a group share; and both gradients, that of the features by atomics.
#define CUDA_1D_KERNEL_LOOP(i, n)                                                                                    \
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < (n); i += blockDim.x * gridDim.x)

__device__ inline int Loc2Index(const int n, const int c, const int h, const int w, const int channel_num,
                                const int height, const int width) {
    return w + (h + (c + n * channel_num) * height) * width;
}

template <typename scalar_t>
__device__ void carafe_naive_forward(const int nthreads, const scalar_t *bottom_data, const scalar_t *bottom_masks,
                                     scalar_t *top_data, const int kernel_size, const int group_size,
                                     const int scale_factor, const int channels, const int height, const int width) {
    CUDA_1D_KERNEL_LOOP(index, nthreads) {
        int pw = index % width, ph = (index / width) % height;
        int c = (index / width / height) % channels, n = index / width / height / channels;
        int mask_channels = kernel_size * kernel_size * group_size;
        int mask_group = c / (channels / group_size);
        int down_pw = pw / scale_factor, down_ph = ph / scale_factor;
        int down_width = width / scale_factor, down_height = height / scale_factor;
        int start_w = down_pw - (kernel_size - 1) / 2, end_w = down_pw + (kernel_size - 1) / 2 + 1;
        int start_h = down_ph - (kernel_size - 1) / 2, end_h = down_ph + (kernel_size - 1) / 2 + 1;
        scalar_t output_val = 0;
        for (int iy = start_h; iy < end_h; iy++) {
            for (int ix = start_w; ix < end_w; ix++) {
                if (iy < 0 || iy > down_height - 1 || ix < 0 || ix > down_width - 1)
                    continue;
                int mask_iy = iy - down_ph + (kernel_size - 1) / 2;
                int mask_ix = ix - down_pw + (kernel_size - 1) / 2;
                int mask_c = (mask_group * kernel_size + mask_iy) * kernel_size + mask_ix;
                output_val += bottom_data[Loc2Index(n, c, iy, ix, channels, down_height, down_width)] *
                              bottom_masks[Loc2Index(n, mask_c, ph, pw, mask_channels, height, width)];
            }
        }
        top_data[index] = output_val;
    }
}

template <typename scalar_t>
__device__ void carafe_naive_backward(const int nthreads, const scalar_t *top_diff, const scalar_t *bottom_data,
                                      const scalar_t *bottom_masks, scalar_t *bottom_diff, scalar_t *mask_diff,
                                      const int kernel_size, const int group_size, const int scale_factor,
                                      const int channels, const int height, const int width) {
    CUDA_1D_KERNEL_LOOP(index, nthreads) {
        int pw = index % width, ph = (index / width) % height;
        int c = (index / width / height) % channels, n = index / width / height / channels;
        int mask_channels = kernel_size * kernel_size * group_size;
        int mask_group = c / (channels / group_size);
        int down_pw = pw / scale_factor, down_ph = ph / scale_factor;
        int down_width = width / scale_factor, down_height = height / scale_factor;
        int start_w = down_pw - (kernel_size - 1) / 2, end_w = down_pw + (kernel_size - 1) / 2 + 1;
        int start_h = down_ph - (kernel_size - 1) / 2, end_h = down_ph + (kernel_size - 1) / 2 + 1;
        for (int iy = start_h; iy < end_h; iy++) {
            for (int ix = start_w; ix < end_w; ix++) {
                if (iy < 0 || iy > down_height - 1 || ix < 0 || ix > down_width - 1)
                    continue;
                int mask_iy = iy - down_ph + (kernel_size - 1) / 2;
                int mask_ix = ix - down_pw + (kernel_size - 1) / 2;
                int mask_c = (mask_group * kernel_size + mask_iy) * kernel_size + mask_ix;
                int feat_index = Loc2Index(n, c, iy, ix, channels, down_height, down_width);
                int mask_index = Loc2Index(n, mask_c, ph, pw, mask_channels, height, width);
                atomicAdd(bottom_diff + feat_index, bottom_masks[mask_index] * top_diff[index]);
                atomicAdd(mask_diff + mask_index, bottom_data[feat_index] * top_diff[index]);
            }
        }
    }
}

extern "C" __global__ void carafe(int n, const float *data, const float *masks, float *top, int k, int groups,
                                  int scale, int channels, int height, int width) {
    carafe_naive_forward<float>(n, data, masks, top, k, groups, scale, channels, height, width);
}

extern "C" __global__ void carafe_grad(int n, const float *top_diff, const float *data, const float *masks,
                                       float *data_diff, float *mask_diff, int k, int groups, int scale,
                                       int channels, int height, int width) {
    carafe_naive_backward<float>(n, top_diff, data, masks, data_diff, mask_diff, k, groups, scale, channels, height,
                                 width);
}
