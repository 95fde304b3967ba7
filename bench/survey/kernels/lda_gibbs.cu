// A sweep of Gibbs sampling for topics of words, counts of the sweep before: a thread a word, new counts by atomics.
#define TOPICS 32

__device__ __forceinline__ float uniform(unsigned int i, unsigned int seed) {
    unsigned int x = i * 747796405u + seed;
    x = ((x >> ((x >> 28) + 4)) ^ x) * 277803737u;
    x ^= x >> 22;
    return (x >> 8) * (1.0f / 16777216.0f);
}

extern "C" __global__ void __launch_bounds__(128)
    lda_sample(const int *__restrict__ doc, const int *__restrict__ word, unsigned char *__restrict__ topic,
               const int *__restrict__ doc_topic, const int *__restrict__ word_topic,
               const int *__restrict__ topic_total, int *new_doc_topic, int *new_word_topic, int n, float alpha,
               float beta, float beta_sum, unsigned int seed) {
    __shared__ float inverse[TOPICS];
    if (threadIdx.x < TOPICS)
        inverse[threadIdx.x] = 1.0f / (topic_total[threadIdx.x] + beta_sum);
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const int d = doc[i], w = word[i], old = topic[i];
    const int *dt = doc_topic + d * TOPICS, *wt = word_topic + w * TOPICS;
    float p[TOPICS], sum = 0.0f;
    for (int k = 0; k < TOPICS; k++) {
        int mine = k == old;
        sum += (dt[k] - mine + alpha) * (wt[k] - mine + beta) * inverse[k];
        p[k] = sum;
    }
    float u = uniform(i, seed) * sum;
    int k = 0;
    while (k < TOPICS - 1 && p[k] <= u)
        k++;
    topic[i] = k;
    atomicAdd(&new_doc_topic[d * TOPICS + k], 1);
    atomicAdd(&new_word_topic[w * TOPICS + k], 1);
}

extern "C" __global__ void lda_totals(const int *__restrict__ word_topic, int *topic_total, int words) {
    __shared__ int part[8][TOPICS];
    int sum = 0;
    for (int w = blockIdx.x * 8 + threadIdx.y; w < words; w += gridDim.x * 8)
        sum += word_topic[w * TOPICS + threadIdx.x];
    part[threadIdx.y][threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.y == 0) {
        for (int j = 1; j < 8; j++)
            sum += part[j][threadIdx.x];
        atomicAdd(&topic_total[threadIdx.x], sum);
    }
}
