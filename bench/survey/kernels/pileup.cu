// Variants from aligned reads: each read walks its CIGAR and counts bases at positions, then genotypes by likelihood.
struct Read {
    int position, first_op, ops, first_base;
};

enum { MATCH, INSERT, DELETE, SKIP, SOFT_CLIP, HARD_CLIP };

extern "C" __global__ void pileup_count(const Read *__restrict__ reads, const unsigned int *__restrict__ cigar,
                                        const unsigned char *__restrict__ packed,
                                        const unsigned char *__restrict__ quality, unsigned int *counts,
                                        unsigned int *weight, unsigned int *gaps, int n, int min_quality) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    Read read = reads[i];
    int ref = read.position, base = read.first_base;
    for (int k = 0; k < read.ops; k++) {
        unsigned int op = cigar[read.first_op + k];
        int length = op >> 4;
        switch (op & 15) {
        case MATCH:
            for (int j = 0; j < length; j++, ref++, base++) {
                int q = quality[base];
                if (q < min_quality)
                    continue;
                int code = packed[base >> 2] >> (2 * (base & 3)) & 3;
                atomicAdd(&counts[4 * ref + code], 1u);
                atomicAdd(&weight[4 * ref + code], (unsigned int)q);
            }
            break;
        case INSERT:
        case SOFT_CLIP:
            base += length;
            break;
        case DELETE:
            for (int j = 0; j < length; j++)
                atomicAdd(&gaps[ref + j], 1u);
            ref += length;
            break;
        case SKIP:
            ref += length;
            break;
        default:
            break;
        }
    }
}

extern "C" __global__ void pileup_call(const uint4 *__restrict__ counts, const uint4 *__restrict__ weight,
                                       const unsigned int *__restrict__ gaps,
                                       const unsigned char *__restrict__ reference, unsigned char *genotype,
                                       float *score, int length, float het_prior) {
    int p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= length)
        return;
    uint4 c4 = counts[p], w4 = weight[p];
    float count[4] = {(float)c4.x, (float)c4.y, (float)c4.z, (float)c4.w};
    float sum[4] = {(float)w4.x, (float)w4.y, (float)w4.z, (float)w4.w};
    float depth = count[0] + count[1] + count[2] + count[3];
    if (depth < 4.0f || gaps[p] > depth) {
        genotype[p] = 255;
        score[p] = 0.0f;
        return;
    }
    float hit[4], miss[4], all_miss = 0.0f;
    for (int b = 0; b < 4; b++) {
        float mean = count[b] > 0.0f ? sum[b] / count[b] : 30.0f;
        float error = exp10f(-0.1f * mean);
        hit[b] = count[b] * log1pf(-error);
        miss[b] = count[b] * logf(error / 3.0f);
        all_miss += miss[b];
    }
    float best = -1e30f, second = -1e30f;
    int which = 0;
    int ref = reference[p];
    for (int a = 0; a < 4; a++) {
        for (int b = a; b < 4; b++) {
            float like;
            if (a == b)
                like = all_miss - miss[a] + hit[a] + (a == ref ? 0.0f : 2.0f * het_prior);
            else
                like = all_miss - miss[a] - miss[b] - 0.6931472f * (count[a] + count[b]) +
                       (a == ref || b == ref ? het_prior : 3.0f * het_prior);
            if (like > best) {
                second = best;
                best = like;
                which = a << 2 | b;
            } else if (like > second) {
                second = like;
            }
        }
    }
    genotype[p] = which;
    score[p] = best - second;
}
