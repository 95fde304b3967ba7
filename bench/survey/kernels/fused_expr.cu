// Expression templates: a whole right side becomes one loop over the elements. Damped springs step by step on fields
// of three components, and sums over the block of several quantities at once, folded over a parameter pack.
#include <cuda/std/tuple>
#include <cuda/std/type_traits>
#include <cuda/std/utility>

template <class E> struct Expr {
    __device__ const E &self() const { return static_cast<const E &>(*this); }
};

template <class T> struct Scalar : Expr<Scalar<T>> {
    T value;
    __device__ explicit Scalar(T v) : value(v) {}
    __device__ T operator[](int) const { return value; }
};

template <class F, class L, class R> struct Binary : Expr<Binary<F, L, R>> {
    L left;
    R right;
    __device__ Binary(const L &l, const R &r) : left(l), right(r) {}
    __device__ auto operator[](int i) const { return F{}(left[i], right[i]); }
};

template <class F, class E> struct Unary : Expr<Unary<F, E>> {
    E inner;
    __device__ explicit Unary(const E &e) : inner(e) {}
    __device__ auto operator[](int i) const { return F{}(inner[i]); }
};

template <class T> class Field : public Expr<Field<T>> {
    T *data;
    int size;

public:
    __device__ Field(T *d, int n) : data(d), size(n) {}
    __device__ T operator[](int i) const { return data[i]; }
    template <class E> __device__ void operator=(const Expr<E> &e) {
        const E &expr = e.self();
        for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < size; i += gridDim.x * blockDim.x)
            data[i] = expr[i];
    }
};

struct Add {
    template <class A, class B> __device__ auto operator()(A a, B b) const { return a + b; }
};
struct Sub {
    template <class A, class B> __device__ auto operator()(A a, B b) const { return a - b; }
};
struct Mul {
    template <class A, class B> __device__ auto operator()(A a, B b) const { return a * b; }
};
struct Div {
    template <class A, class B> __device__ auto operator()(A a, B b) const { return a / b; }
};
struct Root {
    __device__ float operator()(float v) const { return sqrtf(v); }
};

#define OPERATOR(sign, F)                                                                                             \
    template <class L, class R> __device__ Binary<F, L, R> operator sign(const Expr<L> &l, const Expr<R> &r) {        \
        return {l.self(), r.self()};                                                                                  \
    }                                                                                                                 \
    template <class R> __device__ Binary<F, Scalar<float>, R> operator sign(float l, const Expr<R> &r) {              \
        return {Scalar<float>(l), r.self()};                                                                          \
    }                                                                                                                 \
    template <class L> __device__ Binary<F, L, Scalar<float>> operator sign(const Expr<L> &l, float r) {              \
        return {l.self(), Scalar<float>(r)};                                                                          \
    }
OPERATOR(+, Add)
OPERATOR(-, Sub)
OPERATOR(*, Mul)
OPERATOR(/, Div)

template <class E> __device__ Unary<Root, E> root(const Expr<E> &e) { return Unary<Root, E>(e.self()); }

extern "C" __global__ void spring_speed(float *vx, float *vy, float *vz, const float *x, const float *y,
                                        const float *z, const float *mass, int n, float k, float c, float rest,
                                        float dt) {
    Field<float> ux(vx, n), uy(vy, n), uz(vz, n);
    Field<const float> px(x, n), py(y, n), pz(z, n), m(mass, n);
    auto length = root(px * px + py * py + pz * pz + 1e-6f);
    auto pull = k * (length - rest) / length;
    ux = ux - dt * (pull * px + c * ux) / m;
    uy = uy - dt * (pull * py + c * uy) / m;
    uz = uz - dt * (pull * pz + c * uz) / m;
}

extern "C" __global__ void spring_place(float *x, float *y, float *z, const float *vx, const float *vy,
                                        const float *vz, int n, float dt) {
    Field<float> px(x, n), py(y, n), pz(z, n);
    Field<const float> ux(vx, n), uy(vy, n), uz(vz, n);
    px = px + dt * ux;
    py = py + dt * uy;
    pz = pz + dt * uz;
}

template <int THREADS> __device__ float total(const float (&part)[THREADS / 32]) {
    float sum = 0.0f;
#pragma unroll
    for (int w = 0; w < THREADS / 32; w++)
        sum += part[w];
    return sum;
}

template <int THREADS, size_t... K, class... T>
__device__ auto block_sums(cuda::std::index_sequence<K...>, T... values) {
    __shared__ float part[sizeof...(T)][THREADS / 32];
    auto one = [](float v) {
        for (int d = 16; d > 0; d >>= 1)
            v += __shfl_down_sync(~0u, v, d);
        return v;
    };
    ((values = one(values)), ...);
    if (threadIdx.x % 32 == 0)
        ((part[K][threadIdx.x / 32] = values), ...);
    __syncthreads();
    return cuda::std::make_tuple(total<THREADS>(part[K])...);
}

template <int THREADS, class... T> __device__ auto block_sums(T... values) {
    return block_sums<THREADS>(cuda::std::index_sequence_for<T...>{}, values...);
}

extern "C" __global__ void __launch_bounds__(192)
    spring_sums(const float *x, const float *y, const float *z, const float *vx, const float *vy, const float *vz,
                const float *mass, float *sums, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    bool in = i < n;
    Field<const float> px(x, n), py(y, n), pz(z, n), ux(vx, n), uy(vy, n), uz(vz, n), m(mass, n);
    auto energy = 0.5f * m * (ux * ux + uy * uy + uz * uz);
    auto reach = root(px * px + py * py + pz * pz);
    auto spin = m * (px * uy - py * ux);
    auto get = [&](const auto &e) { return in ? e[i] : 0.0f; };
    const auto [kinetic, far, turn, weight] = block_sums<192>(get(energy), get(reach), get(spin), get(m));
    if (threadIdx.x == 0)
        reinterpret_cast<float4 *>(sums)[blockIdx.x] = make_float4(kinetic, far, turn, weight);
}
