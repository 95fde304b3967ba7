// Exact squared distances to the nearest set pixel: along columns by two scans, then along rows by lower envelopes of
// parabolas (Felzenszwalb and Huttenlocher). Pictures are transposed so that threads side by side read side by side.
constexpr int TILE = 32, ROWS = 8;

extern "C" __global__ void column_distance(const unsigned char *__restrict__ picture, int *__restrict__ distance,
                                           int w, int h) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    if (x >= w)
        return;
    int far = w + h, d = far;
    for (int y = 0; y < h; y++) {
        size_t at = (size_t)y * w + x;
        d = picture[at] ? 0 : min(d + 1, far);
        distance[at] = d;
    }
    for (int y = h - 2; y >= 0; y--) {
        size_t at = (size_t)y * w + x;
        d = min(d + 1, distance[at]);
        distance[at] = d;
    }
}

extern "C" __global__ void transpose(const int *__restrict__ from, int *__restrict__ to, int w, int h) {
    __shared__ int tile[TILE][TILE + 1];
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += ROWS)
        if (x < w && y + j < h)
            tile[threadIdx.y + j][threadIdx.x] = from[(size_t)(y + j) * w + x];
    __syncthreads();
    x = blockIdx.y * TILE + threadIdx.x;
    y = blockIdx.x * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += ROWS)
        if (x < h && y + j < w)
            to[(size_t)(y + j) * h + x] = tile[threadIdx.x][threadIdx.y + j];
}

// A thread a row of the picture, a column of `distance`. `corner` and `border` are its stacks.
extern "C" __global__ void row_envelope(const int *__restrict__ distance, int *__restrict__ squared, int *corner,
                                        float *border, int w, int h) {
    int y = blockIdx.x * blockDim.x + threadIdx.x;
    if (y >= h)
        return;
    auto height = [&](int x) {
        int d = distance[(size_t)x * h + y];
        return d * d + x * x;
    };
    int k = 0;
    corner[y] = 0;
    border[y] = -INFINITY;
    for (int x = 1; x < w; x++) {
        int mine = height(x);
        float s;
        while (true) {
            int v = corner[(size_t)k * h + y];
            s = (float)(mine - height(v)) / (float)(2 * (x - v));
            if (s > border[(size_t)k * h + y])
                break;
            k--;
        }
        k++;
        corner[(size_t)k * h + y] = x;
        border[(size_t)k * h + y] = s;
    }
    int last = k;
    k = 0;
    for (int x = 0; x < w; x++) {
        while (k < last && border[(size_t)(k + 1) * h + y] < (float)x)
            k++;
        int v = corner[(size_t)k * h + y], d = distance[(size_t)v * h + y];
        squared[(size_t)x * h + y] = (x - v) * (x - v) + d * d;
    }
}
