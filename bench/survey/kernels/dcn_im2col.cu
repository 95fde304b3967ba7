// A deformable convolution's columns (places with offsets, and a mask), the gradient of the image by atomics over a
// neighbourhood, and gradients of offsets and mask by a thread each.
#define CUDA_KERNEL_LOOP(i, n) for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < (n); i += blockDim.x * gridDim.x)

struct Conv {
    int height, width, kernel_h, kernel_w, pad_h, pad_w, stride_h, stride_w, dilation_h, dilation_w;
    int channels, channel_per_deformable_group, batch_size, deformable_group, height_col, width_col;
};

template <typename T>
__device__ T dmcn_im2col_bilinear(const T *input, int data_width, int height, int width, T h, T w) {
    int h_low = floorf(h), w_low = floorf(w);
    int h_high = h_low + 1, w_high = w_low + 1;
    T lh = h - h_low, lw = w - w_low, hh = 1 - lh, hw = 1 - lw;
    T v1 = 0, v2 = 0, v3 = 0, v4 = 0;
    if (h_low >= 0 && w_low >= 0)
        v1 = input[h_low * data_width + w_low];
    if (h_low >= 0 && w_high <= width - 1)
        v2 = input[h_low * data_width + w_high];
    if (h_high <= height - 1 && w_low >= 0)
        v3 = input[h_high * data_width + w_low];
    if (h_high <= height - 1 && w_high <= width - 1)
        v4 = input[h_high * data_width + w_high];
    return hh * hw * v1 + hh * lw * v2 + lh * hw * v3 + lh * lw * v4;
}

template <typename T>
__device__ T get_gradient_weight(T argmax_h, T argmax_w, int h, int w, int height, int width) {
    if (argmax_h <= -1 || argmax_h >= height || argmax_w <= -1 || argmax_w >= width)
        return 0;
    int low_h = floorf(argmax_h), low_w = floorf(argmax_w);
    int high_h = low_h + 1, high_w = low_w + 1;
    T weight = 0;
    if (h == low_h && w == low_w)
        weight = (h + 1 - argmax_h) * (w + 1 - argmax_w);
    if (h == low_h && w == high_w)
        weight = (h + 1 - argmax_h) * (argmax_w + 1 - w);
    if (h == high_h && w == low_w)
        weight = (argmax_h + 1 - h) * (w + 1 - argmax_w);
    if (h == high_h && w == high_w)
        weight = (argmax_h + 1 - h) * (argmax_w + 1 - w);
    return weight;
}

template <typename T>
__device__ T get_coordinate_weight(T argmax_h, T argmax_w, int height, int width, const T *im_data, int data_width,
                                   int bp_dir) {
    if (argmax_h <= -1 || argmax_h >= height || argmax_w <= -1 || argmax_w >= width)
        return 0;
    int low_h = floorf(argmax_h), low_w = floorf(argmax_w);
    int high_h = low_h + 1, high_w = low_w + 1;
    T weight = 0;
    if (bp_dir == 0) {
        if (low_h >= 0 && low_w >= 0)
            weight += -1 * (low_w + 1 - argmax_w) * im_data[low_h * data_width + low_w];
        if (low_h >= 0 && high_w <= width - 1)
            weight += -1 * (argmax_w - low_w) * im_data[low_h * data_width + high_w];
        if (high_h <= height - 1 && low_w >= 0)
            weight += (low_w + 1 - argmax_w) * im_data[high_h * data_width + low_w];
        if (high_h <= height - 1 && high_w <= width - 1)
            weight += (argmax_w - low_w) * im_data[high_h * data_width + high_w];
    } else if (bp_dir == 1) {
        if (low_h >= 0 && low_w >= 0)
            weight += -1 * (low_h + 1 - argmax_h) * im_data[low_h * data_width + low_w];
        if (low_h >= 0 && high_w <= width - 1)
            weight += (low_h + 1 - argmax_h) * im_data[low_h * data_width + high_w];
        if (high_h <= height - 1 && low_w >= 0)
            weight += -1 * (argmax_h - low_h) * im_data[high_h * data_width + low_w];
        if (high_h <= height - 1 && high_w <= width - 1)
            weight += (argmax_h - low_h) * im_data[high_h * data_width + high_w];
    }
    return weight;
}

extern "C" __global__ void dcn_im2col(int n, const float *data_im, const float *data_offset, const float *data_mask,
                                      Conv p, float *data_col) {
    CUDA_KERNEL_LOOP(index, n) {
        const int w_col = index % p.width_col;
        const int h_col = (index / p.width_col) % p.height_col;
        const int b_col = (index / p.width_col / p.height_col) % p.batch_size;
        const int c_im = (index / p.width_col / p.height_col) / p.batch_size;
        const int c_col = c_im * p.kernel_h * p.kernel_w;
        const int group = c_im / p.channel_per_deformable_group;
        const int h_in = h_col * p.stride_h - p.pad_h, w_in = w_col * p.stride_w - p.pad_w;
        const int plane = p.height_col * p.width_col, taps = p.kernel_h * p.kernel_w;
        float *col_ptr = data_col + ((c_col * p.batch_size + b_col) * p.height_col + h_col) * p.width_col + w_col;
        const float *im_ptr = data_im + (b_col * p.channels + c_im) * p.height * p.width;
        const float *offset_ptr = data_offset + (b_col * p.deformable_group + group) * 2 * taps * plane;
        const float *mask_ptr = data_mask + (b_col * p.deformable_group + group) * taps * plane;
        for (int i = 0; i < p.kernel_h; ++i) {
            for (int j = 0; j < p.kernel_w; ++j) {
                const int at = h_col * p.width_col + w_col;
                const float offset_h = offset_ptr[2 * (i * p.kernel_w + j) * plane + at];
                const float offset_w = offset_ptr[(2 * (i * p.kernel_w + j) + 1) * plane + at];
                const float mask = mask_ptr[(i * p.kernel_w + j) * plane + at];
                float val = 0.0f;
                const float h_im = h_in + i * p.dilation_h + offset_h;
                const float w_im = w_in + j * p.dilation_w + offset_w;
                if (h_im > -1 && w_im > -1 && h_im < p.height && w_im < p.width)
                    val = dmcn_im2col_bilinear(im_ptr, p.width, p.height, p.width, h_im, w_im);
                *col_ptr = val * mask;
                col_ptr += p.batch_size * plane;
            }
        }
    }
}

