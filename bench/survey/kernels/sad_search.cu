// A video encoder's motion search: for each 16 x 16 pixels all places up to 7 away, a thread a place; the best
// for the whole and for its four quarters.
#define MB 16
#define RANGE 7
#define SIDE (MB + 2 * RANGE)

extern "C" __global__ void sad_search(const unsigned char *__restrict__ current,
                                      const unsigned char *__restrict__ reference, short2 *__restrict__ vectors,
                                      unsigned int *__restrict__ costs, int w, int h, int lambda) {
    __shared__ unsigned char own[MB][MB];
    __shared__ unsigned char window[SIDE][SIDE + 2];
    __shared__ unsigned int best[256];
    const int places = 2 * RANGE + 1;
    int x0 = blockIdx.x * MB, y0 = blockIdx.y * MB;
    int tid = threadIdx.y * MB + threadIdx.x;
    own[threadIdx.y][threadIdx.x] =
        current[min(y0 + (int)threadIdx.y, h - 1) * w + min(x0 + (int)threadIdx.x, w - 1)];
    for (int i = tid; i < SIDE * SIDE; i += 256) {
        int y = i / SIDE, x = i % SIDE;
        int gy = min(max(y0 + y - RANGE, 0), h - 1), gx = min(max(x0 + x - RANGE, 0), w - 1);
        window[y][x] = reference[gy * w + gx];
    }
    __syncthreads();

    unsigned int sad[5] = {0, 0, 0, 0, 0};
    bool inside = threadIdx.x < places && threadIdx.y < places;
    if (inside) {
        for (int y = 0; y < MB; y++)
            for (int x = 0; x < MB; x++) {
                int quarter = (y >= MB / 2) * 2 + (x >= MB / 2);
                sad[1 + quarter] = __usad(own[y][x], window[threadIdx.y + y][threadIdx.x + x], sad[1 + quarter]);
            }
        sad[0] = sad[1] + sad[2] + sad[3] + sad[4];
    }
    int dx = (int)threadIdx.x - RANGE, dy = (int)threadIdx.y - RANGE;
    unsigned int bits = lambda * (abs(dx) + abs(dy));
    int block = blockIdx.y * gridDim.x + blockIdx.x;
    for (int part = 0; part < 5; part++) {
        best[tid] = inside ? (sad[part] + bits) << 8 | tid : 0xffffffffu;
        __syncthreads();
        for (int stride = 128; stride > 0; stride >>= 1) {
            if (tid < stride)
                best[tid] = min(best[tid], best[tid + stride]);
            __syncthreads();
        }
        if (tid == 0) {
            int winner = best[0] & 255;
            vectors[block * 5 + part] = make_short2(winner % MB - RANGE, winner / MB - RANGE);
            costs[block * 5 + part] = best[0] >> 8;
        }
        __syncthreads();
    }
}
