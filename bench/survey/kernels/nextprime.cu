// The next prime after each of some numbers of up to 63 bits: trial division by small primes, then Miller and
// Rabin's test with bases that decide for all 64-bit numbers. Products are 128 bits wide.
#include <cuda/std/array>
#include <cuda/std/bit>
#include <cuda/std/cstdint>

namespace {

using u128 = unsigned __int128;

template <int Count>
constexpr cuda::std::array<uint16_t, Count> odd_primes() {
    cuda::std::array<uint16_t, Count> primes{};
    int count = 0;
    for (uint16_t n = 3; count < Count; n += 2) {
        bool prime = true;
        for (int k = 0; k < count && primes[k] * primes[k] <= n; ++k)
            if (n % primes[k] == 0) {
                prime = false;
                break;
            }
        if (prime)
            primes[count++] = n;
    }
    return primes;
}

constexpr int kSmall = 53;
__constant__ constexpr auto small_primes = odd_primes<kSmall>();
__constant__ constexpr uint32_t bases[] = {2, 325, 9375, 28178, 450775, 9780504, 1795265022};

class Modulus {
  public:
    __device__ explicit Modulus(uint64_t m) : m_(m) {}

    __device__ uint64_t times(uint64_t a, uint64_t b) const {
        return static_cast<uint64_t>(static_cast<u128>(a) * b % m_);
    }

    __device__ uint64_t power(uint64_t base, uint64_t exponent) const {
        uint64_t result = 1;
        for (; exponent != 0; exponent >>= 1) {
            if (exponent & 1)
                result = times(result, base);
            base = times(base, base);
        }
        return result;
    }

  private:
    uint64_t m_;
};

__device__ bool strong_probable_prime(uint64_t n, uint64_t base) {
    base %= n;
    if (base == 0)
        return true;
    const Modulus modulus(n);
    const int twos = cuda::std::countr_zero(n - 1);
    uint64_t x = modulus.power(base, (n - 1) >> twos);
    if (x == 1 || x == n - 1)
        return true;
    for (int i = 1; i < twos; ++i) {
        x = modulus.times(x, x);
        if (x == n - 1)
            return true;
    }
    return false;
}

__device__ bool is_prime(uint64_t n) {
    for (const uint16_t p : small_primes)
        if (n % p == 0)
            return n == p;
    for (const uint32_t base : bases)
        if (!strong_probable_prime(n, base))
            return false;
    return true;
}

}  // namespace

extern "C" __global__ void __launch_bounds__(64)
    nextprime(const uint64_t *__restrict__ numbers, uint64_t *__restrict__ primes, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count)
        return;
    uint64_t n = numbers[i];
    if (n < 2) {
        primes[i] = 2;
        return;
    }
    n += 1 + (n & 1);
    while (!is_prime(n))
        n += 2;
    primes[i] = n;
}
