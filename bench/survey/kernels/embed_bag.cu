// Embedding bags: sums, means and maxima of rows of a table, bags given by offsets, with a weight for each entry and
// an index that stands for nothing. Threads in x are features, pairs of bag and part of the features go by strides.
enum { MODE_SUM, MODE_MEAN, MODE_MAX };

template <typename scalar_t, typename index_t, int mode>
__device__ void embedding_bag(const index_t *__restrict__ input, const index_t *__restrict__ offsets,
                              const scalar_t *__restrict__ weight, scalar_t *__restrict__ output,
                              index_t *__restrict__ bag_size, index_t *__restrict__ max_indices,
                              const scalar_t *__restrict__ per_sample, index_t num_indices, index_t num_bags,
                              int feature_size, index_t weight_stride, index_t padding_idx) {
    index_t chunks_per_bag = (feature_size + (int)blockDim.x - 1) / (int)blockDim.x;
    index_t num_chunks = num_bags * chunks_per_bag;
    index_t chunk = blockIdx.x * blockDim.y + threadIdx.y;
    index_t chunk_stride = gridDim.x * blockDim.y;
    for (; chunk < num_chunks; chunk += chunk_stride) {
        index_t feature = (chunk % chunks_per_bag) * blockDim.x + threadIdx.x;
        if (feature >= feature_size)
            continue;
        index_t bag = chunk / chunks_per_bag;
        index_t begin = offsets[bag], end = bag < num_bags - 1 ? offsets[bag + 1] : num_indices;
        const scalar_t *column = weight + feature;
        float sum = 0.0f;
        scalar_t best = 0;
        index_t best_word = -1, size = 0;
        for (index_t emb = begin; emb < end; emb++) {
            index_t word = input[emb];
            bool pad = word == padding_idx;
            scalar_t value = column[word * weight_stride];
            if (mode == MODE_MAX) {
                if (!pad && (size == 0 || value > best)) {
                    best = value;
                    best_word = word;
                }
            } else if (!pad) {
                if (per_sample)
                    sum += static_cast<float>(per_sample[emb]) * value;
                else
                    sum += value;
            }
            size += pad ? 0 : 1;
        }
        if (mode == MODE_MEAN && size != 0)
            sum = sum / static_cast<float>(size);
        if (feature == 0)
            bag_size[bag] = size;
        if (mode == MODE_MAX)
            max_indices[bag * feature_size + feature] = best_word;
        output[bag * feature_size + feature] = mode == MODE_MAX ? best : static_cast<scalar_t>(sum);
    }
}

extern "C" __global__ void bag_sum(const long long *input, const long long *offsets, const float *weight,
                                   float *output, long long *bag_size, const float *per_sample, long long indices,
                                   long long bags, int features, long long stride, long long padding) {
    embedding_bag<float, long long, MODE_SUM>(input, offsets, weight, output, bag_size, nullptr, per_sample, indices,
                                              bags, features, stride, padding);
}

extern "C" __global__ void bag_mean(const long long *input, const long long *offsets, const float *weight,
                                    float *output, long long *bag_size, long long indices, long long bags,
                                    int features, long long stride, long long padding) {
    embedding_bag<float, long long, MODE_MEAN>(input, offsets, weight, output, bag_size, nullptr, nullptr, indices,
                                               bags, features, stride, padding);
}

extern "C" __global__ void bag_max(const long long *input, const long long *offsets, const float *weight,
                                   float *output, long long *bag_size, long long *max_indices, long long indices,
                                   long long bags, int features, long long stride, long long padding) {
    embedding_bag<float, long long, MODE_MAX>(input, offsets, weight, output, bag_size, max_indices, nullptr, indices,
                                              bags, features, stride, padding);
}
