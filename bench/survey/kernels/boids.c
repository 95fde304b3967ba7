#include "native.h"

typedef struct {
    float x, y, z, vx, vy, vz, max_speed;
} Boid;

// By arrays of each number, which are made first: all others in vectors then.
static void step(const Boid *restrict flock, Boid *restrict next, float *restrict own, int n, float view,
                 float too_near, float apart, float align, float together, float dt) {
    float *restrict px = own, *restrict py = own + n, *restrict pz = own + 2 * n;
    float *restrict vx = own + 3 * n, *restrict vy = own + 4 * n, *restrict vz = own + 5 * n;
    for (int i = 0; i < n; i++) {
        px[i] = flock[i].x, py[i] = flock[i].y, pz[i] = flock[i].z;
        vx[i] = flock[i].vx, vy[i] = flock[i].vy, vz[i] = flock[i].vz;
    }
    float view2 = view * view, near2 = too_near * too_near;
    for (int i = 0; i < n; i++) {
        Boid me = flock[i];
        float ax = 0, ay = 0, az = 0, hx = 0, hy = 0, hz = 0, cx = 0, cy = 0, cz = 0;
        int seen = 0;
#pragma omp simd reduction(+ : ax, ay, az, hx, hy, hz, cx, cy, cz, seen)
        for (int j = 0; j < n; j++) {
            float dx = px[j] - me.x, dy = py[j] - me.y, dz = pz[j] - me.z, r2 = dx * dx + dy * dy + dz * dz;
            int in = r2 < view2 && j != i;
            float push = in && r2 < near2 ? 1 / (r2 + 1e-3f) : 0;
            hx += in ? vx[j] : 0, hy += in ? vy[j] : 0, hz += in ? vz[j] : 0;
            cx += in ? px[j] : 0, cy += in ? py[j] : 0, cz += in ? pz[j] : 0;
            ax -= push * dx, ay -= push * dy, az -= push * dz;
            seen += in;
        }
        if (seen > 0) {
            float share = 1.0f / seen;
            me.vx += align * (share * hx - me.vx), me.vy += align * (share * hy - me.vy);
            me.vz += align * (share * hz - me.vz);
            me.vx += together * (share * cx - me.x), me.vy += together * (share * cy - me.y);
            me.vz += together * (share * cz - me.z);
        }
        me.vx += apart * ax, me.vy += apart * ay, me.vz += apart * az;
        float speed = sqrtf(me.vx * me.vx + me.vy * me.vy + me.vz * me.vz);
        if (speed > me.max_speed) {
            float f = me.max_speed / speed;
            me.vx *= f, me.vy *= f, me.vz *= f;
        }
        me.x += dt * me.vx, me.y += dt * me.vy, me.z += dt * me.vz;
        next[i] = me;
    }
}

void run(Boid *flock, Boid *next, int n, float view, float too_near, float apart, float align, float together,
         float dt) {
    float *own = malloc(6L * n * sizeof(float));
    step(flock, next, own, n, view, too_near, apart, align, together, dt);
    step(next, flock, own, n, view, too_near, apart, align, together, dt);
    free(own);
}
