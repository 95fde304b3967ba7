// Newton's method for z^3 = 1 at each pixel, with a template of complex numbers: which root, and after how many steps.
template <typename T> struct Complex {
    T re, im;
    __host__ __device__ Complex(T r = 0, T i = 0) : re(r), im(i) {}
    __host__ __device__ T norm2() const { return re * re + im * im; }
};

template <typename T> __host__ __device__ Complex<T> operator+(const Complex<T> &a, const Complex<T> &b) {
    return Complex<T>(a.re + b.re, a.im + b.im);
}
template <typename T> __host__ __device__ Complex<T> operator-(const Complex<T> &a, const Complex<T> &b) {
    return Complex<T>(a.re - b.re, a.im - b.im);
}
template <typename T> __host__ __device__ Complex<T> operator*(const Complex<T> &a, const Complex<T> &b) {
    return Complex<T>(a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re);
}
template <typename T> __host__ __device__ Complex<T> operator*(T s, const Complex<T> &a) {
    return Complex<T>(s * a.re, s * a.im);
}
template <typename T> __host__ __device__ Complex<T> operator/(const Complex<T> &a, const Complex<T> &b) {
    T d = b.norm2();
    return Complex<T>((a.re * b.re + a.im * b.im) / d, (a.im * b.re - a.re * b.im) / d);
}

typedef Complex<double> complexd;

extern "C" __global__ void newton3(unsigned char *root, int *steps, int width, int height, double left, double top,
                                   double pixel, int max_steps) {
    int px = blockIdx.x * blockDim.x + threadIdx.x;
    int py = blockIdx.y * blockDim.y + threadIdx.y;
    if (px >= width || py >= height)
        return;

    const complexd roots[3] = {complexd(1.0, 0.0), complexd(-0.5, 0.86602540378443865),
                               complexd(-0.5, -0.86602540378443865)};
    complexd z(left + px * pixel, top - py * pixel);
    int found = 3, k;
    for (k = 0; k < max_steps && found == 3; k++) {
        complexd z2 = z * z;
        z = z - (z2 * z - complexd(1.0)) / (3.0 * z2);
        for (int r = 0; r < 3; r++)
            if ((z - roots[r]).norm2() < 1e-12)
                found = r;
    }
    root[py * width + px] = found;
    steps[py * width + px] = k;
}
