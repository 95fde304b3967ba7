// Model predictive path integrals for a car: rollouts with random steering, weights by cost, the mean of the controls.
#define HORIZON 40

struct Car {
    float x, y, heading, speed;
};
struct Circle {
    float x, y, r;
};
__constant__ Circle obstacles[6] = {{6, 1, 1.2f}, {10, -2, 1.5f}, {13, 2, 1}, {17, 0, 1.3f}, {9, 4, 1}, {20, 3, 2}};

__device__ unsigned int pcg(unsigned int x) {
    x = x * 747796405u + 2891336453u;
    x = ((x >> ((x >> 28) + 4)) ^ x) * 277803737u;
    return x ^ x >> 22;
}

__device__ float2 gauss(unsigned int i) {
    float u = ((pcg(2 * i) >> 8) + 1) * (1.0f / 16777216.0f), v = (pcg(2 * i + 1) >> 8) * (1.0f / 16777216.0f);
    float r = sqrtf(-2.0f * logf(u)), s, c;
    sincosf(6.2831853f * v, &s, &c);
    return make_float2(r * c, r * s);
}

__device__ void drive(Car &car, float2 control, float dt) {
    const float wheelbase = 2.5f;
    float steer = fminf(fmaxf(control.x, -0.6f), 0.6f), push = fminf(fmaxf(control.y, -4.0f), 3.0f);
    float s, c;
    sincosf(car.heading, &s, &c);
    car.x += dt * car.speed * c;
    car.y += dt * car.speed * s;
    car.heading += dt * car.speed * tanf(steer) / wheelbase;
    car.speed = fminf(fmaxf(car.speed + dt * push, 0.0f), 12.0f);
}

__device__ float stage_cost(const Car &car, float wanted_speed) {
    float dv = car.speed - wanted_speed;
    float cost = 0.5f * car.y * car.y + 0.2f * dv * dv;
    for (const Circle &o : obstacles) {
        float dx = car.x - o.x, dy = car.y - o.y;
        float gap = sqrtf(dx * dx + dy * dy) - o.r;
        if (gap < 0.0f)
            cost += 30.0f;
        else if (gap < 1.0f)
            cost += 10.0f * (1.0f - gap) * (1.0f - gap);
    }
    return cost;
}

extern "C" __global__ void mppi_rollout(const float2 *__restrict__ mean, float2 *__restrict__ noise, float *cost,
                                        int *least, Car start, int samples, float dt, float wanted_speed,
                                        unsigned int seed) {
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= samples)
        return;
    Car car = start;
    float sum = 0.0f;
    for (int t = 0; t < HORIZON; t++) {
        float2 e = gauss(seed + t * samples + k);
        e.x *= 0.15f;
        e.y *= 1.0f;
        noise[t * samples + k] = e;
        float2 u = mean[t];
        u.x += e.x;
        u.y += e.y;
        drive(car, u, dt);
        sum += stage_cost(car, wanted_speed) + 0.5f * u.x * u.x;
    }
    cost[k] = sum;
    atomicMin(least, __float_as_int(sum)); // costs are positive
}

// A block for each time.
extern "C" __global__ void mppi_update(float2 *mean, const float2 *__restrict__ noise, const float *__restrict__ cost,
                                       const int *least, int samples, float lambda) {
    __shared__ float3 part[8];
    const int t = blockIdx.x, lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    const float base = __int_as_float(*least);
    float3 sum = make_float3(0, 0, 0);
    for (int k = threadIdx.x; k < samples; k += blockDim.x) {
        float weight = expf(-(cost[k] - base) / lambda);
        float2 e = noise[t * samples + k];
        sum.x += weight * e.x;
        sum.y += weight * e.y;
        sum.z += weight;
    }
    for (int d = 16; d > 0; d >>= 1) {
        sum.x += __shfl_down_sync(0xffffffffu, sum.x, d);
        sum.y += __shfl_down_sync(0xffffffffu, sum.y, d);
        sum.z += __shfl_down_sync(0xffffffffu, sum.z, d);
    }
    if (lane == 0)
        part[warp] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w < blockDim.x / 32; w++) {
            sum.x += part[w].x;
            sum.y += part[w].y;
            sum.z += part[w].z;
        }
        mean[t].x += sum.x / sum.z;
        mean[t].y += sum.y / sum.z;
    }
}
