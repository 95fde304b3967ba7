// Position-sensitive pooling of regions and its gradient: each bin of a region has channels of its own; the gradient
// is spread over the bin by atomics.
#define CUDA_1D_KERNEL_LOOP(i, n)                                                                                    \
    for (int i = (blockIdx.x * blockDim.x) + threadIdx.x; i < (n); i += (blockDim.x * gridDim.x))

template <typename T> struct Bin {
    int batch, hstart, wstart, hend, wend;
    __device__ Bin(const T *rois, int n, T scale, int ph, int pw, int pooled_h, int pooled_w, int height, int width) {
        const T *offset_rois = rois + n * 5;
        batch = offset_rois[0];
        int roi_start_w = roundf(offset_rois[1] * scale), roi_start_h = roundf(offset_rois[2] * scale);
        int roi_end_w = roundf(offset_rois[3] * scale), roi_end_h = roundf(offset_rois[4] * scale);
        int roi_width = max(roi_end_w - roi_start_w, 1), roi_height = max(roi_end_h - roi_start_h, 1);
        T bin_h = static_cast<T>(roi_height) / static_cast<T>(pooled_h);
        T bin_w = static_cast<T>(roi_width) / static_cast<T>(pooled_w);
        hstart = static_cast<int>(floor(static_cast<T>(ph) * bin_h));
        wstart = static_cast<int>(floor(static_cast<T>(pw) * bin_w));
        hend = static_cast<int>(ceil(static_cast<T>(ph + 1) * bin_h));
        wend = static_cast<int>(ceil(static_cast<T>(pw + 1) * bin_w));
        hstart = min(max(hstart + roi_start_h, 0), height - 1);
        hend = min(max(hend + roi_start_h, 0), height - 1);
        wstart = min(max(wstart + roi_start_w, 0), width - 1);
        wend = min(max(wend + roi_start_w, 0), width - 1);
    }
    __device__ bool empty() const { return hend <= hstart || wend <= wstart; }
    __device__ T area() const { return (hend - hstart) * (wend - wstart); }
};

extern "C" __global__ void psroi_forward(int nthreads, const float *input, float scale, int channels, int height,
                                         int width, int pooled_h, int pooled_w, const float *rois, int channels_out,
                                         float *output, int *channel_mapping) {
    CUDA_1D_KERNEL_LOOP(index, nthreads) {
        int pw = index % pooled_w, ph = (index / pooled_w) % pooled_h;
        int c_out = (index / (pooled_w * pooled_h)) % channels_out;
        int n = index / pooled_w / pooled_h / channels_out;
        int c_in = (c_out * pooled_h + ph) * pooled_w + pw;
        Bin<float> bin(rois, n, scale, ph, pw, pooled_h, pooled_w, height, width);
        const float *offset_input = input + (bin.batch * channels + c_in) * height * width;
        float out_sum = 0;
        for (int h = bin.hstart; h < bin.hend; ++h)
            for (int w = bin.wstart; w < bin.wend; ++w)
                out_sum += offset_input[h * width + w];
        output[index] = bin.empty() ? 0.0f : out_sum / bin.area();
        channel_mapping[index] = c_in;
    }
}

extern "C" __global__ void psroi_backward(int nthreads, const float *grad_output, const int *channel_mapping,
                                          float scale, int channels, int height, int width, int pooled_h,
                                          int pooled_w, int channels_out, float *grad_input, const float *rois) {
    CUDA_1D_KERNEL_LOOP(index, nthreads) {
        int pw = index % pooled_w, ph = (index / pooled_w) % pooled_h;
        int n = index / pooled_w / pooled_h / channels_out;
        Bin<float> bin(rois, n, scale, ph, pw, pooled_h, pooled_w, height, width);
        int c_in = channel_mapping[index];
        float *grad_input_offset = grad_input + (bin.batch * channels + c_in) * height * width;
        float diff_val = bin.empty() ? 0.0f : grad_output[index] / bin.area();
        for (int h = bin.hstart; h < bin.hend; ++h)
            for (int w = bin.wstart; w < bin.wend; ++w)
                atomicAdd(grad_input_offset + h * width + w, diff_val);
    }
}
