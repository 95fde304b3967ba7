// Sums of 2 * R + 1 neighbours: a tile of shared memory, whose first threads load its halo too.
#define R 3
#define B 256

extern "C" __global__ void stencil1d(const int *in, int *out, int n) {
    __shared__ int tile[B + 2 * R];
    int g = blockIdx.x * B + threadIdx.x, l = threadIdx.x + R;
    tile[l] = g < n ? in[g] : 0;
    if (threadIdx.x < R) {
        tile[l - R] = g >= R ? in[g - R] : 0;
        tile[l + B] = g + B < n ? in[g + B] : 0;
    }
    __syncthreads();
    int sum = 0;
    for (int o = -R; o <= R; o++)
        sum += tile[l + o];
    if (g < n)
        out[g] = sum;
}
