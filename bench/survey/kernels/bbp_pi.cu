// Hexadecimal digits of pi by the formula of Bailey, Borwein and Plouffe: a thread a digit, powers modulo 8 k + j.
__device__ long long power_mod(long long base, long long exponent, long long modulus) {
    long long result = 1 % modulus;
    base %= modulus;
    while (exponent > 0) {
        if (exponent % 2 == 1)
            result = result * base % modulus;
        base = base * base % modulus;
        exponent /= 2;
    }
    return result;
}

__device__ double series(int j, long long n) {
    double sum = 0.0;
    for (long long k = 0; k <= n; k++) {
        long long m = 8 * k + j;
        sum += (double)power_mod(16, n - k, m) / m;
        sum -= floor(sum);
    }
    long long k = n + 1;
    while (true) {
        double term = pow(16.0, (double)(n - k)) / (8 * k + j);
        if (term < 1e-17)
            break;
        sum += term;
        k++;
    }
    return sum - floor(sum);
}

extern "C" __global__ void bbp_pi(char *digits, double *fractions, long long start, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count)
        return;
    long long n = start + i;
    double x = 4.0 * series(1, n) - 2.0 * series(4, n) - series(5, n) - series(6, n);
    x = x - floor(x);
    fractions[i] = x;
    int digit = (int)(x * 16.0);
    digits[i] = digit < 10 ? '0' + digit : 'A' + digit - 10;
}
