// Motors under PID control in numbers with a fixed point (16.16, saturating): each thread tries other gains on a motor
// with friction whose sensor is late, by a ring of old places.
#define RING 12

class Fixed {
  public:
    int raw;
    __device__ Fixed() {}
    __device__ explicit constexpr Fixed(int r) : raw(r) {}
    __device__ static Fixed whole(int i) { return Fixed(i << 16); }
    __device__ static int clip(long long v) {
        return v > 0x7fffffffll ? 0x7fffffff : v < -0x80000000ll ? (int)0x80000000 : (int)v;
    }
    __device__ Fixed operator+(Fixed o) const { return Fixed(clip((long long)raw + o.raw)); }
    __device__ Fixed operator-(Fixed o) const { return Fixed(clip((long long)raw - o.raw)); }
    __device__ Fixed operator-() const { return Fixed(raw == (int)0x80000000 ? 0x7fffffff : -raw); }
    __device__ Fixed operator*(Fixed o) const { return Fixed(clip(((long long)raw * o.raw + 0x8000) >> 16)); }
    __device__ Fixed operator/(Fixed o) const { return Fixed(clip(((long long)raw << 16) / o.raw)); }
    __device__ Fixed &operator+=(Fixed o) { return *this = *this + o; }
    __device__ bool operator<(Fixed o) const { return raw < o.raw; }
    __device__ Fixed magnitude() const { return raw < 0 ? -*this : *this; }
};

struct Gains {
    Fixed p, i, d;
    int delay;
};

struct Plant {
    Fixed dt, torque, drag, limit, target[4];
    int steps, hold;
};

extern "C" __global__ void fixmotor(const Gains *__restrict__ gains, Plant plant, short2 *__restrict__ last,
                                    long long *__restrict__ cost, int *__restrict__ settled, int count) {
    int id = blockIdx.x * blockDim.x + threadIdx.x;
    if (id >= count)
        return;
    const Gains g = gains[id];
    const Fixed one = Fixed::whole(1);
    Fixed ring[RING];
    for (int k = 0; k < RING; k++)
        ring[k] = Fixed(0);
    Fixed place(0), speed(0), sum(0), before(0);
    long long squares = 0;
    int quiet = 0;
    for (int t = 0; t < plant.steps; t++) {
        Fixed target = plant.target[t / plant.hold & 3];
        ring[t % g.delay] = place;
        Fixed seen = ring[(t + 1) % g.delay];
        Fixed error = target - seen;
        sum += error * plant.dt;
        Fixed drive = g.p * error + g.i * sum + g.d * ((error - before) / plant.dt);
        before = error;
        if (plant.limit < drive.magnitude()) {
            drive = drive.raw < 0 ? -plant.limit : plant.limit;
            sum = sum - error * plant.dt;
        }
        Fixed friction = plant.drag * speed + speed / (one + speed.magnitude());
        speed += (plant.torque * drive - friction) * plant.dt;
        place += speed * plant.dt;
        Fixed off = (target - place).magnitude();
        squares += (long long)off.raw * off.raw >> 16;
        quiet = off < Fixed(1 << 12) ? quiet + 1 : 0;
    }
    int x = place.raw >> 6, v = speed.raw >> 6;
    last[id] = make_short2(min(max(x, -32768), 32767), min(max(v, -32768), 32767));
    cost[id] = squares;
    settled[id] = plant.steps - quiet;
}
