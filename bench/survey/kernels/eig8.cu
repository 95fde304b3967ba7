// Eigenvalues (in order) and vectors of symmetric 8 x 8 matrices by Jacobi: a warp for each matrix, in shared memory,
// which makes four rotations at once.
#define N 8
#define WARPS 4

extern "C" __global__ void eig8(const float *matrices, float *values, float *vectors, int count, int sweeps) {
    __shared__ float a_all[WARPS][N][N + 1], v_all[WARPS][N][N + 1];
    __shared__ float cosine[WARPS][N / 2], sine[WARPS][N / 2];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    int matrix = blockIdx.x * WARPS + warp;
    if (matrix >= count)
        return;
    float(*a)[N + 1] = a_all[warp];
    float(*v)[N + 1] = v_all[warp];

    for (int i = lane; i < N * N; i += 32) {
        a[i / N][i % N] = matrices[matrix * N * N + i];
        v[i / N][i % N] = i / N == i % N ? 1.0f : 0.0f;
    }
    __syncwarp();

    for (int sweep = 0; sweep < sweeps; sweep++)
        for (int round = 0; round < N - 1; round++) {
            // pairs as at a tournament: the last one stays, the others go around
            int pair = lane / N, k = lane % N;
            int p = pair == 0 ? N - 1 : (round + pair) % (N - 1);
            int q = pair == 0 ? round : (round + N - 1 - pair) % (N - 1);
            if (p > q) {
                int other = p;
                p = q;
                q = other;
            }
            if (k == 0) {
                float c = 1.0f, s = 0.0f, apq = a[p][q];
                if (fabsf(apq) > 1e-12f) {
                    float theta = (a[q][q] - a[p][p]) / (2.0f * apq);
                    float t = copysignf(1.0f, theta) / (fabsf(theta) + sqrtf(theta * theta + 1.0f));
                    c = rsqrtf(t * t + 1.0f);
                    s = t * c;
                }
                cosine[warp][pair] = c;
                sine[warp][pair] = s;
            }
            __syncwarp();
            float c = cosine[warp][pair], s = sine[warp][pair];
            float ap = a[p][k], aq = a[q][k];
            a[p][k] = c * ap - s * aq;
            a[q][k] = s * ap + c * aq;
            __syncwarp();
            ap = a[k][p], aq = a[k][q];
            a[k][p] = c * ap - s * aq;
            a[k][q] = s * ap + c * aq;
            float vp = v[k][p], vq = v[k][q];
            v[k][p] = c * vp - s * vq;
            v[k][q] = s * vp + c * vq;
            __syncwarp();
        }

    // a value's place is how many are smaller
    int column = lane % N, rank = 0;
    float mine = a[column][column];
    for (int i = 0; i < N; i++)
        rank += a[i][i] < mine || (a[i][i] == mine && i < column);
    if (lane < N)
        values[matrix * N + rank] = mine;
    float sign = 0.0f;
    for (int i = 0; i < N; i++)
        sign += v[i][column];
    sign = sign < 0.0f ? -1.0f : 1.0f;
    for (int row = lane / N; row < N; row += 4)
        vectors[(matrix * N + row) * N + rank] = sign * v[row][column];
}
