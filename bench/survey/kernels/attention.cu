// Causal attention of several heads: a thread for each query goes through the keys before it.
#define D 64

extern "C" __global__ void attention(const float *q, const float *k, const float *v, float *out, int batch, int seq,
                                     int heads, float scale) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int head = blockIdx.y, b = blockIdx.z;
    if (i >= seq)
        return;
    size_t row = (size_t)heads * D, start = (size_t)b * seq * row + (size_t)head * D;
    float query[D], sum[D];
    for (int d = 0; d < D; d++) {
        query[d] = q[start + i * row + d];
        sum[d] = 0.0f;
    }
    float most = -1e30f, total = 0.0f;
    for (int j = 0; j <= i; j++) {
        const float *key = k + start + j * row, *value = v + start + j * row;
        float score = 0.0f;
        for (int d = 0; d < D; d++)
            score += query[d] * key[d];
        score *= scale;
        if (score > most) {
            float old = expf(most - score);
            total *= old;
            for (int d = 0; d < D; d++)
                sum[d] *= old;
            most = score;
        }
        float p = expf(score - most);
        total += p;
        for (int d = 0; d < D; d++)
            sum[d] += p * value[d];
    }
    for (int d = 0; d < D; d++)
        out[start + i * row + d] = sum[d] / total;
}
