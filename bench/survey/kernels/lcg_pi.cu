extern "C" __global__ void pi(unsigned long long *hits, int per) {
    unsigned s = (blockIdx.x * blockDim.x + threadIdx.x) * 747796405u + 1u;
    int c = 0;
    for (int k = 0; k < per; k++) {
        s = s * 1664525u + 1013904223u;
        float x = (s >> 8) * (1.0f / 16777216);
        s = s * 1664525u + 1013904223u;
        float y = (s >> 8) * (1.0f / 16777216);
        c += x * x + y * y < 1.0f;
    }
    atomicAdd(hits, (unsigned long long)c);
}
