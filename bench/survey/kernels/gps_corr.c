#include "native.h"
enum { TAPS = 3, LENGTH = 1023 << 21, HALF = 1 << 20 };

typedef struct {
    uint carrier_phase, carrier_step, code_phase, code_step;
    float carrier_error, carrier_rate, code_error, power;
    uint prn, turns;
    float base_step, lock;
} Channel;

void run(const signed char *restrict samples, const uint *restrict codes, Channel *restrict channels,
         int *restrict sums, int pairs, int count, int turns) {
    int n = 2 * pairs;
    static const signed char quarter[9] = {31, 30, 29, 26, 22, 17, 12, 6, 0};
    int cosine[32];
    for (int k = 0; k < 32; k++) {
        int at = k < 16 ? k : 32 - k;
        cosine[k] = at <= 8 ? quarter[at] : -quarter[16 - at];
    }
    int chips[1023 + 2];
    for (int turn = 0; turn < turns; turn++)
        for (int id = 0; id < count; id++) {
            Channel *c = channels + id;
            for (int k = 0; k < 1023; k++)
                chips[k] = codes[c->prn * 32 + k / 32] >> (k & 31) & 1 ? -1 : 1;
            const short *in = (const short *)samples + (size_t)turn * n;
            int e_i = 0, e_q = 0, p_i = 0, p_q = 0, l_i = 0, l_q = 0;
            uint carrier = c->carrier_phase, carrier_step = c->carrier_step, step = c->code_step;
            for (int first = 0; first < n;) {  // until the early code starts again, so that no remainders are needed
                uint start = (uint)((c->code_phase + (ull)first * step) % LENGTH);
                uint early = start + HALF >= LENGTH ? start + HALF - LENGTH : start + HALF;
                int m = (int)MIN((ull)n - first, (LENGTH - 1 - (ull)early) / step + 1);
#pragma omp simd reduction(+ : e_i, e_q, p_i, p_q, l_i, l_q)
                for (int k = 0; k < m; k++) {
                    uint s = first + k, turn_at = (carrier + s * carrier_step) >> 27, e = early + (uint)k * step;
                    uint p = e >= HALF ? e - HALF : e + LENGTH - HALF, l = e >= 2 * HALF ? e - 2 * HALF : e + LENGTH - 2 * HALF;
                    int co = cosine[turn_at], si = cosine[(turn_at + 24) & 31];
                    int re = (signed char)in[s], im = in[s] >> 8;
                    int x = re * co + im * si, y = im * co - re * si;
                    int ce = chips[e >> 21], cp = chips[p >> 21], cl = chips[l >> 21];
                    e_i += ce * x;
                    e_q += ce * y;
                    p_i += cp * x;
                    p_q += cp * y;
                    l_i += cl * x;
                    l_q += cl * y;
                }
                first += m;
            }
            int total[6] = {e_i, e_q, p_i, p_q, l_i, l_q};
            memcpy(sums + ((size_t)turn * count + id) * 6, total, sizeof total);
            c->carrier_phase += (uint)n * c->carrier_step;
            c->code_phase = (uint)((c->code_phase + (ull)n * c->code_step) % LENGTH);
            float error = p_i ? atanf((float)p_q / (float)p_i) * 0.15915494f : 0;
            c->carrier_rate += 0.002f * error;
            float next = c->base_step + 4294967296.0f / n * (c->carrier_rate + 0.05f * (error - c->carrier_error));
            c->carrier_error = error;
            c->carrier_step = (uint)(int)rintf(next);
            float e = hypotf(e_i, e_q), l = hypotf(l_i, l_q);
            c->code_error = e + l > 0 ? 0.5f * (e - l) / (e + l) : 0;
            c->code_phase = (uint)((c->code_phase + (uint)LENGTH + (int)(c->code_error * 131072.0f)) % LENGTH);
            float power = (float)p_i * p_i + (float)p_q * p_q;
            c->power += 0.1f * (power - c->power);
            c->lock = ((float)p_i * p_i - (float)p_q * p_q) / fmaxf(power, 1);
            c->turns++;
        }
}
