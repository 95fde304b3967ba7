// Square roots of integers of 256 bits, digit by digit, with remainders: a class of big integers whose sums carry
// through unsigned __int128.
#include <cstdint>

template <int N> struct UInt {
    uint64_t limb[N];

    __device__ static UInt zero() {
        UInt z;
#pragma unroll
        for (int i = 0; i < N; i++)
            z.limb[i] = 0;
        return z;
    }
    __device__ bool operator>=(const UInt &o) const {
#pragma unroll
        for (int i = N - 1; i >= 0; i--)
            if (limb[i] != o.limb[i])
                return limb[i] > o.limb[i];
        return true;
    }
    __device__ UInt operator+(const UInt &o) const {
        UInt r;
        unsigned __int128 carry = 0;
#pragma unroll
        for (int i = 0; i < N; i++) {
            carry += (unsigned __int128)limb[i] + o.limb[i];
            r.limb[i] = (uint64_t)carry;
            carry >>= 64;
        }
        return r;
    }
    __device__ UInt operator-(const UInt &o) const {
        UInt r;
        uint64_t borrow = 0;
#pragma unroll
        for (int i = 0; i < N; i++) {
            unsigned __int128 d = (unsigned __int128)limb[i] - o.limb[i] - borrow;
            r.limb[i] = (uint64_t)d;
            borrow = (uint64_t)(d >> 64) & 1;
        }
        return r;
    }
    __device__ UInt &operator>>=(int s) {  // 0 < s < 64
#pragma unroll
        for (int i = 0; i < N; i++)
            limb[i] = limb[i] >> s | (i + 1 < N ? limb[i + 1] << (64 - s) : 0);
        return *this;
    }
    __device__ int bit_length() const {
        for (int i = N - 1; i >= 0; i--)
            if (limb[i])
                return 64 * i + 64 - __clzll(limb[i]);
        return 0;
    }
};

extern "C" __global__ void isqrt256(const UInt<4> *__restrict__ x, UInt<2> *__restrict__ root,
                                    UInt<3> *__restrict__ rest, int n) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= n)
        return;
    UInt<4> number = x[t], result = UInt<4>::zero(), bit = UInt<4>::zero();
    int length = number.bit_length();
    if (length > 0) {
        int top = (length - 1) & ~1;
        bit.limb[top / 64] = 1ull << top % 64;
        for (int k = 0; k <= top / 2; k++) {
            UInt<4> trial = result + bit;
            result >>= 1;
            if (number >= trial) {
                number = number - trial;
                result = result + bit;
            }
            bit >>= 2;
        }
    }
    root[t] = {result.limb[0], result.limb[1]};
    rest[t] = {number.limb[0], number.limb[1], number.limb[2]};
}
