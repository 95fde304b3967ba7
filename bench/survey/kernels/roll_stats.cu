// Windows that go along a column with nulls: each row's window is what is not older than a time, found by going back;
// its least, greatest, mean and median, by one template for all; validity as words of a mask, nulls counted.
enum class Agg { MIN, MAX, MEAN, MEDIAN };

constexpr int MAX_WINDOW = 32;

__device__ __forceinline__ bool bit_is_set(const unsigned *mask, int i) { return mask[i >> 5] >> (i & 31) & 1; }

template <Agg agg> struct Rolling {
    double state;
    int count;
    double window[agg == Agg::MEDIAN ? MAX_WINDOW : 1];
    __device__ Rolling() : state(0), count(0) {}
    __device__ __forceinline__ void add(double v) {
        if (agg == Agg::MIN)
            state = count == 0 || v < state ? v : state;
        else if (agg == Agg::MAX)
            state = count == 0 || v > state ? v : state;
        else if (agg == Agg::MEAN)
            state += v;
        else {
            int j = count;
            while (j > 0 && window[j - 1] > v) {
                window[j] = window[j - 1];
                j--;
            }
            window[j] = v;
        }
        count++;
    }
    __device__ double finish() const {
        if (agg == Agg::MEAN)
            return state / count;
        if (agg == Agg::MEDIAN)
            return count & 1 ? window[count / 2] : 0.5 * (window[count / 2 - 1] + window[count / 2]);
        return state;
    }
};

template <Agg agg, int BLOCK>
__device__ void rolling(const double *__restrict__ in, const unsigned *__restrict__ in_mask,
                        const long long *__restrict__ time, double *__restrict__ out,
                        unsigned *__restrict__ out_mask, int *valid_count, int n, long long range, int min_periods) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    int stride = BLOCK * gridDim.x;
    int warp_valid = 0;
    unsigned active = __ballot_sync(0xffffffffu, i < n);
    while (i < n) {
        long long oldest = time[i] - range;
        int start = i;
        while (start > 0 && i - start < MAX_WINDOW - 1 && time[start - 1] > oldest)
            start--;
        Rolling<agg> op;
        for (int j = start; j <= i; j++)
            if (bit_is_set(in_mask, j))
                op.add(in[j]);
        bool valid = op.count >= min_periods;
        out[i] = valid ? op.finish() : 0.0;
        unsigned ballot = __ballot_sync(active, valid);
        if (threadIdx.x % 32 == 0) {
            out_mask[i / 32] = ballot;
            warp_valid += __popc(ballot);
        }
        i += stride;
        active = __ballot_sync(active, i < n);
    }
    if (threadIdx.x % 32 == 0 && warp_valid)
        atomicAdd(valid_count, warp_valid);
}

#define ROLLING(name, agg)                                                                                           \
    extern "C" __global__ void __launch_bounds__(128)                                                                \
        name(const double *in, const unsigned *in_mask, const long long *time, double *out, unsigned *out_mask,      \
             int *valid_count, int n, long long range, int min_periods) {                                            \
        rolling<agg, 128>(in, in_mask, time, out, out_mask, valid_count, n, range, min_periods);                     \
    }

ROLLING(roll_min, Agg::MIN)
ROLLING(roll_max, Agg::MAX)
ROLLING(roll_mean, Agg::MEAN)
ROLLING(roll_median, Agg::MEDIAN)
