// A pricing summary: rows up to a date, summed up by two flags, in shared memory first.
#define GROUPS 6

struct Sums {
    unsigned long long quantity, price, count;
    double discounted, charge, discount;
};

__device__ int group_of(char flag, char status) {
    int f = flag == 'A' ? 0 : flag == 'N' ? 1 : 2;
    return 2 * f + (status == 'O');
}

extern "C" __global__ void q1_sums(const int *ship_date, const char *return_flag, const char *line_status,
                                   const short *quantity, const long long *price, const unsigned char *discount,
                                   const unsigned char *tax, Sums *totals, int n, int last_date) {
    __shared__ Sums sums[GROUPS];
    if (threadIdx.x < GROUPS) {
        Sums zero = {0, 0, 0, 0.0, 0.0, 0.0};
        sums[threadIdx.x] = zero;
    }
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
        if (ship_date[i] > last_date)
            continue;
        int g = group_of(return_flag[i], line_status[i]);
        double off = discount[i] * 0.01, rate = tax[i] * 0.01;
        double less = price[i] * (1.0 - off);
        atomicAdd(&sums[g].quantity, (unsigned long long)quantity[i]);
        atomicAdd(&sums[g].price, (unsigned long long)price[i]);
        atomicAdd(&sums[g].discounted, less);
        atomicAdd(&sums[g].charge, less * (1.0 + rate));
        atomicAdd(&sums[g].discount, off);
        atomicAdd(&sums[g].count, 1ull);
    }
    __syncthreads();
    if (threadIdx.x < GROUPS) {
        Sums *to = totals + threadIdx.x, *mine = sums + threadIdx.x;
        atomicAdd(&to->quantity, mine->quantity);
        atomicAdd(&to->price, mine->price);
        atomicAdd(&to->count, mine->count);
        atomicAdd(&to->discounted, mine->discounted);
        atomicAdd(&to->charge, mine->charge);
        atomicAdd(&to->discount, mine->discount);
    }
}

extern "C" __global__ void q1_report(const Sums *totals, double *report) {
    int g = threadIdx.x;
    if (g >= GROUPS)
        return;
    Sums s = totals[g];
    double count = s.count ? (double)s.count : 1.0;
    report[g * 8] = (double)s.quantity;
    report[g * 8 + 1] = s.price * 0.01;
    report[g * 8 + 2] = s.discounted * 0.01;
    report[g * 8 + 3] = s.charge * 0.01;
    report[g * 8 + 4] = s.quantity / count;
    report[g * 8 + 5] = s.price * 0.01 / count;
    report[g * 8 + 6] = s.discount / count;
    report[g * 8 + 7] = (double)s.count;
}
