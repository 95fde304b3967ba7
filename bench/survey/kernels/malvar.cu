// Demosaicing by Malvar, He and Cutler: 5 x 5 filters in sixteenths on an RGGB mosaic, a tile with a border of 2.
#define BX 32
#define BY 8
#define R 2

__device__ __forceinline__ int mirrored(int i, int n) {
    i = i < 0 ? -i : i;
    return i >= n ? 2 * n - 2 - i : i;
}

__device__ __forceinline__ unsigned char clamp8(int v) {
    v = (v + 8) >> 4;
    return (unsigned char)min(max(v, 0), 255);
}

extern "C" __global__ void malvar(const unsigned char *__restrict__ raw, uchar4 *__restrict__ rgba, int w, int h) {
    __shared__ unsigned char tile[BY + 2 * R][BX + 2 * R];
    const int x0 = blockIdx.x * BX - R, y0 = blockIdx.y * BY - R;
    for (int ty = threadIdx.y; ty < BY + 2 * R; ty += BY)
        for (int tx = threadIdx.x; tx < BX + 2 * R; tx += BX)
            tile[ty][tx] = raw[(size_t)mirrored(min(y0 + ty, h + 1), h) * w + mirrored(min(x0 + tx, w + 1), w)];
    __syncthreads();

    const int x = blockIdx.x * BX + threadIdx.x, y = blockIdx.y * BY + threadIdx.y;
    if (x >= w || y >= h)
        return;
    const int tx = threadIdx.x + R, ty = threadIdx.y + R;
    const int c = tile[ty][tx];
    const int ns = tile[ty - 1][tx] + tile[ty + 1][tx], ew = tile[ty][tx - 1] + tile[ty][tx + 1];
    const int ns2 = tile[ty - 2][tx] + tile[ty + 2][tx], ew2 = tile[ty][tx - 2] + tile[ty][tx + 2];
    const int diag = tile[ty - 1][tx - 1] + tile[ty - 1][tx + 1] + tile[ty + 1][tx - 1] + tile[ty + 1][tx + 1];

    const int cross = 8 * c + 4 * (ns + ew) - 2 * (ns2 + ew2);        // green at red or blue
    const int along = 10 * c + 8 * ew - 2 * (diag + ew2) + ns2;       // at green, colour of the row
    const int across = 10 * c + 8 * ns - 2 * (diag + ns2) + ew2;      // at green, colour of the column
    const int opposite = 12 * c + 4 * diag - 3 * (ns2 + ew2);         // red at blue, blue at red
    int red, green, blue;
    switch ((y & 1) << 1 | (x & 1)) {
    case 0:
        red = 16 * c, green = cross, blue = opposite;
        break;
    case 1:
        red = along, green = 16 * c, blue = across;
        break;
    case 2:
        red = across, green = 16 * c, blue = along;
        break;
    default:
        red = opposite, green = cross, blue = 16 * c;
        break;
    }
    rgba[(size_t)y * w + x] = make_uchar4(clamp8(red), clamp8(green), clamp8(blue), 255);
}
