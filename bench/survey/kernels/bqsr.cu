// Recalibration of base qualities: mismatches to the reference are counted by quality, by quality and cycle, and by
// quality and context of two bases (known variants left out); then each base gets what was observed for its like.
#include <cuda_runtime.h>
#define QUALITIES 48
#define CONTEXTS 16
#define MAX_CYCLES 160

struct Tally {
    unsigned int seen, wrong;
};

__device__ __forceinline__ void count(Tally *t, bool wrong) {
    atomicAdd(&t->seen, 1u);
    if (wrong)
        atomicAdd(&t->wrong, 1u);
}

// Reads: a byte a base, quality in the upper six bits, base in the lower two. A block a few reads, a thread a base.
extern "C" __global__ void bqsr_count(const unsigned char *__restrict__ reads, const int *__restrict__ position,
                                      const unsigned char *__restrict__ reference,
                                      const unsigned *__restrict__ known_sites, Tally *__restrict__ by_quality,
                                      Tally *__restrict__ by_cycle, Tally *__restrict__ by_context, int count_reads,
                                      int length) {
    __shared__ Tally local[QUALITIES], context_local[QUALITIES * CONTEXTS];
    const int tid = threadIdx.y * blockDim.x + threadIdx.x, threads = blockDim.x * blockDim.y;
    for (int i = tid; i < QUALITIES * CONTEXTS; i += threads)
        context_local[i] = {0, 0};
    for (int i = tid; i < QUALITIES; i += threads)
        local[i] = {0, 0};
    __syncthreads();
    for (int read = blockIdx.x * blockDim.y + threadIdx.y; read < count_reads; read += gridDim.x * blockDim.y) {
        const unsigned char *bases = reads + (size_t)read * length;
        int start = position[read];
        for (int c = threadIdx.x; c < length; c += blockDim.x) {
            unsigned char v = bases[c];
            int quality = v >> 2, base = v & 3, at = start + c;
            if (quality < 6 || (known_sites[at >> 5] >> (at & 31)) & 1)
                continue;
            bool wrong = base != reference[at];
            count(&local[quality], wrong);
            count(&by_cycle[quality * MAX_CYCLES + c], wrong);
            if (c > 0)
                count(&context_local[quality * CONTEXTS + (bases[c - 1] & 3) * 4 + base], wrong);
        }
    }
    __syncthreads();
    for (int i = tid; i < QUALITIES * CONTEXTS; i += threads)
        if (context_local[i].seen) {
            atomicAdd(&by_context[i].seen, context_local[i].seen);
            atomicAdd(&by_context[i].wrong, context_local[i].wrong);
        }
    for (int i = tid; i < QUALITIES; i += threads)
        if (local[i].seen) {
            atomicAdd(&by_quality[i].seen, local[i].seen);
            atomicAdd(&by_quality[i].wrong, local[i].wrong);
        }
}

__device__ __forceinline__ float phred(Tally t) {
    return -10.0f * log10f((t.wrong + 1.0f) / (t.seen + 2.0f));
}

// Shifts against the estimate by quality alone, none where too little was seen. A block a quality.
extern "C" __global__ void bqsr_model(const Tally *__restrict__ by_quality, const Tally *__restrict__ by_cycle,
                                      const Tally *__restrict__ by_context, float *__restrict__ quality_shift,
                                      float *__restrict__ cycle_shift, float *__restrict__ context_shift, int length) {
    int q = blockIdx.x;
    float base = by_quality[q].seen >= 100 ? phred(by_quality[q]) : (float)q;
    if (threadIdx.x == 0)
        quality_shift[q] = base;
    for (int i = threadIdx.x; i < length + CONTEXTS; i += blockDim.x) {
        bool cycle = i < length;
        Tally t = cycle ? by_cycle[q * MAX_CYCLES + i] : by_context[q * CONTEXTS + i - length];
        float shift = t.seen >= 30 ? phred(t) - base : 0.0f;
        if (cycle)
            cycle_shift[q * MAX_CYCLES + i] = shift;
        else
            context_shift[q * CONTEXTS + i - length] = shift;
    }
}

extern "C" __global__ void bqsr_apply(const unsigned char *__restrict__ reads, const float *__restrict__ quality_shift,
                                      const float *__restrict__ cycle_shift, const float *__restrict__ context_shift,
                                      unsigned char *__restrict__ out, int count_reads, int length) {
    size_t n = (size_t)count_reads * length;
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x) {
        int c = i % length;
        unsigned char v = reads[i];
        int q = v >> 2;
        if (q < 6) {
            out[i] = q;
            continue;
        }
        float estimate = quality_shift[q] + cycle_shift[q * MAX_CYCLES + c];
        if (c > 0)
            estimate += context_shift[q * CONTEXTS + (reads[i - 1] & 3) * 4 + (v & 3)];
        int rounded = __float2int_rn(estimate);
        out[i] = (unsigned char)min(max(rounded, 1), 60);
    }
}
