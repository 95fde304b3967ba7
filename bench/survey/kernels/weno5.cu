// Burgers' equation in two dimensions by WENO of fifth order, fluxes split after Lax and Friedrichs, and three stages
// of Runge and Kutta; periodic borders. The largest speed is found on the device, too.
#define BX 32
#define BY 8
#define HALO 3

typedef double real;

// At the right of the third of five.
__device__ __forceinline__ real weno(real a, real b, real c, real d, real e) {
    const real eps = 1e-6;
    const real q0 = (2.0 * a - 7.0 * b + 11.0 * c) / 6.0;
    const real q1 = (-b + 5.0 * c + 2.0 * d) / 6.0;
    const real q2 = (2.0 * c + 5.0 * d - e) / 6.0;
    const real t0 = a - 2.0 * b + c, s0 = a - 4.0 * b + 3.0 * c;
    const real t1 = b - 2.0 * c + d, s1 = b - d;
    const real t2 = c - 2.0 * d + e, s2 = 3.0 * c - 4.0 * d + e;
    const real b0 = eps + 13.0 / 12.0 * t0 * t0 + 0.25 * s0 * s0;
    const real b1 = eps + 13.0 / 12.0 * t1 * t1 + 0.25 * s1 * s1;
    const real b2 = eps + 13.0 / 12.0 * t2 * t2 + 0.25 * s2 * s2;
    const real w0 = 0.1 / (b0 * b0), w1 = 0.6 / (b1 * b1), w2 = 0.3 / (b2 * b2);
    return (w0 * q0 + w1 * q1 + w2 * q2) / (w0 + w1 + w2);
}

__device__ __forceinline__ real flux(real u) { return 0.5 * u * u; }

// Through the face between u[0] and u[stride].
__device__ real face_flux(const real *u, int stride, real speed) {
    real plus[5], minus[5];
#pragma unroll
    for (int k = 0; k < 5; k++) {
        const real l = u[(k - 2) * stride], r = u[(3 - k) * stride];
        plus[k] = 0.5 * (flux(l) + speed * l);
        minus[k] = 0.5 * (flux(r) - speed * r);
    }
    return weno(plus[0], plus[1], plus[2], plus[3], plus[4]) +
           weno(minus[0], minus[1], minus[2], minus[3], minus[4]);
}

extern "C" __global__ void max_speed(const real *__restrict__ u, unsigned long long *speed_bits, int n) {
    __shared__ real most[256];
    real m = 0.0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        m = fmax(m, fabs(u[i]));
    most[threadIdx.x] = m;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (threadIdx.x < s)
            most[threadIdx.x] = fmax(most[threadIdx.x], most[threadIdx.x + s]);
        __syncthreads();
    }
    if (threadIdx.x == 0)
        atomicMax(speed_bits, (unsigned long long)__double_as_longlong(most[0]));
}

// `out` may be `u0`. out = keep * u0 + (1 - keep) * (u + dt * L(u))
extern "C" __global__ void weno_stage(const real *u0, const real *u, real *out, const real *speed_, int nx, int ny,
                                      real h, real cfl, real keep) {
    __shared__ real tile[BY + 2 * HALO][BX + 2 * HALO];
    const int x0 = blockIdx.x * BX, y0 = blockIdx.y * BY;
    for (int ty = threadIdx.y; ty < BY + 2 * HALO; ty += BY)
        for (int tx = threadIdx.x; tx < BX + 2 * HALO; tx += BX) {
            const int x = (x0 + tx - HALO + nx) % nx, y = (y0 + ty - HALO + ny) % ny;
            tile[ty][tx] = u[y * nx + x];
        }
    __syncthreads();
    const int x = x0 + threadIdx.x, y = y0 + threadIdx.y;
    if (x >= nx || y >= ny)
        return;
    const real speed = *speed_, dt = cfl * h / speed;
    const real *centre = &tile[threadIdx.y + HALO][threadIdx.x + HALO];
    const int stride = BX + 2 * HALO;
    const real right = face_flux(centre, 1, speed), left = face_flux(centre - 1, 1, speed);
    const real above = face_flux(centre, stride, speed), below = face_flux(centre - stride, stride, speed);
    const real change = -(right - left + above - below) / h;
    const int i = y * nx + x;
    out[i] = keep * u0[i] + (1.0 - keep) * (*centre + dt * change);
}
