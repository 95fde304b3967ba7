// Deformable attention over several feature maps: each head of a query samples each map at a few places between
// pixels (zeros outside) and sums by weights; a thread for each channel of the result, in a grid-stride loop.
#define CUDA_KERNEL_LOOP(i, n) for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < (n); i += blockDim.x * gridDim.x)

template <typename scalar_t>
__device__ scalar_t bilinear(const scalar_t *bottom_data, const int height, const int width, const int nheads,
                             const int channels, const scalar_t h, const scalar_t w, const int m, const int c) {
    const int h_low = floorf(h);
    const int w_low = floorf(w);
    const int h_high = h_low + 1;
    const int w_high = w_low + 1;
    const scalar_t lh = h - h_low;
    const scalar_t lw = w - w_low;
    const scalar_t hh = 1 - lh, hw = 1 - lw;

    const int w_stride = nheads * channels;
    const int h_stride = width * w_stride;
    const int base_ptr = m * channels + c;

    scalar_t v1 = 0, v2 = 0, v3 = 0, v4 = 0;
    if (h_low >= 0 && w_low >= 0)
        v1 = bottom_data[h_low * h_stride + w_low * w_stride + base_ptr];
    if (h_low >= 0 && w_high <= width - 1)
        v2 = bottom_data[h_low * h_stride + w_high * w_stride + base_ptr];
    if (h_high <= height - 1 && w_low >= 0)
        v3 = bottom_data[h_high * h_stride + w_low * w_stride + base_ptr];
    if (h_high <= height - 1 && w_high <= width - 1)
        v4 = bottom_data[h_high * h_stride + w_high * w_stride + base_ptr];
    return hh * hw * v1 + hh * lw * v2 + lh * hw * v3 + lh * lw * v4;
}

extern "C" __global__ void deform_attn(const int n, const float *value, const long long *spatial_shapes,
                                       const long long *level_start, const float *sampling_loc,
                                       const float *attn_weight, const int spatial_size, const int num_heads,
                                       const int channels, const int num_levels, const int num_query,
                                       const int num_point, float *out) {
    CUDA_KERNEL_LOOP(index, n) {
        int temp = index;
        const int c = temp % channels;
        temp /= channels;
        const int sampling_index = temp;
        const int m = temp % num_heads;
        temp /= num_heads;
        temp /= num_query;
        const int b = temp;

        int weight_ptr = sampling_index * num_levels * num_point;
        int loc_ptr = weight_ptr << 1;
        const int qid_stride = num_heads * channels;
        float col = 0;
        for (int l = 0; l < num_levels; ++l) {
            const int start = level_start[l];
            const int h = spatial_shapes[l << 1];
            const int w = spatial_shapes[(l << 1) + 1];
            const float *data = value + (size_t)(b * spatial_size + start) * qid_stride;
            for (int p = 0; p < num_point; ++p) {
                const float loc_w = sampling_loc[loc_ptr];
                const float loc_h = sampling_loc[loc_ptr + 1];
                const float weight = attn_weight[weight_ptr];
                const float h_im = loc_h * h - 0.5f;
                const float w_im = loc_w * w - 0.5f;
                if (h_im > -1 && w_im > -1 && h_im < h && w_im < w)
                    col += bilinear(data, h, w, num_heads, channels, h_im, w_im, m, c) * weight;
                weight_ptr += 1;
                loc_ptr += 2;
            }
        }
        out[index] = col;
    }
}
