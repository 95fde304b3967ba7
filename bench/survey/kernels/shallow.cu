// A step of the shallow water equations by finite volumes (Rusanov's fluxes, walls that reflect): the fastest wave
// is found first, which gives the time step; then a thread for each cell takes the fluxes through its four sides.
#define G 9.81f

struct Water {
    float h, hu, hv;
};

struct Grid {
    int w, h;
    float courant;
};

__device__ Water load(const float *h, const float *hu, const float *hv, int i) {
    Water s = {h[i], hu[i], hv[i]};
    return s;
}

// The flux from a to b, of which a lies left; u is the velocity across the side.
__device__ Water flux_x(Water a, Water b) {
    float ua = a.hu / a.h, ub = b.hu / b.h;
    float speed = fmaxf(fabsf(ua) + sqrtf(G * a.h), fabsf(ub) + sqrtf(G * b.h));
    Water f;
    f.h = 0.5f * (a.hu + b.hu - speed * (b.h - a.h));
    f.hu = 0.5f * (a.hu * ua + 0.5f * G * a.h * a.h + b.hu * ub + 0.5f * G * b.h * b.h - speed * (b.hu - a.hu));
    f.hv = 0.5f * (a.hv * ua + b.hv * ub - speed * (b.hv - a.hv));
    return f;
}

__device__ Water turned(Water a) {
    Water s = {a.h, a.hv, a.hu};
    return s;
}

__device__ Water flux_y(Water a, Water b) { return turned(flux_x(turned(a), turned(b))); }

extern "C" __global__ void fastest(const float *h, const float *hu, const float *hv, int *speed, int n) {
    __shared__ float part[256];
    float most = 0.0f;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        Water s = load(h, hu, hv, i);
        most = fmaxf(most, fmaxf(fabsf(s.hu), fabsf(s.hv)) / s.h + sqrtf(G * s.h));
    }
    part[threadIdx.x] = most;
    __syncthreads();
    for (int k = blockDim.x / 2; k > 0; k /= 2) {
        if (threadIdx.x < k)
            part[threadIdx.x] = fmaxf(part[threadIdx.x], part[threadIdx.x + k]);
        __syncthreads();
    }
    if (threadIdx.x == 0)
        atomicMax(speed, __float_as_int(part[0]));
}

extern "C" __global__ void step(const float *h, const float *hu, const float *hv, float *new_h, float *new_hu,
                                float *new_hv, const int *speed, Grid grid) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= grid.w || y >= grid.h)
        return;
    int i = y * grid.w + x;
    float k = grid.courant / __int_as_float(*speed); // the time step over the side of a cell
    Water me = load(h, hu, hv, i), left = me, right = me, up = me, down = me;
    if (x > 0)
        left = load(h, hu, hv, i - 1);
    else
        left.hu = -me.hu;
    if (x < grid.w - 1)
        right = load(h, hu, hv, i + 1);
    else
        right.hu = -me.hu;
    if (y > 0)
        up = load(h, hu, hv, i - grid.w);
    else
        up.hv = -me.hv;
    if (y < grid.h - 1)
        down = load(h, hu, hv, i + grid.w);
    else
        down.hv = -me.hv;
    Water l = flux_x(left, me), r = flux_x(me, right), u = flux_y(up, me), d = flux_y(me, down);
    new_h[i] = me.h - k * (r.h - l.h + d.h - u.h);
    new_hu[i] = me.hu - k * (r.hu - l.hu + d.hu - u.hu);
    new_hv[i] = me.hv - k * (r.hv - l.hv + d.hv - u.hv);
}
