// Sums of decimals of 128 bits by groups: price * (1 - discount) * (1 + tax), all of them scaled whole numbers. Blocks
// add up in shared memory (two atomics with a carry), then averages are rounded and written as text.
#define MAX_GROUPS 64
#define WIDTH 48

struct Int128 {
    unsigned long long low;
    unsigned long long high;
};

struct Line {
    long long price;  // in cents
    unsigned short group;
    signed char discount, tax;  // in hundredths
    int quantity;
};

__device__ __forceinline__ __int128 as_number(Int128 v) {
    return (__int128)(((unsigned __int128)v.high << 64) | v.low);
}

__device__ __forceinline__ void atomic_add(Int128 *to, __int128 value) {
    unsigned long long low = (unsigned long long)value, high = (unsigned long long)(value >> 64);
    unsigned long long old = atomicAdd(&to->low, low);
    if (old + low < old)
        high++;
    if (high != 0)
        atomicAdd(&to->high, high);
}

extern "C" __global__ void decimal_sums(const Line *__restrict__ lines, Int128 *sums, unsigned int *counts,
                                        unsigned int groups, size_t n) {
    __shared__ Int128 local_sums[MAX_GROUPS];
    __shared__ unsigned int local_counts[MAX_GROUPS];
    for (unsigned int g = threadIdx.x; g < groups; g += blockDim.x) {
        local_sums[g].low = local_sums[g].high = 0;
        local_counts[g] = 0;
    }
    __syncthreads();
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x) {
        Line line = lines[i];
        __int128 extended = (__int128)line.price * line.quantity;
        __int128 charge = extended * (100 - line.discount) * (100 + line.tax);
        atomic_add(&local_sums[line.group], charge);
        atomicAdd(&local_counts[line.group], 1u);
    }
    __syncthreads();
    for (unsigned int g = threadIdx.x; g < groups; g += blockDim.x) {
        if (local_counts[g] == 0)
            continue;
        atomic_add(&sums[g], as_number(local_sums[g]));
        atomicAdd(&counts[g], local_counts[g]);
    }
}

// From the right: digits, a point before the last `scale` of them, a sign.
__device__ void write_decimal(__int128 value, int scale, char *text) {
    bool negative = value < 0;
    unsigned __int128 rest = negative ? -(unsigned __int128)value : (unsigned __int128)value;
    int at = WIDTH;
    int written = 0;
    do {
        unsigned int nine = (unsigned int)(rest % 1000000000u);
        rest /= 1000000000u;
        for (int k = 0; k < 9; k++) {
            if (rest == 0 && nine == 0 && written > scale)
                break;
            if (written == scale)
                text[--at] = '.';
            text[--at] = '0' + nine % 10;
            nine /= 10;
            written++;
        }
    } while (rest != 0 || written <= scale);
    if (negative)
        text[--at] = '-';
    while (at > 0)
        text[--at] = ' ';
}

extern "C" __global__ void decimal_report(const Int128 *sums, const unsigned int *counts, char *sum_text,
                                          char *average_text, unsigned int groups) {
    unsigned int g = blockIdx.x * blockDim.x + threadIdx.x;
    if (g >= groups)
        return;
    __int128 sum = as_number(sums[g]);
    write_decimal(sum, 6, sum_text + g * WIDTH);
    unsigned int count = counts[g];
    __int128 average = 0;
    if (count != 0) {
        __int128 scaled = sum / 100;
        average = (scaled + (scaled < 0 ? -(__int128)(count / 2) : (__int128)(count / 2))) / (__int128)count;
    }
    write_decimal(average, 4, average_text + g * WIDTH);
}
