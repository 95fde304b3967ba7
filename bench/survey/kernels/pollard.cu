// Factors of 64-bit numbers by Pollard's rho in Brent's form: Montgomery products, greatest common divisors by shifts,
// and another start if the cycle closes for both factors at once.
typedef unsigned long long u64;

class Montgomery {
    u64 n, inverse;

  public:
    __device__ explicit Montgomery(u64 odd) : n(odd) {
        u64 x = odd * 3 ^ 2;
        for (int bits = 5; bits < 64; bits *= 2)
            x *= 2 - odd * x;
        inverse = 0 - x;
    }
    __device__ u64 multiply(u64 a, u64 b) const {
        u64 low = a * b, high = __umul64hi(a, b);
        u64 m = low * inverse;
        u64 t = high + __umul64hi(m, n) + (low != 0);
        return t >= n ? t - n : t;
    }
    __device__ u64 step(u64 x, u64 c) const {
        u64 y = multiply(x, x) + c;
        return y >= n ? y - n : y;
    }
};

__device__ u64 gcd(u64 a, u64 b) {
    if (a == 0 || b == 0)
        return a | b;
    int shift = __ffsll(a | b) - 1;
    a >>= __ffsll(a) - 1;
    do {
        b >>= __ffsll(b) - 1;
        if (a > b) {
            u64 t = a;
            a = b;
            b = t;
        }
        b -= a;
    } while (b);
    return a << shift;
}

__device__ __forceinline__ u64 apart(u64 a, u64 b) { return a > b ? a - b : b - a; }

extern "C" __global__ void pollard(const u64 *__restrict__ numbers, u64 *__restrict__ factors,
                                   int *__restrict__ steps, int count) {
    for (int id = blockIdx.x * blockDim.x + threadIdx.x; id < count; id += gridDim.x * blockDim.x) {
        u64 n = numbers[id], g = 1, c = 1;
        int done = 0;
        if (!(n & 1)) {
            g = 2;
            goto found;
        }
        {
            Montgomery field(n);
            const int batch = 48;
            u64 x, kept, y, q;
        again:
            y = 2 + c;
            q = 1;
            g = 1;
            for (int r = 1; g == 1; r *= 2) {
                x = y;
                for (int i = 0; i < r; i++)
                    y = field.step(y, c);
                done += r;
                for (int k = 0; k < r && g == 1; k += batch) {
                    kept = y;
                    int some = min(batch, r - k);
                    for (int i = 0; i < some; i++) {
                        y = field.step(y, c);
                        q = field.multiply(q, apart(x, y));
                    }
                    done += some;
                    g = gcd(q, n);
                }
            }
            if (g == n) {
                do {
                    kept = field.step(kept, c);
                    g = gcd(apart(x, kept), n);
                    done++;
                } while (g == 1);
                if (g == n) {
                    c++;
                    goto again;
                }
            }
        }
    found:
        factors[id] = min(g, n / g);
        steps[id] = done;
    }
}
