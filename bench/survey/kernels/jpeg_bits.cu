// How long a grey picture is as JPEG: integer DCT of 8 x 8 pixels (eight threads a square), quantised, in zigzag
// order, then the lengths of the Huffman codes, where a warp has a square and finds runs of zeros by ballot.
#define SQUARES 16

__constant__ unsigned char zigzag_of[64] = {
    0,  1,  5,  6,  14, 15, 27, 28, 2,  4,  7,  13, 16, 26, 29, 42, 3,  8,  12, 17, 25, 30,
    41, 43, 9,  11, 18, 24, 31, 40, 44, 53, 10, 19, 23, 32, 39, 45, 52, 54, 20, 22, 33, 38,
    46, 51, 55, 60, 21, 34, 37, 47, 50, 56, 59, 61, 35, 36, 48, 49, 57, 58, 62, 63};

__constant__ unsigned char dc_length[12] = {2, 3, 3, 3, 3, 3, 4, 5, 6, 7, 8, 9};

__constant__ unsigned char ac_length[16][11] = {
    {4, 2, 2, 3, 4, 5, 7, 8, 10, 16, 16},         {0, 4, 5, 7, 9, 11, 16, 16, 16, 16, 16},
    {0, 5, 8, 10, 12, 16, 16, 16, 16, 16, 16},    {0, 6, 9, 12, 16, 16, 16, 16, 16, 16, 16},
    {0, 6, 10, 16, 16, 16, 16, 16, 16, 16, 16},   {0, 7, 11, 16, 16, 16, 16, 16, 16, 16, 16},
    {0, 7, 12, 16, 16, 16, 16, 16, 16, 16, 16},   {0, 8, 12, 16, 16, 16, 16, 16, 16, 16, 16},
    {0, 9, 15, 16, 16, 16, 16, 16, 16, 16, 16},   {0, 9, 16, 16, 16, 16, 16, 16, 16, 16, 16},
    {0, 9, 16, 16, 16, 16, 16, 16, 16, 16, 16},   {0, 10, 16, 16, 16, 16, 16, 16, 16, 16, 16},
    {0, 10, 16, 16, 16, 16, 16, 16, 16, 16, 16},  {0, 11, 16, 16, 16, 16, 16, 16, 16, 16, 16},
    {0, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16},  {11, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16}};

__device__ __forceinline__ int descale(int x, int n) {
    return (x + (1 << (n - 1))) >> n;
}

// Constants have 13 bits after the point; the first pass keeps two bits more, which the second takes away.
template <bool FIRST>
__device__ void dct8(int d[8]) {
    const int down = FIRST ? 11 : 15;
    int t0 = d[0] + d[7], t7 = d[0] - d[7], t1 = d[1] + d[6], t6 = d[1] - d[6];
    int t2 = d[2] + d[5], t5 = d[2] - d[5], t3 = d[3] + d[4], t4 = d[3] - d[4];
    int e0 = t0 + t3, e3 = t0 - t3, e1 = t1 + t2, e2 = t1 - t2;
    if (FIRST) {
        d[0] = (e0 + e1) << 2;
        d[4] = (e0 - e1) << 2;
    } else {
        d[0] = descale(e0 + e1, 2);
        d[4] = descale(e0 - e1, 2);
    }
    int z = (e2 + e3) * 4433;
    d[2] = descale(z + e3 * 6270, down);
    d[6] = descale(z - e2 * 15137, down);
    int z1 = -7373 * (t4 + t7), z2 = -20995 * (t5 + t6), z5 = 9633 * (t4 + t6 + t5 + t7);
    int z3 = z5 - 16069 * (t4 + t6), z4 = z5 - 3196 * (t5 + t7);
    d[7] = descale(2446 * t4 + z1 + z3, down);
    d[5] = descale(16819 * t5 + z2 + z4, down);
    d[3] = descale(25172 * t6 + z2 + z3, down);
    d[1] = descale(12299 * t7 + z1 + z4, down);
}

extern "C" __global__ void jpeg_coefficients(const unsigned char *__restrict__ image,
                                             const unsigned short *__restrict__ quant, short *__restrict__ coefficients,
                                             int w, int h, int across, int squares) {
    __shared__ int tile[SQUARES][8][9];
    int local = threadIdx.x / 8, k = threadIdx.x % 8;
    int square = blockIdx.x * SQUARES + local;
    int d[8];
    if (square < squares) {
        int y = min(square / across * 8 + k, h - 1), x = square % across * 8;
        for (int i = 0; i < 8; i++)
            d[i] = image[y * w + min(x + i, w - 1)] - 128;
        dct8<true>(d);
        for (int i = 0; i < 8; i++)
            tile[local][k][i] = d[i];
    }
    __syncthreads();
    if (square >= squares)
        return;
    for (int i = 0; i < 8; i++)
        d[i] = tile[local][i][k];
    dct8<false>(d);
    for (int i = 0; i < 8; i++) {
        int q = quant[i * 8 + k] * 8;
        int v = abs(d[i]);
        v = (v + q / 2) / q;
        coefficients[square * 64 + zigzag_of[i * 8 + k]] = (short)(d[i] < 0 ? -v : v);
    }
}

__device__ __forceinline__ int size_of(int v) {
    return 32 - __clz(abs(v));
}

extern "C" __global__ void jpeg_lengths(const short *__restrict__ coefficients, int *__restrict__ bits,
                                        unsigned int *row_bits, int across, int squares) {
    int square = (blockIdx.x * blockDim.x + threadIdx.x) >> 5, lane = threadIdx.x & 31;
    if (square >= squares)
        return;
    const short *c = coefficients + square * 64;
    int low = c[lane], high = c[lane + 32];
    unsigned long long filled = (unsigned long long)__ballot_sync(0xffffffffu, high != 0) << 32;
    filled |= __ballot_sync(0xffffffffu, low != 0);
    filled |= 1ull; // the first one counts whatever it is
    int length = 0;
    for (int half = 0; half < 2; half++) {
        int at = lane + 32 * half, v = half ? high : low;
        if (at == 0) {
            int difference = square % across ? v - c[-64] : v;
            int size = size_of(difference);
            length += dc_length[size] + size;
        } else if (v != 0) {
            unsigned long long before = filled & ((1ull << at) - 1);
            int run = at - 1 - (63 - __clzll(before));
            int size = size_of(v);
            length += run / 16 * ac_length[15][0] + ac_length[run % 16][size] + size;
        }
    }
    if (lane == 31 && high == 0)
        length += ac_length[0][0];
    for (int offset = 16; offset > 0; offset /= 2)
        length += __shfl_down_sync(0xffffffffu, length, offset);
    if (lane == 0) {
        bits[square] = length;
        atomicAdd(&row_bits[square / across], (unsigned int)length);
    }
}
