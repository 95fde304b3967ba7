// A camera's raw frame: pixels of 12 bits, two in three bytes, rows that start at any byte; black levels and gains by
// colour, spikes held to what neighbours of the same colour have, a tone curve of straight pieces into 8 bits.
#define TILE 16
#define HALO 2

struct Development {
    short black[4];
    unsigned short gain[4];      // 8 bits after the point
    unsigned short knots[9];     // 0 ... 4095
    unsigned char tones[9];
    unsigned short slack;
    int header, pitch;           // bytes
};

// Eight pixels a thread out of twelve bytes.
extern "C" __global__ void raw12_unpack(const unsigned char *__restrict__ frame, unsigned short *__restrict__ raw,
                                        Development d, int width, int height) {
    int x = (blockIdx.x * blockDim.x + threadIdx.x) * 8;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    const unsigned char *from = frame + d.header + (long long)y * d.pitch + x / 2 * 3;
    unsigned w[3];
    memcpy(w, from, sizeof w);
    unsigned pixels[8];
    pixels[0] = w[0] & 0xfff;
    pixels[1] = w[0] >> 12 & 0xfff;
    pixels[2] = __funnelshift_r(w[0], w[1], 24) & 0xfff;
    pixels[3] = w[1] >> 4 & 0xfff;
    pixels[4] = w[1] >> 16 & 0xfff;
    pixels[5] = __funnelshift_r(w[1], w[2], 28) & 0xfff;
    pixels[6] = w[2] >> 8 & 0xfff;
    pixels[7] = w[2] >> 20;
    for (int i = 0; i < 8; i++) {
        int colour = (y & 1) << 1 | (i & 1);
        int v = max((int)pixels[i] - d.black[colour], 0) * d.gain[colour] >> 8;
        if (x + i < width)
            raw[y * width + x + i] = min(v, 4095);
    }
}

__device__ unsigned char toned(const Development &d, int v) {
    int k = 0;
    while (k < 7 && v >= d.knots[k + 1])
        k++;
    int span = d.knots[k + 1] - d.knots[k], rise = (int)d.tones[k + 1] - d.tones[k];
    return d.tones[k] + (v - d.knots[k]) * rise / span;
}

__device__ int mirrored(int i, int n) {
    if (i < 0)
        return -i;
    return i >= n ? 2 * n - 2 - i : i;
}

extern "C" __global__ void raw12_develop(const unsigned short *__restrict__ raw, unsigned char *__restrict__ out,
                                         Development d, int width, int height) {
    __shared__ unsigned short tile[TILE + 2 * HALO][TILE + 2 * HALO + 1];
    int x0 = blockIdx.x * TILE - HALO, y0 = blockIdx.y * TILE - HALO;
    const int side = TILE + 2 * HALO;
    for (int i = threadIdx.y * TILE + threadIdx.x; i < side * side; i += TILE * TILE) {
        int ty = i / side, tx = i % side;
        int y = min(max(mirrored(y0 + ty, height), 0), height - 1);
        int x = min(max(mirrored(x0 + tx, width), 0), width - 1);
        tile[ty][tx] = raw[y * width + x];
    }
    __syncthreads();
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    if (x >= width || y >= height)
        return;
    unsigned short low = 0xffff, high = 0;
    for (int dy = -2; dy <= 2; dy += 2)
        for (int dx = -2; dx <= 2; dx += 2)
            if (dx || dy) {
                unsigned short v = tile[threadIdx.y + HALO + dy][threadIdx.x + HALO + dx];
                low = min(low, v);
                high = max(high, v);
            }
    int v = tile[threadIdx.y + HALO][threadIdx.x + HALO];
    v = max(min(v, high + d.slack), low - d.slack);
    out[y * width + x] = toned(d, max(min(v, 4095), 0));
}
