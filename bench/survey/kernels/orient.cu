// Points turned by a quaternion each, by functions of a library that are not inlined and take references.
struct Vec {
    float x, y, z;
};

struct Quat {
    float w;
    Vec v;
};

__noinline__ __device__ void cross(const Vec &a, const Vec &b, Vec &out) {
    out.x = a.y * b.z - a.z * b.y;
    out.y = a.z * b.x - a.x * b.z;
    out.z = a.x * b.y - a.y * b.x;
}

__noinline__ __device__ void add_scaled(Vec &sum, const Vec &a, float s) {
    sum.x += a.x * s;
    sum.y += a.y * s;
    sum.z += a.z * s;
}

__noinline__ __device__ void turn(const Quat &q, Vec &p) {
    Vec once, twice;
    cross(q.v, p, once);
    cross(q.v, once, twice);
    add_scaled(p, once, 2 * q.w);
    add_scaled(p, twice, 2);
}

extern "C" __global__ void orient(const float *w, const float *x, const float *y, const float *z, float *px,
                                  float *py, float *pz, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    Quat q = {w[i], {x[i], y[i], z[i]}};
    Vec p = {px[i], py[i], pz[i]};
    turn(q, p);
    px[i] = p.x;
    py[i] = p.y;
    pz[i] = p.z;
}
