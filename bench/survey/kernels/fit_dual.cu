// Fits a * exp(-r t) + c to the echoes of each pixel of a scan (a map of relaxation rates): Levenberg-Marquardt,
// derivatives by dual numbers. Pixels of the background are left out.
#include <cuda/std/array>
#include <cuda/std/optional>
#include <cuda/std/utility>

namespace {

template <int N>
struct Dual {
    float value;
    cuda::std::array<float, N> grad;

    static __device__ Dual variable(float value, int index) {
        Dual x{value, {}};
        for (int k = 0; k < N; ++k)
            x.grad[k] = k == index ? 1.0f : 0.0f;
        return x;
    }
};

template <int N>
__device__ Dual<N> operator+(Dual<N> a, const Dual<N> &b) {
    a.value += b.value;
    for (int k = 0; k < N; ++k)
        a.grad[k] += b.grad[k];
    return a;
}

template <int N>
__device__ Dual<N> operator*(const Dual<N> &a, const Dual<N> &b) {
    Dual<N> result{a.value * b.value, {}};
    for (int k = 0; k < N; ++k)
        result.grad[k] = a.grad[k] * b.value + a.value * b.grad[k];
    return result;
}

template <int N>
__device__ Dual<N> operator*(float a, Dual<N> b) {
    b.value *= a;
    for (int k = 0; k < N; ++k)
        b.grad[k] *= a;
    return b;
}

template <int N>
__device__ Dual<N> exp(const Dual<N> &a) {
    const float e = expf(a.value);
    Dual<N> result{e, {}};
    for (int k = 0; k < N; ++k)
        result.grad[k] = e * a.grad[k];
    return result;
}

__device__ float exp(float a) { return expf(a); }

struct Decay {
    static constexpr int size = 3;

    template <class T>
    static __device__ T at(float t, const cuda::std::array<T, size> &p) {
        return p[0] * exp(-t * p[1]) + p[2];
    }
};

template <int N>
using Vector = cuda::std::array<float, N>;

// Solves by Cholesky; nothing if the matrix is not positive definite.
template <int N>
__device__ cuda::std::optional<Vector<N>> solve(float (&m)[N][N], Vector<N> b) {
#pragma unroll
    for (int i = 0; i < N; ++i)
#pragma unroll
        for (int j = 0; j <= i; ++j) {
            float sum = m[i][j];
#pragma unroll
            for (int k = 0; k < j; ++k)
                sum -= m[i][k] * m[j][k];
            if (i == j) {
                if (!(sum > 0.0f))
                    return cuda::std::nullopt;
                m[i][i] = sqrtf(sum);
            } else {
                m[i][j] = sum / m[j][j];
            }
        }
#pragma unroll
    for (int i = 0; i < N; ++i) {
#pragma unroll
        for (int k = 0; k < i; ++k)
            b[i] -= m[i][k] * b[k];
        b[i] /= m[i][i];
    }
#pragma unroll
    for (int i = N - 1; i >= 0; --i) {
#pragma unroll
        for (int k = i + 1; k < N; ++k)
            b[i] -= m[k][i] * b[k];
        b[i] /= m[i][i];
    }
    return b;
}

template <class Model>
class Fitter {
    static constexpr int N = Model::size;

  public:
    __device__ Fitter(const float *times, const float *echoes, int count, int stride)
        : times_(times), echoes_(echoes), count_(count), stride_(stride) {}

    __device__ Vector<N> fit(Vector<N> p, int rounds) const {
        float damping = 1e-2f, cost = error(p);
        for (int round = 0; round < rounds; ++round) {
            float normal[N][N] = {};
            Vector<N> slope{};
            equations(p, normal, slope, cuda::std::make_index_sequence<N>{});
            for (int i = 0; i < N; ++i)
                normal[i][i] *= 1.0f + damping;
            const auto step = solve<N>(normal, slope);
            if (!step) {
                damping *= 8.0f;
                continue;
            }
            Vector<N> trial = p;
            for (int i = 0; i < N; ++i)
                trial[i] -= (*step)[i];
            const float trial_cost = error(trial);
            if (trial_cost < cost) {
                const bool done = cost - trial_cost < 1e-6f * cost;
                p = trial;
                cost = trial_cost;
                damping *= 0.25f;
                if (done)
                    break;
            } else {
                damping *= 8.0f;
            }
        }
        return p;
    }

  private:
    __device__ float error(const Vector<N> &p) const {
        float sum = 0.0f;
        for (int e = 0; e < count_; ++e) {
            const float r = Model::at(times_[e], p) - __ldg(echoes_ + e * stride_);
            sum += r * r;
        }
        return sum;
    }

    template <size_t... I>
    __device__ void equations(const Vector<N> &p, float (&normal)[N][N], Vector<N> &slope,
                              cuda::std::index_sequence<I...>) const {
        const cuda::std::array<Dual<N>, N> x{Dual<N>::variable(p[I], I)...};
        for (int e = 0; e < count_; ++e) {
            const Dual<N> y = Model::at(times_[e], x);
            const float r = y.value - __ldg(echoes_ + e * stride_);
            for (int i = 0; i < N; ++i) {
                slope[i] += y.grad[i] * r;
                for (int j = 0; j <= i; ++j)
                    normal[i][j] += y.grad[i] * y.grad[j];
            }
        }
    }

    const float *times_, *echoes_;
    int count_, stride_;
};

}  // namespace

extern "C" __global__ void __launch_bounds__(128)
    fit_dual(const float *__restrict__ times, const float *__restrict__ echoes, float *__restrict__ map, int count,
             int pixels, float background, int rounds) {
    extern __shared__ float shared_times[];
    for (int e = threadIdx.x; e < count; e += blockDim.x)
        shared_times[e] = times[e];
    __syncthreads();
    const int pixel = blockIdx.x * blockDim.x + threadIdx.x;
    if (pixel >= pixels)
        return;
    const float first = echoes[pixel], last = echoes[(count - 1) * pixels + pixel];
    Vector<3> p{};
    if (first >= background) {
        const Fitter<Decay> fitter(shared_times, echoes + pixel, count, pixels);
        p = fitter.fit({first - last, 2.0f / times[count / 2], last}, rounds);
    }
    for (int k = 0; k < 3; ++k)
        map[k * pixels + pixel] = p[k];
}
