#include "native.h"

void run(const float *restrict in, const float *restrict taps, float *restrict out, int length, int out_length,
         int width, int step, int inputs, int outputs) {
    memset(out, 0, 4 * outputs * out_length);
    for (int channel = 0; channel < outputs; channel++)
        for (int c = 0; c < inputs; c++)
            for (int k = 0; k < length; k++)
                for (int tap = 0; tap < width; tap++)
                    out[channel * out_length + k * step + tap] +=
                        in[c * length + k] * taps[(c * outputs + channel) * width + tap];
}
