// A particle's wave function on a plane in time, by the Trotter-Suzuki decomposition: neighbours are turned into each
// other pair by pair, down and across in even and odd places, in a tile in shared memory with a halo of four.
#define TX 32
#define TY 16
#define HALO 4
#define ROWS 8

__device__ __forceinline__ void turn(float &pr, float &pi, float &qr, float &qi, float a, float b) {
    float r = pr, i = pi;
    pr = a * r - b * qi;
    pi = a * i + b * qr;
    float s = qr;
    qr = a * s - b * i;
    qi = a * qi + b * r;
}

template <int PARITY>
__device__ void turn_down(float (*re)[TX], float (*im)[TX], int x, int first_y, int w, int h, float a, float b) {
    for (int ty = threadIdx.y; ty < TY - 1; ty += ROWS) {
        int y = first_y + ty;
        if ((y & 1) == PARITY && x >= 0 && x < w && y >= 0 && y + 1 < h)
            turn(re[ty][threadIdx.x], im[ty][threadIdx.x], re[ty + 1][threadIdx.x], im[ty + 1][threadIdx.x], a, b);
    }
    __syncthreads();
}

template <int PARITY>
__device__ void turn_across(float (*re)[TX], float (*im)[TX], int x, int first_y, int w, int h, float a, float b) {
    int tx = threadIdx.x;
    if ((x & 1) == PARITY && tx + 1 < TX && x >= 0 && x + 1 < w)
        for (int ty = threadIdx.y; ty < TY; ty += ROWS) {
            int y = first_y + ty;
            if (y >= 0 && y < h)
                turn(re[ty][tx], im[ty][tx], re[ty][tx + 1], im[ty][tx + 1], a, b);
        }
    __syncthreads();
}

extern "C" __global__ void trotter(const float *__restrict__ p_real, const float *__restrict__ p_imag,
                                   float *__restrict__ p2_real, float *__restrict__ p2_imag,
                                   const float *__restrict__ phase_real, const float *__restrict__ phase_imag, float a,
                                   float b, int w, int h) {
    __shared__ float re[TY][TX], im[TY][TX];
    int x = blockIdx.x * (TX - 2 * HALO) - HALO + threadIdx.x;
    int first_y = blockIdx.y * (TY - 2 * HALO) - HALO;
    for (int ty = threadIdx.y; ty < TY; ty += ROWS) {
        int y = first_y + ty;
        bool inside = x >= 0 && x < w && y >= 0 && y < h;
        re[ty][threadIdx.x] = inside ? p_real[y * w + x] : 0.0f;
        im[ty][threadIdx.x] = inside ? p_imag[y * w + x] : 0.0f;
    }
    __syncthreads();
    turn_down<0>(re, im, x, first_y, w, h, a, b);
    turn_across<0>(re, im, x, first_y, w, h, a, b);
    turn_down<1>(re, im, x, first_y, w, h, a, b);
    turn_across<1>(re, im, x, first_y, w, h, a, b);
    if (threadIdx.x < HALO || threadIdx.x >= TX - HALO || x >= w)
        return;
    for (int ty = threadIdx.y; ty < TY; ty += ROWS) {
        int y = first_y + ty;
        if (ty < HALO || ty >= TY - HALO || y >= h)
            continue;
        float r = re[ty][threadIdx.x], i = im[ty][threadIdx.x];
        float c = phase_real[y * w + x], s = phase_imag[y * w + x];
        p2_real[y * w + x] = c * r - s * i;
        p2_imag[y * w + x] = c * i + s * r;
    }
}
