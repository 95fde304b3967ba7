// Fatigue of many gauges: turning points of each one's history, cycles by counting rain that flows (ASTM E1049) with a
// stack of the thread's own, a histogram of their ranges and the damage by Miner's rule.
#define STACK 96
#define BINS 24

struct Counter {
    float stack[STACK];
    int depth;
};

__device__ void count_cycle(float range, float weight, float bin_width, float reference, float exponent,
                            float *histogram, int gauges, int gauge, float &damage, float &most) {
    int bin = min((int)(range / bin_width), BINS - 1);
    histogram[bin * gauges + gauge] += weight;
    damage += weight * powf(range / reference, exponent);
    most = fmaxf(most, range);
}

extern "C" __global__ void rainflow(const float *__restrict__ history, float *__restrict__ histogram,
                                    float *__restrict__ damage_out, float *__restrict__ most_out, int gauges,
                                    int times, float bin_width, float reference, float exponent) {
    int gauge = blockIdx.x * blockDim.x + threadIdx.x;
    if (gauge >= gauges)
        return;
    for (int b = 0; b < BINS; b++)
        histogram[b * gauges + gauge] = 0.0f;
    float damage = 0.0f, most = 0.0f;
    Counter counter;
    counter.depth = 0;

    float previous = history[gauge], current = previous;
    bool any = false;
    for (int t = 1; t <= times; t++) {
        bool turned;
        float next = 0.0f;
        if (t < times) {
            next = history[t * gauges + gauge];
            if (next == current)
                continue;
            turned = !any || (current - previous) * (next - current) < 0.0f;
        } else
            turned = true;  // the last is one, too
        any = true;
        if (turned) {
            counter.stack[counter.depth++] = current;
            while (counter.depth >= 3) {
                float x = fabsf(counter.stack[counter.depth - 1] - counter.stack[counter.depth - 2]);
                float y = fabsf(counter.stack[counter.depth - 2] - counter.stack[counter.depth - 3]);
                if (x < y)
                    break;
                if (counter.depth == 3) {  // with the history's start: half a cycle
                    count_cycle(y, 0.5f, bin_width, reference, exponent, histogram, gauges, gauge, damage, most);
                    counter.stack[0] = counter.stack[1];
                    counter.stack[1] = counter.stack[2];
                    counter.depth = 2;
                } else {
                    count_cycle(y, 1.0f, bin_width, reference, exponent, histogram, gauges, gauge, damage, most);
                    counter.stack[counter.depth - 3] = counter.stack[counter.depth - 1];
                    counter.depth -= 2;
                }
            }
            if (counter.depth == STACK)
                break;
        }
        previous = current;
        current = next;
    }
    for (int i = 0; i + 1 < counter.depth; i++)
        count_cycle(fabsf(counter.stack[i + 1] - counter.stack[i]), 0.5f, bin_width, reference, exponent, histogram,
                    gauges, gauge, damage, most);
    damage_out[gauge] = damage;
    most_out[gauge] = most;
}
