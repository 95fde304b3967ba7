// Bodies that attract each other, by Hermite's integrator of fourth order in double precision: predict, sum forces and
// their rates of change over tiles in shared memory, correct.
#define TILE 128

struct Vec {
    double x, y, z;
    __device__ Vec operator+(const Vec &o) const { return {x + o.x, y + o.y, z + o.z}; }
    __device__ Vec operator-(const Vec &o) const { return {x - o.x, y - o.y, z - o.z}; }
    __device__ Vec operator*(double k) const { return {x * k, y * k, z * k}; }
    __device__ double dot(const Vec &o) const { return x * o.x + y * o.y + z * o.z; }
};

struct Body {
    Vec place, speed;
    double mass;
};

struct Force {
    Vec pull, jerk;
};

extern "C" __global__ void hermite_predict(const Body *__restrict__ body, const Force *__restrict__ force,
                                           Body *__restrict__ predicted, int n, double dt) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    Body b = body[i];
    Force f = force[i];
    b.place = b.place + b.speed * dt + f.pull * (dt * dt / 2) + f.jerk * (dt * dt * dt / 6);
    b.speed = b.speed + f.pull * dt + f.jerk * (dt * dt / 2);
    predicted[i] = b;
}

__device__ __forceinline__ void interact(Force &sum, const Body &a, const Body &b, double eps2) {
    Vec r = b.place - a.place, v = b.speed - a.speed;
    double r2 = r.dot(r) + eps2;
    double inv = rsqrt(r2), inv2 = inv * inv, m = b.mass * inv * inv2;
    double rv = 3.0 * r.dot(v) * inv2;
    sum.pull = sum.pull + r * m;
    sum.jerk = sum.jerk + (v - r * rv) * m;
}

extern "C" __global__ void __launch_bounds__(TILE) hermite_force(const Body *__restrict__ body, Force *__restrict__ force,
                                                                 int n, double eps2) {
    __shared__ Body tile[TILE];
    const int i = blockIdx.x * TILE + threadIdx.x;
    Body mine = i < n ? body[i] : Body{};
    Force sum = {};
    for (int base = 0; base < n; base += TILE) {
        if (base + threadIdx.x < n)
            tile[threadIdx.x] = body[base + threadIdx.x];
        __syncthreads();
        const int count = min(TILE, n - base);
#pragma unroll 4
        for (int j = 0; j < count; j++)
            interact(sum, mine, tile[j], eps2);
        __syncthreads();
    }
    if (i < n)
        force[i] = sum;
}

extern "C" __global__ void hermite_correct(Body *body, Force *force, const Body *__restrict__ predicted,
                                           const Force *__restrict__ after, int n, double dt) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    Body b = body[i];
    Force f0 = force[i], f1 = after[i];
    Vec speed = b.speed + (f0.pull + f1.pull) * (dt / 2) + (f0.jerk - f1.jerk) * (dt * dt / 12);
    b.place = b.place + (b.speed + speed) * (dt / 2) + (f0.pull - f1.pull) * (dt * dt / 12);
    b.speed = speed;
    body[i] = b;
    force[i] = f1;
}
