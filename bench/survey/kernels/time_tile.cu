// Heat in a plate whose conductivity varies: four steps a launch in shared memory, tiles of 32 x 32 with a halo of four
// cells, which becomes useless from outside, a ring a step. Cells on the border of the plate stay as they are.
template <int STEPS, int TILE, int ROWS>
__device__ void advance(const float *__restrict__ in, const float *__restrict__ k, float *__restrict__ out, int w,
                        int h) {
    constexpr int SIDE = TILE + 2 * STEPS;
    __shared__ float plate[2][SIDE][SIDE];
    __shared__ float conduct[SIDE][SIDE];
    const int x0 = blockIdx.x * TILE - STEPS, y0 = blockIdx.y * TILE - STEPS;

    for (int y = threadIdx.y; y < SIDE; y += ROWS)
        for (int x = threadIdx.x; x < SIDE; x += TILE) {
            int gx = x0 + x, gy = y0 + y;
            bool inside = gx >= 0 && gx < w && gy >= 0 && gy < h;
            bool border = gx <= 0 || gx >= w - 1 || gy <= 0 || gy >= h - 1;
            size_t at = (size_t)gy * w + gx;
            plate[0][y][x] = inside ? in[at] : 0.0f;
            conduct[y][x] = border ? 0.0f : k[at];
        }
    __syncthreads();

#pragma unroll
    for (int s = 1; s <= STEPS; s++) {
        float(*from)[SIDE] = plate[(s - 1) & 1];
        float(*to)[SIDE] = plate[s & 1];
        for (int y = s + threadIdx.y; y < SIDE - s; y += ROWS)
            for (int x = s + threadIdx.x; x < SIDE - s; x += TILE) {
                float c = from[y][x];
                float sum = from[y][x - 1] + from[y][x + 1] + from[y - 1][x] + from[y + 1][x];
                to[y][x] = fmaf(conduct[y][x], fmaf(-4.0f, c, sum), c);
            }
        __syncthreads();
    }

    const int gx = x0 + STEPS + threadIdx.x;
    if (gx < w)
        for (int y = threadIdx.y; y < TILE && y0 + STEPS + y < h; y += ROWS)
            out[(size_t)(y0 + STEPS + y) * w + gx] = plate[STEPS & 1][STEPS + y][STEPS + threadIdx.x];
}

extern "C" __global__ void __launch_bounds__(256) time_tile(const float *in, const float *k, float *out, int w, int h) {
    advance<4, 32, 8>(in, k, out, w, h);
}
