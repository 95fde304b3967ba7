// All roots of each of many polynomials with complex coefficients, after Aberth and Ehrlich: a thread a polynomial,
// all its roots move at once.
#include <cuda/std/array>
#include <cuda/std/complex>
#include <cuda/std/limits>

namespace {

using Complex = cuda::std::complex<double>;
constexpr double kPi = 3.14159265358979323846;

template <size_t Degree>
class Polynomial {
  public:
    __device__ Polynomial(const Complex *from, int stride) {
        for (int k = 0; k <= Degree; ++k)
            c_[k] = from[static_cast<size_t>(k) * stride];
    }

    // p / p' by Horner.
    __device__ Complex newton(const Complex &z) const {
        Complex value = c_[Degree], slope = 0.0;
        for (int k = static_cast<int>(Degree) - 1; k >= 0; --k) {
            slope = slope * z + value;
            value = value * z + c_[k];
        }
        return value / slope;
    }

    // All roots lie within a circle of this radius (Cauchy).
    __device__ double radius() const {
        double most = 0.0;
        for (int k = 0; k < Degree; ++k)
            most = fmax(most, abs(c_[k]));
        return 1.0 + most / abs(c_[Degree]);
    }

  private:
    cuda::std::array<Complex, Degree + 1> c_;
};

template <size_t Degree>
__device__ int solve(const Polynomial<Degree> &p, cuda::std::array<Complex, Degree> &z, int rounds, double tolerance) {
    const double radius = 0.5 * p.radius();
    for (int i = 0; i < Degree; ++i)
        z[i] = cuda::std::polar(radius, 2.0 * kPi * i / Degree + 0.4);
    for (int round = 1; round <= rounds; ++round) {
        cuda::std::array<Complex, Degree> step;
        double largest = 0.0;
        for (int i = 0; i < Degree; ++i) {
            const Complex ratio = p.newton(z[i]);
            Complex repulsion = 0.0;
            for (int j = 0; j < Degree; ++j)
                if (j != i)
                    repulsion += 1.0 / (z[i] - z[j]);
            step[i] = ratio / (1.0 - ratio * repulsion);
            largest = fmax(largest, norm(step[i]));
        }
        for (int i = 0; i < Degree; ++i)
            z[i] -= step[i];
        if (largest < tolerance * tolerance)
            return round;
    }
    return rounds;
}

}  // namespace

extern "C" __global__ void __launch_bounds__(64)
    aberth(const Complex *__restrict__ coefficients, Complex *__restrict__ roots, int count, int rounds,
           double tolerance) {
    constexpr int kDegree = 10;
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count)
        return;
    const Polynomial<kDegree> p(coefficients + i, count);
    cuda::std::array<Complex, kDegree> z;
    solve(p, z, rounds, tolerance);
    for (int k = 0; k < kDegree; ++k)
        roots[static_cast<size_t>(k) * count + i] = z[k];
}
