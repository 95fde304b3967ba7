// Tracking of GPS satellites: samples of 8 bits I and Q against a carrier by a table and code chips by phases in fixed
// point, early, prompt and late; a block for each channel, then loop filters; one millisecond a turn.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;

#define TAPS 3

__constant__ signed char cosine[32] = {31, 30, 29, 26, 22, 17, 12, 6, 0, -6, -12, -17, -22, -26, -29, -30,
                                       -31, -30, -29, -26, -22, -17, -12, -6, 0, 6, 12, 17, 22, 26, 29, 30};

struct __align__(16) Channel {
    unsigned int carrier_phase, carrier_step;  // of a turn
    unsigned int code_phase, code_step;        // of chips, 21 bits after the point
    float carrier_error, carrier_rate;
    float code_error, power;
    unsigned int prn, turns;
    float base_step, lock;
};

extern "C" __global__ void __launch_bounds__(192)
    gps_correlate(const char4 *__restrict__ samples, const unsigned int *__restrict__ codes,
                  const Channel *__restrict__ channels, int2 *__restrict__ sums, int pairs, int turn) {
    __shared__ unsigned int code[32];
    __shared__ int2 partial[TAPS][6];
    const Channel channel = channels[blockIdx.x];
    if (threadIdx.x < 32)
        code[threadIdx.x] = codes[channel.prn * 32 + threadIdx.x];
    __syncthreads();
    const unsigned int length = 1023u << 21, half_chip = 1u << 20;
    int2 sum[TAPS] = {};
    const char4 *here = samples + (size_t)turn * pairs;
    for (int i = threadIdx.x; i < pairs; i += blockDim.x) {
        char4 two = here[i];
#pragma unroll
        for (int k = 0; k < 2; k++) {
            unsigned int s = 2 * i + k;
            unsigned int turn_at = (channel.carrier_phase + s * channel.carrier_step) >> 27;
            int c = cosine[turn_at], d = cosine[(turn_at + 24) & 31];
            int re = k ? two.z : two.x, im = k ? two.w : two.y;
            unsigned int iq = (re & 255) | (im & 255) << 8;
            int i_mixed = __dp4a((int)iq, (int)((c & 255) | (d & 255) << 8), 0);
            int q_mixed = __dp4a((int)iq, (int)((-d & 255) | (c & 255) << 8), 0);
#pragma unroll
            for (int t = 0; t < TAPS; t++) {
                unsigned long long phase = channel.code_phase + (unsigned long long)s * channel.code_step + length;
                phase += t == 0 ? half_chip : t == 2 ? -(unsigned long long)half_chip : 0;
                unsigned int chip = (unsigned int)(phase % length) >> 21;
                bool negative = code[chip >> 5] >> (chip & 31) & 1;
                sum[t].x += negative ? -i_mixed : i_mixed;
                sum[t].y += negative ? -q_mixed : q_mixed;
            }
        }
    }
    auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    for (int t = 0; t < TAPS; t++) {
        int x = cg::reduce(warp, sum[t].x, cg::plus<int>()), y = cg::reduce(warp, sum[t].y, cg::plus<int>());
        if (warp.thread_rank() == 0)
            partial[t][warp.meta_group_rank()] = make_int2(x, y);
    }
    __syncthreads();
    if (threadIdx.x < TAPS) {
        int2 total = make_int2(0, 0);
        for (int w = 0; w < 6; w++) {
            total.x += partial[threadIdx.x][w].x;
            total.y += partial[threadIdx.x][w].y;
        }
        sums[((size_t)turn * gridDim.x + blockIdx.x) * TAPS + threadIdx.x] = total;
    }
}

extern "C" __global__ void gps_loops(Channel *channels, const int2 *__restrict__ sums, int count, int pairs,
                                     int turn) {
    int id = blockIdx.x * blockDim.x + threadIdx.x;
    if (id >= count)
        return;
    Channel c = channels[id];
    const int2 *tap = sums + ((size_t)turn * count + id) * TAPS;
    int2 early = tap[0], prompt = tap[1], late = tap[2];
    c.carrier_phase += 2u * pairs * c.carrier_step;
    c.code_phase = (unsigned int)((c.code_phase + 2ull * pairs * c.code_step) % (1023u << 21));
    float error = prompt.x != 0 ? atanf((float)prompt.y / (float)prompt.x) * 0.15915494f : 0.0f;
    c.carrier_rate += 0.002f * error;
    float step = c.base_step + 4294967296.0f / (2.0f * pairs) * (c.carrier_rate + 0.05f * (error - c.carrier_error));
    c.carrier_error = error;
    c.carrier_step = (unsigned int)__float2int_rn(step);
    float e = hypotf((float)early.x, (float)early.y), l = hypotf((float)late.x, (float)late.y);
    c.code_error = e + l > 0.0f ? 0.5f * (e - l) / (e + l) : 0.0f;
    c.code_phase = (unsigned int)((c.code_phase + (1023u << 21) + (int)(c.code_error * 131072.0f)) % (1023u << 21));
    float power = (float)prompt.x * prompt.x + (float)prompt.y * prompt.y;
    c.power += 0.1f * (power - c.power);
    c.lock = ((float)prompt.x * prompt.x - (float)prompt.y * prompt.y) / fmaxf(power, 1.0f);
    c.turns++;
    channels[id] = c;
}
