// Tone mapping to bytes, with brightness as alpha, then smoothing along edges in the manner of FXAA.
#define SEARCH 8

__device__ float filmic(float x) {
    x = fmaxf(x, 0.0f);
    return fminf(x * (2.51f * x + 0.03f) / (x * (2.43f * x + 0.59f) + 0.14f), 1.0f);
}

extern "C" __global__ void tonemap(const float4 *hdr, uchar4 *ldr, int width, int height, float exposure) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    float4 c = hdr[y * width + x];
    float r = powf(filmic(c.x * exposure), 1.0f / 2.2f);
    float g = powf(filmic(c.y * exposure), 1.0f / 2.2f);
    float b = powf(filmic(c.z * exposure), 1.0f / 2.2f);
    float luma = 0.299f * r + 0.587f * g + 0.114f * b;
    ldr[y * width + x] =
        make_uchar4(r * 255.0f + 0.5f, g * 255.0f + 0.5f, b * 255.0f + 0.5f, luma * 255.0f + 0.5f);
}

__device__ uchar4 at(const uchar4 *image, int x, int y, int width, int height) {
    x = min(max(x, 0), width - 1);
    y = min(max(y, 0), height - 1);
    return image[y * width + x];
}

__device__ float luma_at(const uchar4 *image, int x, int y, int width, int height) {
    return at(image, x, y, width, height).w * (1.0f / 255.0f);
}

extern "C" __global__ void fxaa(const uchar4 *image, uchar4 *out, int width, int height, float threshold,
                                float least_threshold, float subpixel) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    uchar4 centre = image[y * width + x];
    float m = centre.w * (1.0f / 255.0f);
    float n = luma_at(image, x, y - 1, width, height), s = luma_at(image, x, y + 1, width, height);
    float w = luma_at(image, x - 1, y, width, height), e = luma_at(image, x + 1, y, width, height);
    float most = fmaxf(m, fmaxf(fmaxf(n, s), fmaxf(w, e)));
    float least = fminf(m, fminf(fminf(n, s), fminf(w, e)));
    float range = most - least;
    if (range < fmaxf(least_threshold, most * threshold)) {
        out[y * width + x] = centre;
        return;
    }
    float nw = luma_at(image, x - 1, y - 1, width, height), ne = luma_at(image, x + 1, y - 1, width, height);
    float sw = luma_at(image, x - 1, y + 1, width, height), se = luma_at(image, x + 1, y + 1, width, height);

    float average = (2.0f * (n + s + w + e) + nw + ne + sw + se) * (1.0f / 12.0f);
    float blend = fminf(fabsf(average - m) / range, 1.0f);
    blend = blend * blend * (3.0f - 2.0f * blend);
    blend = blend * blend * subpixel;

    float across_rows = fabsf(nw - 2.0f * w + sw) + 2.0f * fabsf(n - 2.0f * m + s) + fabsf(ne - 2.0f * e + se);
    float across_columns = fabsf(nw - 2.0f * n + ne) + 2.0f * fabsf(w - 2.0f * m + e) + fabsf(sw - 2.0f * s + se);
    bool horizontal = across_rows >= across_columns;
    float one = horizontal ? n : w, two = horizontal ? s : e;
    float gradient_one = fabsf(one - m), gradient_two = fabsf(two - m);
    bool first = gradient_one >= gradient_two;
    int dx = horizontal ? 0 : (first ? -1 : 1), dy = horizontal ? (first ? -1 : 1) : 0;
    float gradient = 0.25f * fmaxf(gradient_one, gradient_two);
    float edge = 0.5f * (m + (first ? one : two));
    int sx = horizontal ? 1 : 0, sy = horizontal ? 0 : 1;

    float end_back = 0.0f, end_ahead = 0.0f;
    int back = 0, ahead = 0;
    bool done_back = false, done_ahead = false;
    for (int i = 1; i <= SEARCH && !(done_back && done_ahead); i++) {
        if (!done_back) {
            int px = x - i * sx, py = y - i * sy;
            float here = luma_at(image, px, py, width, height);
            float there = luma_at(image, px + dx, py + dy, width, height);
            end_back = 0.5f * (here + there) - edge;
            done_back = fabsf(end_back) >= gradient;
            back = i;
        }
        if (!done_ahead) {
            int px = x + i * sx, py = y + i * sy;
            float here = luma_at(image, px, py, width, height);
            float there = luma_at(image, px + dx, py + dy, width, height);
            end_ahead = 0.5f * (here + there) - edge;
            done_ahead = fabsf(end_ahead) >= gradient;
            ahead = i;
        }
    }
    float near_end = back < ahead ? end_back : end_ahead;
    float offset = 0.0f;
    if ((m - edge < 0.0f) != (near_end < 0.0f))
        offset = 0.5f - (float)min(back, ahead) / (float)(back + ahead);
    float amount = fmaxf(offset, blend);
    uchar4 other = at(image, x + dx, y + dy, width, height);
    uchar4 result;
    result.x = (unsigned char)(centre.x + amount * ((float)other.x - centre.x) + 0.5f);
    result.y = (unsigned char)(centre.y + amount * ((float)other.y - centre.y) + 0.5f);
    result.z = (unsigned char)(centre.z + amount * ((float)other.z - centre.z) + 0.5f);
    result.w = centre.w;
    out[y * width + x] = result;
}
