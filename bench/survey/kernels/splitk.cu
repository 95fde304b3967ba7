// relu(A B^T + bias) of halfs by tensor cores: tiles of 64 x 64 that cp.async brings into swizzled shared memory,
// two stages. Blocks that share a tile each take a part of k and add to it in turn, by a semaphore.
#include <cuda_fp16.h>
#include <cstdint>

namespace {

constexpr int kTile = 64, kDepth = 32, kStages = 2, kThreads = 128;
constexpr int kChunks = kDepth / 8;  // 16 bytes each

struct __align__(16) Stage {
    __half a[kTile * kDepth], b[kTile * kDepth];
};

// Where a row's chunk is: eight rows' chunks lie in different banks.
__device__ __forceinline__ int swizzled(int row, int chunk) {
    return row * kDepth + (chunk ^ ((row >> 1) & (kChunks - 1))) * 8;
}

__device__ __forceinline__ uint32_t shared_address(const void *p) {
    return static_cast<uint32_t>(__cvta_generic_to_shared(p));
}

__device__ __forceinline__ void copy16(void *to, const void *from) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(to)), "l"(from) : "memory");
}

__device__ __forceinline__ void commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }

template <int N>
__device__ __forceinline__ void wait() {
    asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory");
}

__device__ __forceinline__ void ldmatrix4(uint32_t (&r)[4], const void *p) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(shared_address(p))
                 : "memory");
}

__device__ __forceinline__ void mma(float (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                 "{%0, %1, %2, %3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

class Semaphore {
  public:
    __device__ explicit Semaphore(int *at) : at_(at) {}

    __device__ void wait(int turn) const {
        if (threadIdx.x == 0) {
            int seen;
            do
                asm volatile("ld.global.acquire.gpu.b32 %0, [%1];" : "=r"(seen) : "l"(at_) : "memory");
            while (seen != turn);
        }
        __syncthreads();
    }

    __device__ void release(int turn) const {
        __syncthreads();
        if (threadIdx.x == 0)
            asm volatile("st.global.release.gpu.b32 [%0], %1;" ::"l"(at_), "r"(turn) : "memory");
    }

  private:
    int *at_;
};

}  // namespace

extern "C" __global__ void __launch_bounds__(kThreads)
    splitk(const __half *__restrict__ a, const __half *__restrict__ b, const float *__restrict__ bias, float *c,
           int *semaphores, int m, int n, int k) {
    __shared__ Stage stages[kStages];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int warp_m = (warp / 2) * 32, warp_n = (warp % 2) * 32;
    const int part = k / gridDim.z, first_k = blockIdx.z * part;
    a += static_cast<size_t>(blockIdx.y) * kTile * k + first_k;
    b += static_cast<size_t>(blockIdx.x) * kTile * k + first_k;

    auto load = [&](int stage, int at) {
#pragma unroll
        for (int i = threadIdx.x; i < kTile * kChunks; i += kThreads) {
            const int row = i / kChunks, chunk = i % kChunks;
            copy16(stages[stage].a + swizzled(row, chunk), a + static_cast<size_t>(row) * k + at + chunk * 8);
            copy16(stages[stage].b + swizzled(row, chunk), b + static_cast<size_t>(row) * k + at + chunk * 8);
        }
        commit();
    };

    float sum[2][4][4] = {};
    load(0, 0);
    const int steps = part / kDepth;
    for (int step = 0; step < steps; ++step) {
        if (step + 1 < steps) {
            load((step + 1) % kStages, (step + 1) * kDepth);
            wait<1>();
        } else {
            wait<0>();
        }
        __syncthreads();
        const Stage &now = stages[step % kStages];
#pragma unroll
        for (int kk = 0; kk < kDepth / 16; ++kk) {
            uint32_t fa[2][4], fb[2][4];
#pragma unroll
            for (int i = 0; i < 2; ++i) {
                ldmatrix4(fa[i], now.a + swizzled(warp_m + 16 * i + lane % 16, 2 * kk + lane / 16));
                ldmatrix4(fb[i], now.b + swizzled(warp_n + 16 * i + lane / 16 * 8 + lane % 8,
                                                  2 * kk + lane / 8 % 2));
            }
#pragma unroll
            for (int i = 0; i < 2; ++i)
#pragma unroll
                for (int j = 0; j < 4; ++j)
                    mma(sum[i][j], fa[i], fb[j / 2][j % 2 * 2], fb[j / 2][j % 2 * 2 + 1]);
        }
        __syncthreads();
    }

    const Semaphore semaphore(semaphores + blockIdx.y * gridDim.x + blockIdx.x);
    const int turn = blockIdx.z, last = gridDim.z - 1;
    semaphore.wait(turn);
#pragma unroll
    for (int i = 0; i < 2; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j)
#pragma unroll
            for (int half = 0; half < 2; ++half) {
                const int row = blockIdx.y * kTile + warp_m + 16 * i + 8 * half + lane / 4;
                const int col = blockIdx.x * kTile + warp_n + 8 * j + lane % 4 * 2;
                float2 *to = reinterpret_cast<float2 *>(c + static_cast<size_t>(row) * n + col);
                float2 value = make_float2(sum[i][j][2 * half], sum[i][j][2 * half + 1]);
                if (turn > 0) {
                    const float2 before = __ldcg(to);
                    value.x += before.x;
                    value.y += before.y;
                }
                if (turn == last) {
                    value.x = fmaxf(value.x + bias[col], 0.0f);
                    value.y = fmaxf(value.y + bias[col + 1], 0.0f);
                }
                __stcg(to, value);
            }
    semaphore.release(turn == last ? 0 : turn + 1);
}
