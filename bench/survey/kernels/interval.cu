// All roots of quartics by interval Newton steps: a class of intervals with directed rounding, and for each thread a
// stack of those that may hold roots.
#define DEPTH 64
#define MAX_ROOTS 8

template <class T> class interval {
  public:
    __device__ interval() {}
    __device__ interval(const T &v) : low(v), up(v) {}
    __device__ interval(const T &l, const T &u) : low(l), up(u) {}
    __device__ T lower() const { return low; }
    __device__ T upper() const { return up; }
    __device__ T width() const { return up - low; }
    __device__ T middle() const { return (low + up) * T(0.5); }
    __device__ bool has_zero() const { return low <= T(0) && up >= T(0); }

  private:
    T low, up;
};

template <class T> struct rounded;
template <> struct rounded<double> {
    __device__ static double add_down(double a, double b) { return __dadd_rd(a, b); }
    __device__ static double add_up(double a, double b) { return __dadd_ru(a, b); }
    __device__ static double mul_down(double a, double b) { return __dmul_rd(a, b); }
    __device__ static double mul_up(double a, double b) { return __dmul_ru(a, b); }
    __device__ static double div_down(double a, double b) { return __ddiv_rd(a, b); }
    __device__ static double div_up(double a, double b) { return __ddiv_ru(a, b); }
};

template <class T> __device__ interval<T> operator+(const interval<T> &x, const interval<T> &y) {
    return interval<T>(rounded<T>::add_down(x.lower(), y.lower()), rounded<T>::add_up(x.upper(), y.upper()));
}

template <class T> __device__ interval<T> operator-(const interval<T> &x, const interval<T> &y) {
    return interval<T>(rounded<T>::add_down(x.lower(), -y.upper()), rounded<T>::add_up(x.upper(), -y.lower()));
}

template <class T> __device__ interval<T> operator*(const interval<T> &x, const interval<T> &y) {
    typedef rounded<T> R;
    T a = x.lower(), b = x.upper(), c = y.lower(), d = y.upper();
    return interval<T>(min(min(R::mul_down(a, c), R::mul_down(a, d)), min(R::mul_down(b, c), R::mul_down(b, d))),
                       max(max(R::mul_up(a, c), R::mul_up(a, d)), max(R::mul_up(b, c), R::mul_up(b, d))));
}

// By an interval without zero.
template <class T> __device__ interval<T> operator/(const interval<T> &x, const interval<T> &y) {
    typedef rounded<T> R;
    T a = x.lower(), b = x.upper(), c = y.lower(), d = y.upper();
    return interval<T>(min(min(R::div_down(a, c), R::div_down(a, d)), min(R::div_down(b, c), R::div_down(b, d))),
                       max(max(R::div_up(a, c), R::div_up(a, d)), max(R::div_up(b, c), R::div_up(b, d))));
}

struct Quartic {
    double c[5];
};

template <class T> __device__ interval<T> f(const Quartic &q, const interval<T> &x) {
    interval<T> y(q.c[4]);
    for (int k = 3; k >= 0; k--)
        y = y * x + interval<T>(q.c[k]);
    return y;
}

template <class T> __device__ interval<T> derivative(const Quartic &q, const interval<T> &x) {
    interval<T> y(4 * q.c[4]);
    for (int k = 3; k >= 1; k--)
        y = y * x + interval<T>(k * q.c[k]);
    return y;
}

extern "C" __global__ void interval_newton(const Quartic *quartics, double2 *roots, int *counts, int n, double from,
                                           double to, double precise, int most) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    typedef interval<double> I;
    I stack[DEPTH];
    Quartic q = quartics[i];
    int top = 0, found = 0;
    stack[top++] = I(from, to);
    for (int step = 0; step < most && top > 0; step++) {
        I x = stack[--top];
        if (!f(q, x).has_zero())
            continue;
        if (x.width() < precise) {
            if (found < MAX_ROOTS)
                roots[i * MAX_ROOTS + found++] = make_double2(x.lower(), x.upper());
            continue;
        }
        I slope = derivative(q, x);
        double middle = x.middle();
        if (!slope.has_zero()) {
            I newton = I(middle) - f(q, I(middle)) / slope;
            double low = max(newton.lower(), x.lower()), up = min(newton.upper(), x.upper());
            if (low > up)
                continue;
            if (up - low < 0.6 * x.width()) {
                stack[top++] = I(low, up);
                continue;
            }
        }
        if (top + 2 <= DEPTH) {
            stack[top++] = I(middle, x.upper());
            stack[top++] = I(x.lower(), middle);
        }
    }
    counts[i] = found;
    for (int k = found; k < MAX_ROOTS; k++)
        roots[i * MAX_ROOTS + k] = make_double2(0.0, 0.0);
}
