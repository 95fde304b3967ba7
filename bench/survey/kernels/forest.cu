// What boosted trees say of samples: a thread for each, which walks down all trees.
struct Node {
    int feature; // -1: a leaf
    float threshold; // or a leaf's value
    int left, right;
};

extern "C" __global__ void forest(const Node *__restrict__ nodes, const int *__restrict__ roots,
                                  const float *__restrict__ samples, float *__restrict__ probability, int n,
                                  int features, int trees, float bias) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const float *x = samples + (size_t)i * features;
    float sum = bias;
    for (int t = 0; t < trees; t++) {
        Node node = nodes[roots[t]];
        while (node.feature >= 0) {
            int next = x[node.feature] < node.threshold ? node.left : node.right;
            node = nodes[next];
        }
        sum += node.threshold;
    }
    probability[i] = 1.0f / (1.0f + expf(-sum));
}
