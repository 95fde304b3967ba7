// Gradients of words' vectors: what every place of the text adds to its word's row.
extern "C" __global__ void emb_back(float *dtable, const int *words, const float *dout, int places, int c) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < places * c) {
        int place = i / c, k = i % c;
        atomicAdd(&dtable[words[place] * c + k], dout[i]);
    }
}
