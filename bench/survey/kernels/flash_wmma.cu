#include <cuda_fp16.h>
#include <mma.h>

// Causal attention by tiles: products by tensor cores, an online softmax in shared memory, sums of 32 bits.
using namespace nvcuda;

constexpr int DIM = 64, TILE = 64, WARPS = 4;

struct Tiles {
    half q[TILE][DIM + 8], k[TILE][DIM + 8], v[TILE][DIM + 8], p[TILE][TILE + 8];
    float s[TILE][TILE + 4], o[TILE][DIM + 4];
};

__device__ void load(half (*to)[DIM + 8], const half *from, int first, int n) {
    for (int i = threadIdx.x; i < TILE * DIM / 8; i += blockDim.x) {
        int r = i / (DIM / 8), c = i % (DIM / 8) * 8;
        int4 eight = make_int4(0, 0, 0, 0);
        if (first + r < n)
            eight = *reinterpret_cast<const int4 *>(from + (size_t)(first + r) * DIM + c);
        *reinterpret_cast<int4 *>(&to[r][c]) = eight;
    }
}

extern "C" __global__ void __launch_bounds__(32 * WARPS) flash_wmma(const half *__restrict__ q,
                                                                   const half *__restrict__ k,
                                                                   const half *__restrict__ v, half *__restrict__ out,
                                                                   int n, float scale) {
    extern __shared__ __align__(128) unsigned char memory[];
    Tiles &t = *reinterpret_cast<Tiles *>(memory);
    const size_t head = (size_t)blockIdx.y * n * DIM;
    const int q0 = blockIdx.x * TILE, warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int row = 16 * warp + lane / 2, part = lane % 2 * 32;  // two lanes a row

    load(t.q, q + head, q0, n);
    for (int c = part; c < part + 32; c++)
        t.o[row][c] = 0.f;
    float most = -INFINITY, total = 0.f;

    for (int k0 = 0; k0 < min(n, q0 + TILE); k0 += TILE) {
        __syncthreads();
        load(t.k, k + head, k0, n);
        load(t.v, v + head, k0, n);
        __syncthreads();
        for (int j = 0; j < TILE; j += 16) {
            wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
            wmma::fill_fragment(sum, 0.f);
            for (int d = 0; d < DIM; d += 16) {
                wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
                wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> b;
                wmma::load_matrix_sync(a, &t.q[16 * warp][d], DIM + 8);
                wmma::load_matrix_sync(b, &t.k[j][d], DIM + 8);
                wmma::mma_sync(sum, a, b, sum);
            }
            wmma::store_matrix_sync(&t.s[16 * warp][j], sum, TILE + 4, wmma::mem_row_major);
        }
        __syncwarp();

        float now = most;
        for (int c = part; c < part + 32; c++) {
            bool seen = k0 + c <= q0 + row && k0 + c < n;
            float s = seen ? t.s[row][c] * scale : -INFINITY;
            t.s[row][c] = s;
            now = fmaxf(now, s);
        }
        now = fmaxf(now, __shfl_xor_sync(0xffffffffu, now, 1));
        float sum = 0.f;
        for (int c = part; c < part + 32; c++) {
            float p = __expf(t.s[row][c] - now);
            sum += p;
            t.p[row][c] = __float2half(p);
        }
        sum += __shfl_xor_sync(0xffffffffu, sum, 1);
        float fade = __expf(most - now);
        total = total * fade + sum;
        most = now;
        for (int c = part; c < part + 32; c++)
            t.o[row][c] *= fade;
        __syncwarp();

        for (int d = 0; d < DIM; d += 16) {
            wmma::fragment<wmma::accumulator, 16, 16, 16, float> acc;
            wmma::load_matrix_sync(acc, &t.o[16 * warp][d], DIM + 4, wmma::mem_row_major);
            for (int j = 0; j < TILE; j += 16) {
                wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
                wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> b;
                wmma::load_matrix_sync(a, &t.p[16 * warp][j], TILE + 8);
                wmma::load_matrix_sync(b, &t.v[j][d], DIM + 8);
                wmma::mma_sync(acc, a, b, acc);
            }
            wmma::store_matrix_sync(&t.o[16 * warp][d], acc, DIM + 4, wmma::mem_row_major);
        }
        __syncwarp();
    }
    if (q0 + row >= n)
        return;
    float by = 1.f / total;
    half2 *to = reinterpret_cast<half2 *>(out + head + (size_t)(q0 + row) * DIM + part);
    for (int c = 0; c < 16; c++)
        to[c] = __floats2half2_rn(t.o[row][part + 2 * c] * by, t.o[row][part + 2 * c + 1] * by);
}
