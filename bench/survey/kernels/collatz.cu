extern "C" __global__ void collatz(int *o, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned long long v = i + 1;
    int c = 0;
    while (v != 1) {
        v = v & 1 ? 3 * v + 1 : v / 2;
        c++;
    }
    o[i] = c;
}
