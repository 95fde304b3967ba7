// Spins of a torus, half of them a launch like the squares of a chessboard; random numbers by hashing.
__device__ unsigned hash(unsigned x) {
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    x *= 0x846ca68bu;
    return x ^ (x >> 16);
}

extern "C" __global__ void ising(signed char *spin, int n, int step, float beta) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= n || y >= n || ((x + y + step) & 1))
        return;
    int left = x == 0 ? n - 1 : x - 1, right = x == n - 1 ? 0 : x + 1;
    int up = y == 0 ? n - 1 : y - 1, down = y == n - 1 ? 0 : y + 1;
    int sum = spin[y * n + left] + spin[y * n + right] + spin[up * n + x] + spin[down * n + x];
    int cost = 2 * spin[y * n + x] * sum;
    float u = (hash((unsigned)(y * n + x) * 2654435761u + (unsigned)step) >> 8) * (1.0f / 16777216.0f);
    if (cost <= 0 || u < (cost == 4 ? beta * beta : beta * beta * beta * beta))
        spin[y * n + x] = -spin[y * n + x];
}
