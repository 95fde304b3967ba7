// Residuals of a video coder: blocks of 4 x 4 to 32 x 32 in one list, dequantised, the inverse integer transform in two
// passes with 16 bits between them, added to the prediction; the even half by recursion on the template's size.
struct Tu {
    unsigned short x, y;
    unsigned char log2_size, qp, last_row, pad;
    int offset;
};

__constant__ int LEVEL_SCALE[6] = {40, 45, 51, 57, 64, 72};
__constant__ signed char ODD4[2][2] = {{83, 36}, {36, -83}};
__constant__ signed char ODD8[4][4] = {{89, 75, 50, 18}, {75, -18, -89, -50}, {50, -89, 18, 75}, {18, -50, 75, -89}};
__constant__ signed char ODD16[8] = {90, 87, 80, 70, 57, 43, 25, 9};
__constant__ signed char ODD32[16] = {90, 90, 88, 85, 82, 78, 73, 67, 61, 54, 46, 38, 31, 22, 13, 4};

// The coefficient of row 2 k + 1, column j of the transform of size N, by the symmetry of cosines.
template <int N>
__device__ __forceinline__ int odd(int k, int j) {
    if (N == 4)
        return ODD4[k][j];
    if (N == 8)
        return ODD8[k][j];
    int angle = (2 * k + 1) * (2 * j + 1) % (4 * N);  // of 2 pi
    int sign = 1;
    if (angle > 2 * N)
        angle = 4 * N - angle;
    if (angle > N) {
        angle = 2 * N - angle;
        sign = -1;
    }
    return sign * (N == 16 ? ODD16[angle / 2] : ODD32[angle / 2]);
}

template <int N>
struct Inverse {
    static __device__ void run(const short *in, int step, int *out) {
        int even[N / 2];
        Inverse<N / 2>::run(in, 2 * step, even);
#pragma unroll
        for (int j = 0; j < N / 2; j++) {
            int sum = 0;
            for (int k = 0; k < N / 2; k++)
                sum += odd<N>(k, j) * in[(2 * k + 1) * step];
            out[j] = even[j] + sum;
            out[N - 1 - j] = even[j] - sum;
        }
    }
};

template <>
struct Inverse<2> {
    static __device__ void run(const short *in, int step, int *out) {
        out[0] = 64 * (in[0] + in[step]);
        out[1] = 64 * (in[0] - in[step]);
    }
};

__device__ __forceinline__ short narrow(int v) {
    return (short)min(max(v, -32768), 32767);
}

template <int N>
__device__ void decode(const Tu &tu, const short *__restrict__ coefficients, unsigned char *__restrict__ picture,
                       int stride, short *buffer) {
    const int tid = threadIdx.x;
    const int log2n = tu.log2_size;
    const int scale = LEVEL_SCALE[tu.qp % 6] << (tu.qp / 6);
    const int shift = log2n - 1 + 4;
    for (int i = tid; i < N * N; i += blockDim.x) {
        int row = i / N;
        int level = row <= tu.last_row ? coefficients[tu.offset + i] : 0;
        buffer[row * (N + 2) + i % N] = narrow((level * scale * 16 + (1 << (shift - 1))) >> shift);
    }
    __syncthreads();
    int line[N];
    if (tid < N) {  // columns
        Inverse<N>::run(buffer + tid, N + 2, line);
        for (int j = 0; j < N; j++)
            buffer[j * (N + 2) + tid] = narrow((line[j] + 64) >> 7);
    }
    __syncthreads();
    if (tid < N) {  // rows
        Inverse<N>::run(buffer + tid * (N + 2), 1, line);
        for (int j = 0; j < N; j++)
            buffer[tid * (N + 2) + j] = narrow((line[j] + 2048) >> 12);
    }
    __syncthreads();
    for (int i = tid; i < N * N; i += blockDim.x) {
        unsigned char *p = picture + (tu.y + i / N) * stride + tu.x + i % N;
        *p = (unsigned char)min(max(*p + buffer[i / N * (N + 2) + i % N], 0), 255);
    }
}

extern "C" __global__ void __launch_bounds__(64) hevc_idct(const Tu *__restrict__ tus,
                                                           const short *__restrict__ coefficients,
                                                           unsigned char *__restrict__ picture, int stride) {
    __shared__ short buffer[32 * 34];
    const Tu tu = tus[blockIdx.x];
    switch (tu.log2_size) {
    case 2:
        decode<4>(tu, coefficients, picture, stride, buffer);
        break;
    case 3:
        decode<8>(tu, coefficients, picture, stride, buffer);
        break;
    case 4:
        decode<16>(tu, coefficients, picture, stride, buffer);
        break;
    case 5:
        decode<32>(tu, coefficients, picture, stride, buffer);
        break;
    }
}
