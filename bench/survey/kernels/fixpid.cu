// A sweep over gains of a PID controller in saturating fixed point, Q15.16, against a plant of second order with
// dead time; a thread for each triple of gains, which gets its cost.
#include <cstdint>
#include <cuda/std/array>
#include <cuda/std/limits>

template <int F> class Fixed {
    int32_t raw;

    __host__ __device__ static constexpr int32_t saturated(int64_t v) {
        constexpr int64_t high = cuda::std::numeric_limits<int32_t>::max();
        constexpr int64_t low = cuda::std::numeric_limits<int32_t>::min();
        return static_cast<int32_t>(v > high ? high : v < low ? low : v);
    }

public:
    Fixed() = default;
    __host__ __device__ constexpr explicit Fixed(double v) : raw(static_cast<int32_t>(v * (1 << F))) {}
    __host__ __device__ static constexpr Fixed bits(int64_t v) {
        Fixed f(0.0);
        f.raw = saturated(v);
        return f;
    }
    __device__ int32_t bits() const { return raw; }
    __device__ Fixed operator-() const { return bits(-int64_t(raw)); }
    __device__ friend Fixed operator+(Fixed a, Fixed b) { return bits(int64_t(a.raw) + b.raw); }
    __device__ friend Fixed operator-(Fixed a, Fixed b) { return bits(int64_t(a.raw) - b.raw); }
    __device__ friend Fixed operator*(Fixed a, Fixed b) {
        return bits((int64_t(a.raw) * b.raw + (1 << (F - 1))) >> F);
    }
    __device__ friend Fixed operator/(Fixed a, Fixed b) { return bits(int64_t(a.raw) * (1 << F) / b.raw); }
    __device__ friend bool operator<(Fixed a, Fixed b) { return a.raw < b.raw; }
    __device__ Fixed &operator+=(Fixed o) { return *this = *this + o; }
};

using Q16 = Fixed<16>;

template <class T> __device__ T clamped(T v, T low, T high) { return v < low ? low : high < v ? high : v; }

struct Pid {
    Q16 kp, ki, kd, integral{0.0}, before{0.0};

    __device__ Q16 operator()(Q16 error) {
        integral = clamped(integral + ki * error, Q16(-20.0), Q16(20.0));
        Q16 slope = error - before;
        before = error;
        return clamped(kp * error + integral + kd * slope, Q16(-50.0), Q16(50.0));
    }
};

constexpr int DELAY = 5;

extern "C" __global__ void fixpid(const int3 *gains, const int *setpoint, int *cost, int *peak, int n, int steps) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const auto [p, d, s] = gains[i];
    Pid pid{Q16::bits(p), Q16::bits(d), Q16::bits(s)};
    cuda::std::array<Q16, DELAY> late;
    late.fill(Q16(0.0));
    constexpr Q16 dt(0.05), damping(0.7), stiffness(1.3), mass(1.75);
    Q16 position(0.0), speed(0.0), sum(0.0), highest(0.0);
    for (int k = 0, slot = 0; k < steps; k++) {
        Q16 error = Q16::bits(setpoint[k]) - position;
        Q16 force = late[slot];
        late[slot] = pid(error);
        slot = slot + 1 == DELAY ? 0 : slot + 1;
        Q16 acceleration = (force - damping * speed - stiffness * position) / mass;
        speed += acceleration * dt;
        position += speed * dt;
        sum += (error < Q16(0.0) ? -error : error) * dt;
        if (highest < position)
            highest = position;
    }
    cost[i] = sum.bits();
    peak[i] = highest.bits();
}
