// Viterbi's decoder for the convolutional code of rate 1/2 and K = 7 (polynomials 171 and 133): a thread for each of
// 64 states, two frames a CTA; the survivors of a step are two ballots.
#include <stdint.h>

#define STATES 64
#define POLY_A 0x79
#define POLY_B 0x5b

extern "C" __global__ void viterbi_forward(const char2 *__restrict__ soft, uint2 *__restrict__ survivors,
                                           int *__restrict__ final_metrics, int frames, int steps) {
    __shared__ int metrics[2][2][STATES];
    const int state = threadIdx.x;
    const int frame = blockIdx.x * blockDim.y + threadIdx.y;
    const bool active = frame < frames;
    const char2 *symbols = soft + (size_t)(active ? frame : 0) * steps;
    uint32_t *words = (uint32_t *)(survivors + (size_t)(active ? frame : 0) * steps);

    // The bit that leads here is the highest of the state, two states before it differ in their lowest.
    const int from0 = (state << 1) & (STATES - 1), from1 = from0 | 1;
    const int window0 = (state >> 5) << 6 | from0, window1 = window0 | 1;
    const int a0 = 1 - 2 * (__popc(window0 & POLY_A) & 1), b0 = 1 - 2 * (__popc(window0 & POLY_B) & 1);
    const int a1 = 1 - 2 * (__popc(window1 & POLY_A) & 1), b1 = 1 - 2 * (__popc(window1 & POLY_B) & 1);

    metrics[threadIdx.y][0][state] = state == 0 ? 0 : -100000;
    __syncthreads();
    int now = 0;
    for (int t = 0; t < steps; t++) {
        const char2 s = symbols[t];
        const int m0 = metrics[threadIdx.y][now][from0] + a0 * s.x + b0 * s.y;
        const int m1 = metrics[threadIdx.y][now][from1] + a1 * s.x + b1 * s.y;
        const bool second = m1 > m0;
        metrics[threadIdx.y][now ^ 1][state] = second ? m1 : m0;
        const uint32_t word = __ballot_sync(0xffffffff, second);
        if ((state & 31) == 0 && active)
            words[2 * t + (state >> 5)] = word;
        now ^= 1;
        __syncthreads();
    }
    if (active)
        final_metrics[frame * STATES + state] = metrics[threadIdx.y][now][state];
}

extern "C" __global__ void viterbi_trace(const uint2 *__restrict__ survivors, const int *__restrict__ final_metrics,
                                         uint8_t *__restrict__ bytes, int *__restrict__ scores, int frames,
                                         int steps) {
    const int frame = blockIdx.x * blockDim.x + threadIdx.x;
    if (frame >= frames)
        return;
    const uint2 *words = survivors + (size_t)frame * steps;
    const int data_bits = steps - 6;  // the tail leads to state 0
    uint8_t *out = bytes + (size_t)frame * (data_bits / 8);
    int state = 0;
    uint8_t byte = 0;
    scores[frame] = final_metrics[frame * STATES];
    for (int t = steps - 1; t >= 0; t--) {
        const uint2 w = words[t];
        const uint32_t half = state < 32 ? w.x : w.y;
        const int bit = state >> 5;
        if (t < data_bits) {
            byte |= bit << (7 - (t & 7));
            if ((t & 7) == 0) {
                out[t >> 3] = byte;
                byte = 0;
            }
        }
        state = ((state << 1) & (STATES - 1)) | (half >> (state & 31) & 1);
    }
}
