// Exact determinants of integer matrices by Bareiss' elimination: 128-bit products, 64-bit entries, rows that change
// places through an array of pointers to them; a thread for each matrix.
#define MAX_N 8

template <int N> struct Matrix {
    long long cells[N][N];
    long long *row[N];

    __device__ void load(const int *from) {
        for (int i = 0; i < N; i++) {
            row[i] = cells[i];
            for (int j = 0; j < N; j++)
                cells[i][j] = from[i * N + j];
        }
    }
};

template <int N> __device__ long long determinant(Matrix<N> &m) {
    long long previous = 1;
    bool negative = false;
    for (int k = 0; k < N - 1; k++) {
        int pivot = k;
        while (pivot < N && m.row[pivot][k] == 0)
            pivot++;
        if (pivot == N)
            return 0;
        if (pivot != k) {
            long long *t = m.row[k];
            m.row[k] = m.row[pivot];
            m.row[pivot] = t;
            negative = !negative;
        }
        for (int i = k + 1; i < N; i++) {
            for (int j = k + 1; j < N; j++) {
                __int128 minor = (__int128)m.row[i][j] * m.row[k][k] - (__int128)m.row[i][k] * m.row[k][j];
                m.row[i][j] = (long long)(minor / previous);
            }
        }
        previous = m.row[k][k];
    }
    long long d = m.row[N - 1][N - 1];
    return negative ? -d : d;
}

extern "C" __global__ void bareiss(const int *__restrict__ matrices, long long *__restrict__ result, int *singular,
                                   int count) {
    int id = blockIdx.x * blockDim.x + threadIdx.x;
    bool zero = false;
    if (id < count) {
        Matrix<MAX_N> m;
        m.load(matrices + (size_t)id * MAX_N * MAX_N);
        long long d = determinant(m);
        result[id] = d;
        zero = d == 0;
    }
    int zeros = __syncthreads_count(zero);
    if (threadIdx.x == 0 && zeros)
        atomicAdd(singular, zeros);
}
