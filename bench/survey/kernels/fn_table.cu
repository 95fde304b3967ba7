// A layer of neurons that have activations of their own: functions by way of a table of pointers.
typedef float (*Activation)(float);

__device__ float identity(float x) {
    return x;
}
__device__ float relu(float x) {
    return x > 0.0f ? x : 0.0f;
}
__device__ float leaky(float x) {
    return x > 0.0f ? x : 0.01f * x;
}
__device__ float sigmoid(float x) {
    return 1.0f / (1.0f + expf(-x));
}
__device__ float softsign(float x) {
    return x / (1.0f + fabsf(x));
}
__device__ float gaussian(float x) {
    return expf(-x * x);
}

__device__ Activation activations[] = {identity, relu, leaky, sigmoid, softsign, gaussian};

// a CTA has a neuron for its y, and goes along the batch
extern "C" __global__ void activate_neurons(const float *__restrict__ in, const int *__restrict__ kind,
                                            const float *__restrict__ bias, float *out, int batch) {
    int neuron = blockIdx.y;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= batch)
        return;
    Activation f = activations[kind[neuron]];
    out[neuron * batch + i] = f(in[neuron * batch + i] + bias[neuron]);
}

// nodes of a network that evolves: each thread looks up its own
extern "C" __global__ void activate_nodes(const float *__restrict__ in, const unsigned char *__restrict__ kind,
                                          float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = activations[kind[i]](in[i]);
}
