// The likelihood of a tree of species from aligned DNA (Felsenstein's pruning): four categories of rates, a launch for
// each inner node, which has a thread for each site and category; numbers are scaled per site so that none becomes 0.
#define CATEGORIES 4
#define SITES_PER_BLOCK 32

struct Model {
    float frequency[4];
    float rate[CATEGORIES];
    float kappa;
};

// P(t) of the model of Hasegawa, Kishino and Yano, for each branch and category.
extern "C" __global__ void transition(const Model *model, const float *__restrict__ lengths, float *__restrict__ p,
                                      int branches) {
    int id = blockIdx.x * blockDim.x + threadIdx.x;
    if (id >= branches * CATEGORIES)
        return;
    Model m = *model;
    float purines = m.frequency[0] + m.frequency[2], pyrimidines = m.frequency[1] + m.frequency[3];
    float scale = 2.0f * (purines * pyrimidines + m.kappa * (m.frequency[0] * m.frequency[2] +
                                                             m.frequency[1] * m.frequency[3]));
    float t = lengths[id / CATEGORIES] * m.rate[id % CATEGORIES] / scale;
    float e1 = expf(-t);
    float *matrix = p + (size_t)id * 16;
    for (int from = 0; from < 4; from++) {
        float group = (from & 1) ? pyrimidines : purines;
        float e2 = expf(-t * (1.0f + group * (m.kappa - 1.0f)));
        for (int to = 0; to < 4; to++) {
            float f = m.frequency[to], value;
            if (from == to)
                value = f + f * (1.0f / group - 1.0f) * e1 + (group - f) / group * e2;
            else if ((from & 1) == (to & 1))
                value = f + f * (1.0f / group - 1.0f) * e1 - f / group * e2;
            else
                value = f * (1.0f - e1);
            matrix[from * 4 + to] = value;
        }
    }
}

struct Child {
    int branch;
    int tip;    // its row of letters, or -1
    int inner;  // its row of partial likelihoods, or -1
};

struct Node {
    Child left, right;
};

// What the subtree below says of each letter at its top.
__device__ __forceinline__ float4 through_branch(const Child &child, const float *matrix, const unsigned char *letters,
                                                 const float4 *partials, int site, int category, int sites) {
    if (child.tip >= 0) {
        unsigned char letter = letters[(size_t)child.tip * sites + site];
        if (letter > 3)
            return make_float4(1.0f, 1.0f, 1.0f, 1.0f);  // unknown
        return make_float4(matrix[letter], matrix[4 + letter], matrix[8 + letter], matrix[12 + letter]);
    }
    float4 below = partials[((size_t)child.inner * sites + site) * CATEGORIES + category];
    float result[4];
#pragma unroll
    for (int from = 0; from < 4; from++)
        result[from] = matrix[4 * from] * below.x + matrix[4 * from + 1] * below.y + matrix[4 * from + 2] * below.z +
                       matrix[4 * from + 3] * below.w;
    return make_float4(result[0], result[1], result[2], result[3]);
}

extern "C" __global__ void __launch_bounds__(CATEGORIES *SITES_PER_BLOCK)
    prune(const Node *__restrict__ nodes, int which, const float *__restrict__ p,
          const unsigned char *__restrict__ letters, float4 *partials, float *log_scale, int sites) {
    __shared__ float left_matrix[CATEGORIES][17], right_matrix[CATEGORIES][17];
    int category = threadIdx.x, tid = threadIdx.y * CATEGORIES + threadIdx.x;
    Node node = nodes[which];
    for (int i = tid; i < CATEGORIES * 16; i += CATEGORIES * SITES_PER_BLOCK) {
        left_matrix[i / 16][i % 16] = p[(size_t)node.left.branch * CATEGORIES * 16 + i];
        right_matrix[i / 16][i % 16] = p[(size_t)node.right.branch * CATEGORIES * 16 + i];
    }
    __syncthreads();
    int site = blockIdx.x * SITES_PER_BLOCK + threadIdx.y;
    bool active = site < sites;
    float4 value = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    if (active) {
        float4 l = through_branch(node.left, left_matrix[category], letters, partials, site, category, sites);
        float4 r = through_branch(node.right, right_matrix[category], letters, partials, site, category, sites);
        value = make_float4(l.x * r.x, l.y * r.y, l.z * r.z, l.w * r.w);
    }
    float largest = fmaxf(fmaxf(value.x, value.y), fmaxf(value.z, value.w));
    largest = fmaxf(largest, __shfl_xor_sync(0xffffffffu, largest, 1, CATEGORIES));
    largest = fmaxf(largest, __shfl_xor_sync(0xffffffffu, largest, 2, CATEGORIES));
    if (!active)
        return;
    if (largest < 1e-4f && largest > 0.0f) {
        float inverse = 1.0f / largest;
        value.x *= inverse;
        value.y *= inverse;
        value.z *= inverse;
        value.w *= inverse;
        if (category == 0)
            log_scale[site] += logf(largest);
    }
    partials[((size_t)which * sites + site) * CATEGORIES + category] = value;
}

extern "C" __global__ void root_likelihood(const Model *model, const float4 *__restrict__ partials,
                                           const float *__restrict__ log_scale, const int *__restrict__ weights,
                                           float *site_log, double *total, int root, int sites) {
    __shared__ double sums[256];
    double sum = 0.0;
    for (int site = blockIdx.x * blockDim.x + threadIdx.x; site < sites; site += gridDim.x * blockDim.x) {
        float likelihood = 0.0f;
        for (int c = 0; c < CATEGORIES; c++) {
            float4 v = partials[((size_t)root * sites + site) * CATEGORIES + c];
            likelihood += 0.25f * (model->frequency[0] * v.x + model->frequency[1] * v.y + model->frequency[2] * v.z +
                                   model->frequency[3] * v.w);
        }
        float value = logf(likelihood) + log_scale[site];
        site_log[site] = value;
        sum += (double)weights[site] * value;
    }
    sums[threadIdx.x] = sum;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (threadIdx.x < half)
            sums[threadIdx.x] += sums[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        atomicAdd(total, sums[0]);
}
