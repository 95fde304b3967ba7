// The longest increasing run (with gaps) of each row by piles of patience, a thread a row; the members are written
// from the last to the first.
#define MAX_LEN 256

__device__ int lower_bound(const int *row, const short *pile_top, int piles, int value) {
    int low = 0, high = piles;
    while (low < high) {
        int mid = (low + high) / 2;
        if (row[pile_top[mid]] < value)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

extern "C" __global__ void patience(const int *data, const int *lengths, int pitch, int *lis_length, short *members,
                                    int rows) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows)
        return;
    const int *row = data + r * pitch;
    short *out = members + r * pitch;
    short pile_top[MAX_LEN];
    short previous[MAX_LEN];
    int piles = 0;
    for (int i = 0; i < lengths[r]; i++) {
        int p = lower_bound(row, pile_top, piles, row[i]);
        previous[i] = p > 0 ? pile_top[p - 1] : -1;
        pile_top[p] = i;
        if (p == piles)
            piles++;
    }
    lis_length[r] = piles;
    if (piles == 0)
        return;
    int count = 0;
    for (int i = pile_top[piles - 1]; i != -1; i = previous[i])
        out[count++] = i;
}
