// RoI align: a thread for each element of the pooled output averages samples interpolated between four pixels.
__device__ float bilinear(const float *data, int height, int width, float y, float x) {
    if (y < -1.0f || y > height || x < -1.0f || x > width)
        return 0.0f;
    if (y <= 0.0f)
        y = 0.0f;
    if (x <= 0.0f)
        x = 0.0f;
    int y_low = (int)y, x_low = (int)x, y_high, x_high;
    if (y_low >= height - 1) {
        y_high = y_low = height - 1;
        y = (float)y_low;
    } else {
        y_high = y_low + 1;
    }
    if (x_low >= width - 1) {
        x_high = x_low = width - 1;
        x = (float)x_low;
    } else {
        x_high = x_low + 1;
    }
    float ly = y - y_low, lx = x - x_low, hy = 1.0f - ly, hx = 1.0f - lx;
    float v1 = data[y_low * width + x_low], v2 = data[y_low * width + x_high];
    float v3 = data[y_high * width + x_low], v4 = data[y_high * width + x_high];
    return hy * hx * v1 + hy * lx * v2 + ly * hx * v3 + ly * lx * v4;
}

extern "C" __global__ void roi_align(const float *input, const float *rois, float *output, int total,
                                     float spatial_scale, int channels, int height, int width, int pooled_h,
                                     int pooled_w, int ratio) {
    for (int index = blockIdx.x * blockDim.x + threadIdx.x; index < total; index += blockDim.x * gridDim.x) {
        int pw = index % pooled_w;
        int ph = index / pooled_w % pooled_h;
        int c = index / pooled_w / pooled_h % channels;
        int n = index / pooled_w / pooled_h / channels;
        const float *roi = rois + n * 5;
        int image = (int)roi[0];
        float x1 = roi[1] * spatial_scale - 0.5f, y1 = roi[2] * spatial_scale - 0.5f;
        float x2 = roi[3] * spatial_scale - 0.5f, y2 = roi[4] * spatial_scale - 0.5f;
        float roi_w = x2 - x1, roi_h = y2 - y1;
        float bin_h = roi_h / pooled_h, bin_w = roi_w / pooled_w;
        const float *data = input + (image * channels + c) * height * width;
        int grid_h = ratio > 0 ? ratio : (int)ceilf(roi_h / pooled_h);
        int grid_w = ratio > 0 ? ratio : (int)ceilf(roi_w / pooled_w);
        float count = max(grid_h * grid_w, 1);
        float sum = 0.0f;
        for (int iy = 0; iy < grid_h; iy++) {
            float y = y1 + ph * bin_h + (iy + 0.5f) * bin_h / grid_h;
            for (int ix = 0; ix < grid_w; ix++) {
                float x = x1 + pw * bin_w + (ix + 0.5f) * bin_w / grid_w;
                sum += bilinear(data, height, width, y, x);
            }
        }
        output[index] = sum / count;
    }
}
