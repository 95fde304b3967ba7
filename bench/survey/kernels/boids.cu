// Boids in an array of structures of seven floats: separation, alignment and cohesion with all that are near.
struct Vec3 {
    float x, y, z;
};

struct Boid {
    Vec3 position;
    Vec3 velocity;
    float max_speed;
};

__device__ inline Vec3 operator+(Vec3 a, Vec3 b) {
    return {a.x + b.x, a.y + b.y, a.z + b.z};
}
__device__ inline Vec3 operator-(Vec3 a, Vec3 b) {
    return {a.x - b.x, a.y - b.y, a.z - b.z};
}
__device__ inline Vec3 operator*(float s, Vec3 a) {
    return {s * a.x, s * a.y, s * a.z};
}
__device__ inline float dot(Vec3 a, Vec3 b) {
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

extern "C" __global__ void boids(const Boid *flock, Boid *next, int n, float view, float too_near, float apart,
                                 float align, float together, float dt) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    Boid me = flock[i];
    Vec3 away = {0, 0, 0}, heading = {0, 0, 0}, centre = {0, 0, 0};
    int seen = 0;
    for (int j = 0; j < n; j++) {
        if (j == i)
            continue;
        Boid other = flock[j];
        Vec3 d = other.position - me.position;
        float r2 = dot(d, d);
        if (r2 < view * view) {
            heading = heading + other.velocity;
            centre = centre + other.position;
            seen++;
            if (r2 < too_near * too_near)
                away = away - (1.0f / (r2 + 1e-3f)) * d;
        }
    }
    if (seen > 0) {
        float share = 1.0f / seen;
        me.velocity = me.velocity + align * (share * heading - me.velocity);
        me.velocity = me.velocity + together * (share * centre - me.position);
    }
    me.velocity = me.velocity + apart * away;
    float speed = sqrtf(dot(me.velocity, me.velocity));
    if (speed > me.max_speed)
        me.velocity = (me.max_speed / speed) * me.velocity;
    me.position = me.position + dt * me.velocity;
    next[i] = me;
}
