// Two sorted lists of records become one: blocks find their part by co-ranks, and go through it in tiles, which are
// circular buffers: what a tile did not use up stays where it is.
struct Record {
    int key, id;
};

__device__ int co_rank(int k, const Record *A, int m, const Record *B, int n) {
    int i = min(k, m), j = k - i;
    int i_low = max(0, k - n), j_low = max(0, k - m);
    while (true) {
        if (i > 0 && j < n && A[i - 1].key > B[j].key) {
            int delta = (i - i_low + 1) >> 1;
            j_low = j;
            j += delta;
            i -= delta;
        } else if (j > 0 && i < m && B[j - 1].key >= A[i].key) {
            int delta = (j - j_low + 1) >> 1;
            i_low = i;
            i += delta;
            j -= delta;
        } else
            return i;
    }
}

__device__ int ring(int start, int i, int tile) {
    int at = start + i;
    return at >= tile ? at - tile : at;
}

__device__ int co_rank_circular(int k, const Record *A, int m, const Record *B, int n, int a0, int b0, int tile) {
    int i = min(k, m), j = k - i;
    int i_low = max(0, k - n), j_low = max(0, k - m);
    while (true) {
        if (i > 0 && j < n && A[ring(a0, i - 1, tile)].key > B[ring(b0, j, tile)].key) {
            int delta = (i - i_low + 1) >> 1;
            j_low = j;
            j += delta;
            i -= delta;
        } else if (j > 0 && i < m && B[ring(b0, j - 1, tile)].key >= A[ring(a0, i, tile)].key) {
            int delta = (j - j_low + 1) >> 1;
            i_low = i;
            i += delta;
            j -= delta;
        } else
            return i;
    }
}

__device__ void merge_sequential_circular(const Record *A, int i, int m, const Record *B, int j, int n, Record *C,
                                          int a0, int b0, int tile) {
    int k = 0;
    while (i < m && j < n) {
        Record a = A[ring(a0, i, tile)], b = B[ring(b0, j, tile)];
        if (a.key <= b.key) {
            C[k++] = a;
            i++;
        } else {
            C[k++] = b;
            j++;
        }
    }
    while (i < m)
        C[k++] = A[ring(a0, i++, tile)];
    while (j < n)
        C[k++] = B[ring(b0, j++, tile)];
}

extern "C" __global__ void merge_ring(const Record *A, int m, const Record *B, int n, Record *C, int tile) {
    extern __shared__ Record shareAB[];
    __shared__ int bounds[2];
    Record *A_S = shareAB, *B_S = shareAB + tile;
    int per_block = (m + n + gridDim.x - 1) / gridDim.x;
    int C_curr = min((int)blockIdx.x * per_block, m + n), C_next = min(C_curr + per_block, m + n);
    if (threadIdx.x < 2)
        bounds[threadIdx.x] = co_rank(threadIdx.x == 0 ? C_curr : C_next, A, m, B, n);
    __syncthreads();
    int A_curr = bounds[0], A_length = bounds[1] - A_curr;
    int B_curr = C_curr - A_curr, B_length = C_next - bounds[1] - B_curr;
    int C_length = C_next - C_curr;

    int A_consumed = 0, B_consumed = 0, C_completed = 0;
    int A_start = 0, B_start = 0, A_used = tile, B_used = tile;
    int each = tile / blockDim.x;
    while (C_completed < C_length) {
        for (int i = threadIdx.x; i < A_used; i += blockDim.x) {
            int at = tile - A_used + i;
            if (A_consumed + at < A_length)
                A_S[(A_start + at) % tile] = A[A_curr + A_consumed + at];
        }
        for (int i = threadIdx.x; i < B_used; i += blockDim.x) {
            int at = tile - B_used + i;
            if (B_consumed + at < B_length)
                B_S[(B_start + at) % tile] = B[B_curr + B_consumed + at];
        }
        __syncthreads();
        int count = min(tile, C_length - C_completed);
        int a_n = min(tile, A_length - A_consumed), b_n = min(tile, B_length - B_consumed);
        int c_curr = min((int)threadIdx.x * each, count), c_next = min(c_curr + each, count);
        int a_curr = co_rank_circular(c_curr, A_S, a_n, B_S, b_n, A_start, B_start, tile);
        int a_next = co_rank_circular(c_next, A_S, a_n, B_S, b_n, A_start, B_start, tile);
        merge_sequential_circular(A_S, a_curr, a_next, B_S, c_curr - a_curr, c_next - a_next,
                                  C + C_curr + C_completed + c_curr, A_start, B_start, tile);
        A_used = co_rank_circular(count, A_S, a_n, B_S, b_n, A_start, B_start, tile);
        B_used = count - A_used;
        A_consumed += A_used;
        B_consumed += B_used;
        C_completed += count;
        A_start = (A_start + A_used) % tile;
        B_start = (B_start + B_used) % tile;
        __syncthreads();
    }
}