extern "C" __global__ void dcn_col2im(int n, const float *data_col, const float *data_offset, const float *data_mask,
                                      Conv p, float *grad_im) {
    CUDA_KERNEL_LOOP(index, n) {
        const int j = (index / p.width_col / p.height_col / p.batch_size) % p.kernel_w;
        const int i = (index / p.width_col / p.height_col / p.batch_size / p.kernel_w) % p.kernel_h;
        const int c = index / p.width_col / p.height_col / p.batch_size / p.kernel_w / p.kernel_h;
        const int group = c / p.channel_per_deformable_group;
        const int w_out = index % p.width_col;
        const int h_out = (index / p.width_col) % p.height_col;
        const int b = (index / p.width_col / p.height_col) % p.batch_size;
        const int plane = p.height_col * p.width_col, taps = p.kernel_h * p.kernel_w;
        const int w_in = w_out * p.stride_w - p.pad_w, h_in = h_out * p.stride_h - p.pad_h;
        const float *offset_ptr = data_offset + (b * p.deformable_group + group) * 2 * taps * plane;
        const float *mask_ptr = data_mask + (b * p.deformable_group + group) * taps * plane;
        const int at = h_out * p.width_col + w_out, tap = i * p.kernel_w + j;
        const float cur_inv_h_data = h_in + i * p.dilation_h + offset_ptr[2 * tap * plane + at];
        const float cur_inv_w_data = w_in + j * p.dilation_w + offset_ptr[(2 * tap + 1) * plane + at];
        const float cur_top_grad = data_col[index] * mask_ptr[tap * plane + at];
        const int cur_h = (int)cur_inv_h_data, cur_w = (int)cur_inv_w_data;
        for (int dy = -2; dy <= 2; dy++) {
            for (int dx = -2; dx <= 2; dx++) {
                if (cur_h + dy >= 0 && cur_h + dy < p.height && cur_w + dx >= 0 && cur_w + dx < p.width &&
                    fabsf(cur_inv_h_data - (cur_h + dy)) < 1 && fabsf(cur_inv_w_data - (cur_w + dx)) < 1) {
                    int pos = ((b * p.channels + c) * p.height + cur_h + dy) * p.width + cur_w + dx;
                    float weight = get_gradient_weight(cur_inv_h_data, cur_inv_w_data, cur_h + dy, cur_w + dx,
                                                       p.height, p.width);
                    atomicAdd(grad_im + pos, weight * cur_top_grad);
                }
            }
        }
    }
}

extern "C" __global__ void dcn_coord(int n, const float *data_col, const float *data_im, const float *data_offset,
                                     const float *data_mask, Conv p, float *grad_offset, float *grad_mask) {
    CUDA_KERNEL_LOOP(index, n) {
        const int offset_channels = 2 * p.kernel_h * p.kernel_w * p.deformable_group;
        float val = 0, mval = 0;
        const int w = index % p.width_col;
        const int h = (index / p.width_col) % p.height_col;
        const int c = (index / p.width_col / p.height_col) % offset_channels;
        const int b = (index / p.width_col / p.height_col) / offset_channels;
        const int taps = p.kernel_h * p.kernel_w, plane = p.height_col * p.width_col;
        const int group = c / (2 * taps);
        const float *col_ptr = data_col + group * p.channel_per_deformable_group * taps * p.batch_size * plane;
        const float *im_ptr =
            data_im + (b * p.channels + group * p.channel_per_deformable_group) * p.height * p.width;
        const float *offset_ptr = data_offset + (b * p.deformable_group + group) * 2 * taps * plane;
        const float *mask_ptr = data_mask + (b * p.deformable_group + group) * taps * plane;
        const int offset_c = c - group * 2 * taps, tap = offset_c / 2, bp_dir = offset_c % 2;
        const int i = tap / p.kernel_w, j = tap % p.kernel_w;
        const int w_in = w * p.stride_w - p.pad_w, h_in = h * p.stride_h - p.pad_h, at = h * p.width_col + w;
        float inv_h = h_in + i * p.dilation_h + offset_ptr[2 * tap * plane + at];
        float inv_w = w_in + j * p.dilation_w + offset_ptr[(2 * tap + 1) * plane + at];
        const float mask = mask_ptr[tap * plane + at];
        bool outside = inv_h <= -1 || inv_w <= -1 || inv_h >= p.height || inv_w >= p.width;
        if (outside)
            inv_h = inv_w = -2;
        for (int k = 0; k < p.channel_per_deformable_group; k++) {
            const float col = col_ptr[((k * taps + tap) * p.batch_size + b) * plane + at];
            const float *im = im_ptr + k * p.height * p.width;
            if (!outside)
                mval += col * dmcn_im2col_bilinear(im, p.width, p.height, p.width, inv_h, inv_w);
            val += get_coordinate_weight(inv_h, inv_w, p.height, p.width, im, p.width, bp_dir) * col * mask;
        }
        grad_offset[index] = val;
        if (bp_dir == 0)
            grad_mask[((b * p.deformable_group + group) * taps + tap) * plane + at] = mval;
    }
}
