// Who wins from each position of a game (noughts and crosses), by a search with a stack of moves; a thread a position.
__device__ bool won(int b) {
    return (b & 7) == 7 || (b & 56) == 56 || (b & 448) == 448 || (b & 73) == 73 || (b & 146) == 146 || (b & 292) == 292 || (b & 273) == 273 || (b & 84) == 84;
}
extern "C" __global__ void noughts(const int2 *__restrict__ in, int *__restrict__ out, int n) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= n)
        return;
    int me[10], he[10], move[10], best[10], d = 0;
    me[0] = in[t].x, he[0] = in[t].y, move[0] = 0, best[0] = -2;
    while (true) {
        int result = -2;
        if (won(he[d]))
            result = -1;
        else if ((me[d] | he[d]) == 511)
            result = 0;
        else {
            while (move[d] < 9 && (me[d] | he[d]) >> move[d] & 1)
                move[d]++;
            if (move[d] == 9 || best[d] == 1)
                result = best[d];
        }
        if (result != -2) {
            if (d == 0) {
                out[t] = result;
                return;
            }
            d--;
            best[d] = max(best[d], -result);
        } else {
            me[d + 1] = he[d];
            he[d + 1] = me[d] | 1 << move[d];
            move[d]++;
            move[d + 1] = 0;
            best[d + 1] = -2;
            d++;
        }
    }
}
