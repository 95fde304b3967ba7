// A CTA a point: where a template of 21 x 21 pixels fits best around it, by normalised correlation.
#define SIDE 21
#define WINDOW 41
#define THREADS 256

extern "C" __global__ void track(const float *frame, const float *templates, const int2 *points, int2 *best, int w, int h) {
    __shared__ float window[WINDOW * WINDOW], part[SIDE * SIDE], found[THREADS];
    __shared__ int place[THREADS];
    int t = threadIdx.x, p = blockIdx.x;
    int2 at = points[p];
    for (int i = t; i < WINDOW * WINDOW; i += THREADS) {
        int y = at.y - 20 + i / WINDOW, x = at.x - 20 + i % WINDOW;
        window[i] = x < 0 || y < 0 || x >= w || y >= h ? 0 : frame[y * w + x];
    }
    float sum = 0;
    for (int i = t; i < SIDE * SIDE; i += THREADS)
        sum += part[i] = templates[p * SIDE * SIDE + i];
    found[t] = sum;
    __syncthreads();
    for (int step = THREADS / 2; step; step >>= 1) {
        if (t < step)
            found[t] += found[t + step];
        __syncthreads();
    }
    float mean = found[0] / (SIDE * SIDE);
    __syncthreads();
    found[t] = -2;
    place[t] = 0;
    for (int o = t; o < SIDE * SIDE; o += THREADS) {
        float s = 0, squares = 0, both = 0, own = 0;
        for (int y = 0; y < SIDE; y++)
            for (int x = 0; x < SIDE; x++) {
                float v = window[(o / SIDE + y) * WINDOW + o % SIDE + x], u = part[y * SIDE + x] - mean;
                s += v;
                squares += v * v;
                both += v * u;
                own += u * u;
            }
        float fit = both / sqrtf((squares - s * s / (SIDE * SIDE)) * own + 1e-9f);
        if (fit > found[t]) {
            found[t] = fit;
            place[t] = o;
        }
    }
    __syncthreads();
    for (int step = THREADS / 2; step; step >>= 1) {
        int u = t + step;
        if (t < step && (found[u] > found[t] || (found[u] == found[t] && place[u] < place[t]))) {
            found[t] = found[u];
            place[t] = place[u];
        }
        __syncthreads();
    }
    if (t == 0)
        best[p] = make_int2(at.x + place[0] % SIDE - 10, at.y + place[0] / SIDE - 10);
}
