// BM25 over an inverted index, the best 16 documents: a block for each query goes through ranges of 2048 documents,
// skips those whose terms' block maxima cannot beat the worst kept one, and adds up scores in shared memory.
#define RANGE 2048
#define KEEP 16
#define POSTINGS 64  // of a block with a maximum
#define MAX_TERMS 8

struct Posting {
    unsigned doc;
    unsigned char tf, length_code, pad[2];
};

struct Term {
    int first, count, first_block;
    float idf;
};

__device__ int lower_bound(const Posting *postings, int from, int to, unsigned doc) {
    while (from < to) {
        int mid = (from + to) >> 1;
        if (postings[mid].doc < doc)
            from = mid + 1;
        else
            to = mid;
    }
    return from;
}

extern "C" __global__ void norm_table(float *table, float k1, float b, float average) {
    float length = threadIdx.x < 40 ? (float)threadIdx.x : 40.0f * (1.0f + (threadIdx.x - 40) * 0.05f);
    table[threadIdx.x] = k1 * (1.0f - b + b * length / average);
}

extern "C" __global__ void __launch_bounds__(256)
    bm25_skip(const Posting *__restrict__ postings, const Term *__restrict__ terms,
              const float *__restrict__ block_max, const int *__restrict__ query_terms,
              const int *__restrict__ query_start, const float *__restrict__ norms, unsigned *__restrict__ best_docs,
              float *__restrict__ best_scores, int docs, float k1) {
    __shared__ float scores[RANGE];
    __shared__ float norm[256];
    __shared__ unsigned long long kept[KEEP + 1];
    __shared__ unsigned long long warp_best[8];
    __shared__ int from[MAX_TERMS], to[MAX_TERMS];
    __shared__ float upper[MAX_TERMS];
    const int tid = threadIdx.x, query = blockIdx.x;
    const int first_term = query_start[query], count = query_start[query + 1] - first_term;
    norm[tid] = norms[tid];
    if (tid <= KEEP)
        kept[tid] = 0;
    if (tid < count)
        to[tid] = terms[query_terms[first_term + tid]].first;
    __syncthreads();
    for (unsigned base = 0; base < (unsigned)docs; base += RANGE) {
        if (tid < count) {
            Term t = terms[query_terms[first_term + tid]];
            int begin = to[tid];
            int end = lower_bound(postings, begin, t.first + t.count, base + RANGE);
            float bound = 0.0f;
            if (begin < end)
                for (int k = (begin - t.first) / POSTINGS; k <= (end - 1 - t.first) / POSTINGS; k++)
                    bound = fmaxf(bound, block_max[t.first_block + k]);
            from[tid] = begin;
            to[tid] = end;
            upper[tid] = bound;
        }
        __syncthreads();
        float possible = 0.0f;
        for (int i = 0; i < count; i++)
            possible += upper[i];
        const float threshold = __uint_as_float((unsigned)(kept[KEEP - 1] >> 32));
        if (possible <= threshold) {
            __syncthreads();
            continue;
        }
        for (int i = tid; i < RANGE; i += blockDim.x)
            scores[i] = 0.0f;
        __syncthreads();
        for (int i = 0; i < count; i++) {
            const float idf = terms[query_terms[first_term + i]].idf;
            for (int p = from[i] + tid; p < to[i]; p += blockDim.x) {
                Posting posting = postings[p];
                float tf = posting.tf;
                scores[posting.doc - base] += idf * tf * (k1 + 1.0f) / (tf + norm[posting.length_code]);
            }
            __syncthreads();
        }
        // the best of the range, one after the other, while they get in
        while (true) {
            unsigned long long mine = 0;
            for (int i = tid; i < RANGE; i += blockDim.x)
                if (scores[i] > threshold) {
                    unsigned long long key =
                        (unsigned long long)__float_as_uint(scores[i]) << 32 | (0xffffffffu - (base + i));
                    mine = max(mine, key);
                }
            for (int offset = 16; offset; offset >>= 1)
                mine = max(mine, __shfl_xor_sync(0xffffffffu, mine, offset));
            if ((tid & 31) == 0)
                warp_best[tid >> 5] = mine;
            __syncthreads();
            unsigned long long top = warp_best[0];
            for (int i = 1; i < 8; i++)
                top = max(top, warp_best[i]);
            if (top <= kept[KEEP - 1])
                break;
            __syncthreads();
            if (tid == 0) {
                int at = KEEP - 1;
                while (at > 0 && kept[at - 1] < top) {
                    kept[at] = kept[at - 1];
                    at--;
                }
                kept[at] = top;
                scores[0xffffffffu - (unsigned)top - base] = 0.0f;
            }
            __syncthreads();
        }
        __syncthreads();
    }
    if (tid < KEEP) {
        best_docs[query * KEEP + tid] = kept[tid] ? 0xffffffffu - (unsigned)kept[tid] : 0xffffffffu;
        best_scores[query * KEEP + tid] = __uint_as_float((unsigned)(kept[tid] >> 32));
    }
}
