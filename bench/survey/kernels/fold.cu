// Windows of a picture put back where they were taken from: each pixel adds up what all windows over it have there.
extern "C" __global__ void fold(const float *windows, float *picture, int pixels, int w, int h, int size, int border,
                                int step, int across, int down) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= pixels)
        return;
    int x = i % w + border, y = i / w % h + border, plane = i / (w * h);
    int left = x < size ? 0 : (x - size) / step + 1, right = min(x / step, across - 1);
    int top = y < size ? 0 : (y - size) / step + 1, bottom = min(y / step, down - 1);
    float sum = 0.0f;
    for (int v = top; v <= bottom; v++)
        for (int u = left; u <= right; u++) {
            int place = (plane * size + y - v * step) * size + x - u * step;
            sum += windows[(place * down + v) * across + u];
        }
    picture[i] = sum;
}
