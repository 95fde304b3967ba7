// Lucas and Kanade's optical flow at chosen points, from a coarse level of the pictures to the fine one.
// A warp has a point; its lanes share the window.
#define WINDOW 7
#define FULL 0xffffffffu

__device__ __forceinline__ int clampi(int v, int high) {
    return min(max(v, 0), high);
}

__device__ float sample(const float *__restrict__ image, int w, int h, float x, float y) {
    x = fminf(fmaxf(x, 0.0f), w - 1.001f);
    y = fminf(fmaxf(y, 0.0f), h - 1.001f);
    int ix = (int)x, iy = (int)y;
    float fx = x - ix, fy = y - iy;
    const float *p = image + iy * w + ix;
    float top = p[0] + fx * (p[1] - p[0]);
    float bottom = p[w] + fx * (p[w + 1] - p[w]);
    return top + fy * (bottom - top);
}

__device__ __forceinline__ float warp_sum(float v) {
    for (int offset = 16; offset > 0; offset >>= 1)
        v += __shfl_xor_sync(FULL, v, offset);
    return v;
}

extern "C" __global__ void pyr_down(const float *__restrict__ fine, float *__restrict__ coarse, int w, int h, int cw,
                                    int ch) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= cw || y >= ch)
        return;
    const float tap[5] = {0.0625f, 0.25f, 0.375f, 0.25f, 0.0625f};
    float sum = 0.0f;
    for (int j = -2; j <= 2; j++) {
        int row = clampi(2 * y + j, h - 1) * w;
        float line = 0.0f;
        for (int i = -2; i <= 2; i++)
            line += tap[i + 2] * fine[row + clampi(2 * x + i, w - 1)];
        sum += tap[j + 2] * line;
    }
    coarse[y * cw + x] = sum;
}

extern "C" __global__ void scharr(const float *__restrict__ image, float2 *__restrict__ gradient, int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h)
        return;
    int l = max(x - 1, 0), r = min(x + 1, w - 1);
    const float *up = image + max(y - 1, 0) * w, *mid = image + y * w, *down = image + min(y + 1, h - 1) * w;
    float gx = 3.0f * (up[r] - up[l] + down[r] - down[l]) + 10.0f * (mid[r] - mid[l]);
    float gy = 3.0f * (down[l] - up[l] + down[r] - up[r]) + 10.0f * (down[x] - up[x]);
    gradient[y * w + x] = make_float2(gx / 32.0f, gy / 32.0f);
}

extern "C" __global__ void lk_track(const float *__restrict__ before, const float *__restrict__ after,
                                    const float2 *__restrict__ gradient, int w, int h,
                                    const float2 *__restrict__ points, float2 *flow, unsigned char *status, int count,
                                    int level, int iterations, float min_eigen) {
    int point = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (point >= count)
        return;
    const int side = 2 * WINDOW + 1;
    float scale = 1.0f / (1 << level);
    float px = points[point].x * scale, py = points[point].y * scale;
    int cx = (int)rintf(px), cy = (int)rintf(py);
    float2 v = flow[point];
    v.x *= 2.0f;
    v.y *= 2.0f;

    float gxx = 0.0f, gxy = 0.0f, gyy = 0.0f;
    for (int k = lane; k < side * side; k += 32) {
        int x = clampi(cx + k % side - WINDOW, w - 1), y = clampi(cy + k / side - WINDOW, h - 1);
        float2 g = gradient[y * w + x];
        gxx += g.x * g.x;
        gxy += g.x * g.y;
        gyy += g.y * g.y;
    }
    gxx = warp_sum(gxx);
    gxy = warp_sum(gxy);
    gyy = warp_sum(gyy);
    float det = gxx * gyy - gxy * gxy;
    float eigen = 0.5f * (gxx + gyy - sqrtf((gxx - gyy) * (gxx - gyy) + 4.0f * gxy * gxy)) / (side * side);
    if (eigen < min_eigen) {
        if (lane == 0) {
            status[point] = 0;
            flow[point] = v;
        }
        return;
    }

    for (int i = 0; i < iterations; i++) {
        float bx = 0.0f, by = 0.0f;
        for (int k = lane; k < side * side; k += 32) {
            int x = clampi(cx + k % side - WINDOW, w - 1), y = clampi(cy + k / side - WINDOW, h - 1);
            float difference = before[y * w + x] - sample(after, w, h, x + v.x, y + v.y);
            float2 g = gradient[y * w + x];
            bx += difference * g.x;
            by += difference * g.y;
        }
        bx = warp_sum(bx);
        by = warp_sum(by);
        float dx = (gyy * bx - gxy * by) / det, dy = (gxx * by - gxy * bx) / det;
        v.x += dx;
        v.y += dy;
        if (dx * dx + dy * dy < 0.0001f)
            break;
    }
    if (lane == 0) {
        float x = cx + v.x, y = cy + v.y;
        status[point] = x >= 0.0f && y >= 0.0f && x < w && y < h;
        flow[point] = v;
    }
}
