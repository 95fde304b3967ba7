#include "native.h"

enum { MOST = 10 };
#define EPSILON 1e-5f

typedef struct {
    float x, y;
} V;

typedef struct {
    V p, d;
} Line;

typedef struct {
    V position, velocity, preferred;
    float radius, max_speed;
} Agent;

static inline V add(V a, V b) {
    return (V){a.x + b.x, a.y + b.y};
}
static inline V sub(V a, V b) {
    return (V){a.x - b.x, a.y - b.y};
}
static inline V mul(float s, V a) {
    return (V){s * a.x, s * a.y};
}
static inline float dot(V a, V b) {
    return a.x * b.x + a.y * b.y;
}
static inline float det(V a, V b) {
    return a.x * b.y - a.y * b.x;
}
static inline V unit(V a) {
    return mul(1 / sqrtf(dot(a, a)), a);
}

static int program1(const Line *lines, int index, float radius, V wanted, int direct, V *result) {
    Line l = lines[index];
    float along = dot(l.p, l.d), disc = along * along + radius * radius - dot(l.p, l.p);
    if (disc < 0)
        return 0;
    float root = sqrtf(disc), left = -along - root, right = -along + root, t;
    for (int i = 0; i < index; i++) {
        float below = det(l.d, lines[i].d), above = det(lines[i].d, sub(l.p, lines[i].p));
        if (fabsf(below) <= EPSILON) {
            if (above < 0)
                return 0;
            continue;
        }
        t = above / below;
        if (below >= 0)
            right = MIN(right, t);
        else
            left = MAX(left, t);
        if (left > right)
            return 0;
    }
    if (direct) {
        t = dot(wanted, l.d) > 0 ? right : left;
    } else {
        t = dot(l.d, sub(wanted, l.p));
        t = MIN(MAX(t, left), right);
    }
    *result = add(l.p, mul(t, l.d));
    return 1;
}

static int program2(const Line *lines, int count, float radius, V wanted, int direct, V *result) {
    if (direct)
        *result = mul(radius, wanted);
    else if (dot(wanted, wanted) > radius * radius)
        *result = mul(radius, unit(wanted));
    else
        *result = wanted;
    for (int i = 0; i < count; i++)
        if (det(lines[i].d, sub(lines[i].p, *result)) > 0 && !program1(lines, i, radius, wanted, direct, result))
            return i;
    return count;
}

static void program3(const Line *lines, int count, int begin, float radius, V *result) {
    float distance = 0;
    for (int i = begin; i < count; i++) {
        Line li = lines[i], made[MOST];
        if (det(li.d, sub(li.p, *result)) <= distance)
            continue;
        int n = 0;
        for (int j = 0; j < i; j++) {
            Line lj = lines[j];
            V p;
            float d = det(li.d, lj.d);
            if (fabsf(d) <= EPSILON) {
                if (dot(li.d, lj.d) > 0)
                    continue;
                p = mul(0.5f, add(li.p, lj.p));
            } else {
                p = add(li.p, mul(det(lj.d, sub(li.p, lj.p)) / d, li.d));
            }
            made[n++] = (Line){p, unit(sub(lj.d, li.d))};
        }
        V before = *result;
        if (program2(made, n, radius, (V){-li.d.y, li.d.x}, 1, result) < n)
            *result = before;
        distance = det(li.d, sub(li.p, *result));
    }
}

void run(const Agent *restrict agents, const int *restrict cell_start, const int *restrict cell_agents,
         V *restrict velocities, int n, int cells, float cell_size, float range, float horizon, float dt) {
    float inv_horizon = 1 / horizon, inv_dt = 1 / dt;
    for (int id = 0; id < n; id++) {
        Agent me = agents[id];
        int neighbors[MOST], found = 0;
        float distances[MOST], limit = range * range;
        int cx = me.position.x / cell_size, cy = me.position.y / cell_size;
        for (int y = MAX(cy - 1, 0); y <= MIN(cy + 1, cells - 1); y++) {
            int row = y * cells, x0 = MAX(cx - 1, 0), x1 = MIN(cx + 1, cells - 1);
            for (int k = cell_start[row + x0]; k < cell_start[row + x1 + 1]; k++) {
                int other = cell_agents[k];
                V d = sub(me.position, agents[other].position);
                float square = dot(d, d);
                if (other == id || square >= limit)
                    continue;
                found += found < MOST;
                int at = found - 1;
                for (; at > 0 && square < distances[at - 1]; at--) {
                    distances[at] = distances[at - 1];
                    neighbors[at] = neighbors[at - 1];
                }
                distances[at] = square;
                neighbors[at] = other;
                if (found == MOST)
                    limit = distances[found - 1];
            }
        }
        Line lines[MOST];
        for (int k = 0; k < found; k++) {
            Agent other = agents[neighbors[k]];
            V place = sub(other.position, me.position), speed = sub(me.velocity, other.velocity), u, d;
            float square = dot(place, place), radius = me.radius + other.radius, radius2 = radius * radius;
            float inverse = square > radius2 ? inv_horizon : inv_dt;
            V w = sub(speed, mul(inverse, place));
            float w2 = dot(w, w), product = dot(w, place);
            if (square <= radius2 || (product < 0 && product * product > radius2 * w2)) {
                float length = sqrtf(w2);
                V e = mul(1 / length, w);
                d = (V){e.y, -e.x};
                u = mul(radius * inverse - length, e);
            } else {
                float leg = sqrtf(square - radius2);
                if (det(place, w) > 0)
                    d = mul(1 / square, (V){place.x * leg - place.y * radius, place.x * radius + place.y * leg});
                else
                    d = mul(-1 / square, (V){place.x * leg + place.y * radius, -place.x * radius + place.y * leg});
                u = sub(mul(dot(speed, d), d), speed);
            }
            lines[k] = (Line){add(me.velocity, mul(0.5f, u)), d};
        }
        V result;
        int failed = program2(lines, found, me.max_speed, me.preferred, 0, &result);
        if (failed < found)
            program3(lines, found, failed, me.max_speed, &result);
        velocities[id] = result;
    }
}
