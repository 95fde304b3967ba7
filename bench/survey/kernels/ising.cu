// Spins of one colour of a checkerboard, turned by Metropolis' rule; a generator for each thread.
extern "C" __global__ void ising(signed char *spin, unsigned *state, int n, int colour, float beta) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= n / 2 || y >= n)
        return;
    int col = 2 * x + ((y + colour) & 1);
    int up = (y + n - 1) % n, down = (y + 1) % n, left = (col + n - 1) % n, right = (col + 1) % n;
    int sum = spin[up * n + col] + spin[down * n + col] + spin[y * n + left] + spin[y * n + right];
    int here = spin[y * n + col];
    unsigned s = state[y * (n / 2) + x] * 1664525u + 1013904223u;
    state[y * (n / 2) + x] = s;
    float chance = expf(-2.0f * beta * here * sum);
    if ((s >> 8) * (1.0f / 16777216.0f) < chance)
        spin[y * n + col] = -here;
}
