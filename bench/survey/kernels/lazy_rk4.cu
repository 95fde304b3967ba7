// FitzHugh and Nagumo's waves on a torus by Runge and Kutta's four stages. Sums of fields are expression templates;
// the right-hand side sees the fields as mdspans.
#include <cuda/std/mdspan>
#include <cuda/std/type_traits>

namespace lazy {

template <class Derived>
struct Expr {
    __device__ const Derived &self() const { return static_cast<const Derived &>(*this); }
};

struct Field : Expr<Field> {
    float *data;

    __device__ explicit Field(float *p) : data(p) {}
    __device__ float operator[](int i) const { return data[i]; }
};

struct Constant : Expr<Constant> {
    float value;

    __device__ Constant(float v) : value(v) {}
    __device__ float operator[](int) const { return value; }
};

struct Plus {
    __device__ static float apply(float a, float b) { return a + b; }
};

struct Times {
    __device__ static float apply(float a, float b) { return a * b; }
};

template <class Op, class A, class B>
struct Binary : Expr<Binary<Op, A, B>> {
    A a;
    B b;

    __device__ Binary(const A &left, const B &right) : a(left), b(right) {}
    __device__ float operator[](int i) const { return Op::apply(a[i], b[i]); }
};

template <class A, class B>
__device__ auto operator+(const Expr<A> &a, const Expr<B> &b) {
    return Binary<Plus, A, B>(a.self(), b.self());
}

template <class B>
__device__ auto operator*(float a, const Expr<B> &b) {
    return Binary<Times, Constant, B>(Constant(a), b.self());
}

template <class E>
struct Assignment {
    Field to;
    E from;

    __device__ void operator()(int i) const { to.data[i] = from[i]; }
};

template <class E>
__device__ auto assign(const Field &to, const Expr<E> &from) {
    return Assignment<E>{to, from.self()};
}

// All assignments at each place, one after the other.
template <class... A>
__device__ void evaluate(int n, const A &...assignments) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        (assignments(i), ...);
}

}  // namespace lazy

namespace {

using Grid = cuda::std::mdspan<float, cuda::std::dextents<int, 2>>;
using ConstGrid = cuda::std::mdspan<const float, cuda::std::dextents<int, 2>>;

__device__ float laplacian(const ConstGrid &g, int y, int x) {
    const int h = g.extent(0), w = g.extent(1);
    const int up = y == 0 ? h - 1 : y - 1, down = y + 1 == h ? 0 : y + 1;
    const int left = x == 0 ? w - 1 : x - 1, right = x + 1 == w ? 0 : x + 1;
    return g(up, x) + g(down, x) + g(y, left) + g(y, right) - 4.0f * g(y, x);
}

}  // namespace

extern "C" __global__ void lazy_rk4_rhs(const float *u_data, const float *v_data, float *k, int stage, int w,
                                        int h, float diffusion, float a, float b, float epsilon) {
    const ConstGrid u(u_data, h, w), v(v_data, h, w);
    float *slopes = k + stage * 2 * w * h;
    const Grid du(slopes, h, w), dv(slopes + w * h, h, w);
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h)
        return;
    const float s = u(y, x), r = v(y, x);
    du(y, x) = diffusion * laplacian(u, y, x) + s - s * s * s / 3.0f - r;
    dv(y, x) = epsilon * (s + a - b * r);
}

extern "C" __global__ void lazy_rk4_stage(float *u, float *v, float *k, int stage, float *to_u, float *to_v, float dt,
                                          int n) {
    using lazy::Field;
    float *du = k + stage * 2 * n, *dv = du + n;
    lazy::evaluate(n, lazy::assign(Field(to_u), Field(u) + dt * Field(du)),
                   lazy::assign(Field(to_v), Field(v) + dt * Field(dv)));
}

extern "C" __global__ void lazy_rk4_finish(float *u, float *v, float *k, float dt, int n) {
    using lazy::Field;
    auto slope = [=](int stage, int field) { return Field(k + (stage * 2 + field) * n); };
    auto mean = [&](int field) {
        return (dt / 6.0f) * (slope(0, field) + 2.0f * slope(1, field) + 2.0f * slope(2, field) + slope(3, field));
    };
    lazy::evaluate(n, lazy::assign(Field(u), Field(u) + mean(0)), lazy::assign(Field(v), Field(v) + mean(1)));
}
