// Decoding of a low-density parity-check code by sums of least values: checks tell bits, bits tell checks, along the
// edges between them. A thread for each check or bit, blockIdx.y is the frame.
extern "C" __global__ void begin(const float *llr, const int *bit_of_edge, float *to_check, int bits, int edges) {
    int e = blockIdx.x * blockDim.x + threadIdx.x, frame = blockIdx.y;
    if (e < edges)
        to_check[frame * edges + e] = llr[frame * bits + bit_of_edge[e]];
}

extern "C" __global__ void check_nodes(const int *check_start, const float *to_check, float *to_bit, int checks,
                                       int edges, float factor) {
    int c = blockIdx.x * blockDim.x + threadIdx.x, frame = blockIdx.y;
    if (c >= checks)
        return;
    const float *in = to_check + frame * edges;
    float *out = to_bit + frame * edges;
    int first = check_start[c], last = check_start[c + 1];
    float least = 1e30f, second = 1e30f;
    int which = -1, sign = 1;
    for (int e = first; e < last; e++) {
        float value = in[e];
        float size = fabsf(value);
        if (value < 0.0f)
            sign = -sign;
        if (size < least) {
            second = least;
            least = size;
            which = e;
        } else if (size < second) {
            second = size;
        }
    }
    for (int e = first; e < last; e++) {
        float size = factor * (e == which ? second : least);
        int own = in[e] < 0.0f ? -sign : sign;
        out[e] = own < 0 ? -size : size;
    }
}

extern "C" __global__ void bit_nodes(const int *bit_start, const int *bit_edges, const float *llr,
                                     const float *to_bit, float *to_check, unsigned char *hard, int bits, int edges) {
    int b = blockIdx.x * blockDim.x + threadIdx.x, frame = blockIdx.y;
    if (b >= bits)
        return;
    const float *in = to_bit + frame * edges;
    float *out = to_check + frame * edges;
    float total = llr[frame * bits + b];
    for (int k = bit_start[b]; k < bit_start[b + 1]; k++)
        total += in[bit_edges[k]];
    for (int k = bit_start[b]; k < bit_start[b + 1]; k++) {
        int e = bit_edges[k];
        out[e] = total - in[e];
    }
    hard[frame * bits + b] = total < 0.0f;
}
