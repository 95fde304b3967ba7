// Compressible gas in two dimensions: fluxes between cells by HLLC from slopes that minmod limits, one direction after
// the other; the time step from the fastest wave, found by warps and an atomic maximum.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

#define TX 32
#define TY 8
#define GAMMA 1.4f

struct Prim {
    float rho, u, v, p;
};

struct Cons {
    float rho, mx, my, e;
};

__device__ inline Prim primitive(const Cons &q) {
    Prim w;
    w.rho = q.rho;
    w.u = q.mx / q.rho;
    w.v = q.my / q.rho;
    w.p = (GAMMA - 1.0f) * (q.e - 0.5f * (q.mx * w.u + q.my * w.v));
    return w;
}

__device__ inline float minmod(float a, float b) {
    if (a * b <= 0.0f)
        return 0.0f;
    return fabsf(a) < fabsf(b) ? a : b;
}

__device__ inline Prim half_slope(const Prim &l, const Prim &c, const Prim &r) {
    return {0.5f * minmod(c.rho - l.rho, r.rho - c.rho), 0.5f * minmod(c.u - l.u, r.u - c.u),
            0.5f * minmod(c.v - l.v, r.v - c.v), 0.5f * minmod(c.p - l.p, r.p - c.p)};
}

// Of two states along x; u is the speed across the edge.
__device__ Cons hllc_flux(const Prim &l, const Prim &r) {
    float cl = sqrtf(GAMMA * l.p / l.rho), cr = sqrtf(GAMMA * r.p / r.rho);
    float sl = fminf(l.u - cl, r.u - cr), sr = fmaxf(l.u + cl, r.u + cr);
    float el = l.p / (GAMMA - 1.0f) + 0.5f * l.rho * (l.u * l.u + l.v * l.v);
    float er = r.p / (GAMMA - 1.0f) + 0.5f * r.rho * (r.u * r.u + r.v * r.v);
    Cons fl = {l.rho * l.u, l.rho * l.u * l.u + l.p, l.rho * l.u * l.v, l.u * (el + l.p)};
    Cons fr = {r.rho * r.u, r.rho * r.u * r.u + r.p, r.rho * r.u * r.v, r.u * (er + r.p)};
    if (sl >= 0.0f)
        return fl;
    if (sr <= 0.0f)
        return fr;
    float al = l.rho * (sl - l.u), ar = r.rho * (sr - r.u);
    float sm = (r.p - l.p + al * l.u - ar * r.u) / (al - ar);
    if (sm >= 0.0f) {
        float k = al / (sl - sm);
        float es = k * (el / l.rho + (sm - l.u) * (sm + l.p / al));
        return {fl.rho + sl * (k - l.rho), fl.mx + sl * (k * sm - l.rho * l.u), fl.my + sl * (k * l.v - l.rho * l.v),
                fl.e + sl * (es - el)};
    }
    float k = ar / (sr - sm);
    float es = k * (er / r.rho + (sm - r.u) * (sm + r.p / ar));
    return {fr.rho + sr * (k - r.rho), fr.mx + sr * (k * sm - r.rho * r.u), fr.my + sr * (k * r.v - r.rho * r.v),
            fr.e + sr * (es - er)};
}

__device__ inline Prim shifted(const Prim &w, const Prim &by, float sign) {
    return {w.rho + sign * by.rho, w.u + sign * by.u, w.v + sign * by.v, w.p + sign * by.p};
}

// One direction: the other is the same with x and y exchanged.
template <bool ALONG_X>
__device__ void sweep(const Cons *q, Cons *next, const int *speed, int nx, int ny, float cfl) {
    constexpr int W = TX + (ALONG_X ? 4 : 0), H = TY + (ALONG_X ? 0 : 4);
    __shared__ Prim tile[H][W];
    int bx = blockIdx.x * TX - (ALONG_X ? 2 : 0), by = blockIdx.y * TY - (ALONG_X ? 0 : 2);
    for (int k = threadIdx.y * TX + threadIdx.x; k < W * H; k += TX * TY) {
        int x = min(max(bx + k % W, 0), nx - 1), y = min(max(by + k / W, 0), ny - 1);
        Prim w = primitive(q[y * nx + x]);
        if (!ALONG_X) {
            float t = w.u;
            w.u = w.v;
            w.v = t;
        }
        tile[k / W][k % W] = w;
    }
    __syncthreads();
    int x = blockIdx.x * TX + threadIdx.x, y = blockIdx.y * TY + threadIdx.y;
    if (x >= nx || y >= ny)
        return;
    Prim w[5];
#pragma unroll
    for (int k = 0; k < 5; k++)
        w[k] = ALONG_X ? tile[threadIdx.y][threadIdx.x + k] : tile[threadIdx.y + k][threadIdx.x];
    Prim before = half_slope(w[0], w[1], w[2]), mine = half_slope(w[1], w[2], w[3]), after = half_slope(w[2], w[3], w[4]);
    Cons in = hllc_flux(shifted(w[1], before, 1.0f), shifted(w[2], mine, -1.0f));
    Cons out = hllc_flux(shifted(w[2], mine, 1.0f), shifted(w[3], after, -1.0f));
    float step = cfl / __int_as_float(*speed);
    Cons c = q[y * nx + x];
    c.rho += step * (in.rho - out.rho);
    c.mx += step * (ALONG_X ? in.mx - out.mx : in.my - out.my);
    c.my += step * (ALONG_X ? in.my - out.my : in.mx - out.mx);
    c.e += step * (in.e - out.e);
    next[y * nx + x] = c;
}

extern "C" __global__ void __launch_bounds__(TX *TY)
    hllc_x(const Cons *q, Cons *next, const int *speed, int nx, int ny, float cfl) {
    sweep<true>(q, next, speed, nx, ny, cfl);
}

extern "C" __global__ void __launch_bounds__(TX *TY)
    hllc_y(const Cons *q, Cons *next, const int *speed, int nx, int ny, float cfl) {
    sweep<false>(q, next, speed, nx, ny, cfl);
}

extern "C" __global__ void hllc_speed(const Cons *q, int *speed, int n) {
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
    float fastest = 0.0f;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
        Prim w = primitive(q[i]);
        float c = sqrtf(GAMMA * w.p / w.rho);
        fastest = fmaxf(fastest, fmaxf(fabsf(w.u), fabsf(w.v)) + c);
    }
    for (int d = warp.size() / 2; d > 0; d /= 2)
        fastest = fmaxf(fastest, warp.shfl_down(fastest, d));
    if (warp.thread_rank() == 0)
        atomicMax(speed, __float_as_int(fastest));  // floats that are not negative are in the order of their bits
}
