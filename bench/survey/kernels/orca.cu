// Crowds by optimal reciprocal collision avoidance: half-planes of velocities from the nearest agents (sorted by
// insertion), and a linear program in two dimensions, made three-dimensional where it has no solution.
#define MAX_NEIGHBORS 10
#define EPSILON 1e-5f

struct Line {
    float2 point, direction;
};

struct Agent {
    float2 position, velocity, preferred;
    float radius, max_speed;
};

__device__ __forceinline__ float2 operator+(float2 a, float2 b) {
    return make_float2(a.x + b.x, a.y + b.y);
}
__device__ __forceinline__ float2 operator-(float2 a, float2 b) {
    return make_float2(a.x - b.x, a.y - b.y);
}
__device__ __forceinline__ float2 operator*(float s, float2 a) {
    return make_float2(s * a.x, s * a.y);
}
__device__ __forceinline__ float dot(float2 a, float2 b) {
    return a.x * b.x + a.y * b.y;
}
__device__ __forceinline__ float det(float2 a, float2 b) {
    return a.x * b.y - a.y * b.x;
}
__device__ __forceinline__ float2 normalize(float2 a) {
    return (1.0f / sqrtf(dot(a, a))) * a;
}

__device__ bool program1(const Line *lines, int index, float radius, float2 wanted, bool direct, float2 &result) {
    const Line line = lines[index];
    float along = dot(line.point, line.direction);
    float discriminant = along * along + radius * radius - dot(line.point, line.point);
    if (discriminant < 0.0f)
        return false;
    float root = sqrtf(discriminant);
    float left = -along - root, right = -along + root;
    for (int i = 0; i < index; i++) {
        float denominator = det(line.direction, lines[i].direction);
        float numerator = det(lines[i].direction, line.point - lines[i].point);
        if (fabsf(denominator) <= EPSILON) {
            if (numerator < 0.0f)
                return false;
            continue;
        }
        float t = numerator / denominator;
        if (denominator >= 0.0f)
            right = fminf(right, t);
        else
            left = fmaxf(left, t);
        if (left > right)
            return false;
    }
    float t;
    if (direct)
        t = dot(wanted, line.direction) > 0.0f ? right : left;
    else
        t = fminf(fmaxf(dot(line.direction, wanted - line.point), left), right);
    result = line.point + t * line.direction;
    return true;
}

__device__ int program2(const Line *lines, int count, float radius, float2 wanted, bool direct, float2 &result) {
    if (direct)
        result = radius * wanted;
    else if (dot(wanted, wanted) > radius * radius)
        result = radius * normalize(wanted);
    else
        result = wanted;
    for (int i = 0; i < count; i++)
        if (det(lines[i].direction, lines[i].point - result) > 0.0f) {
            float2 before = result;
            if (!program1(lines, i, radius, wanted, direct, result)) {
                result = before;
                return i;
            }
        }
    return count;
}

__device__ void program3(const Line *lines, int count, int begin, float radius, float2 &result) {
    float distance = 0.0f;
    Line projected[MAX_NEIGHBORS];
    for (int i = begin; i < count; i++) {
        if (det(lines[i].direction, lines[i].point - result) <= distance)
            continue;
        int made = 0;
        for (int j = 0; j < i; j++) {
            Line line;
            float determinant = det(lines[i].direction, lines[j].direction);
            if (fabsf(determinant) <= EPSILON) {
                if (dot(lines[i].direction, lines[j].direction) > 0.0f)
                    continue;
                line.point = 0.5f * (lines[i].point + lines[j].point);
            } else {
                float t = det(lines[j].direction, lines[i].point - lines[j].point) / determinant;
                line.point = lines[i].point + t * lines[i].direction;
            }
            line.direction = normalize(lines[j].direction - lines[i].direction);
            projected[made++] = line;
        }
        float2 before = result;
        float2 up = make_float2(-lines[i].direction.y, lines[i].direction.x);
        if (program2(projected, made, radius, up, true, result) < made)
            result = before;
        distance = det(lines[i].direction, lines[i].point - result);
    }
}

extern "C" __global__ void orca(const Agent *__restrict__ agents, const int *__restrict__ cell_start,
                                const int *__restrict__ cell_agents, float2 *__restrict__ velocities, int n, int cells,
                                float cell_size, float range, float horizon, float dt) {
    int id = blockIdx.x * blockDim.x + threadIdx.x;
    if (id >= n)
        return;
    const Agent me = agents[id];
    int neighbors[MAX_NEIGHBORS];
    float distances[MAX_NEIGHBORS];
    int found = 0;
    float limit = range * range;
    int cx = (int)(me.position.x / cell_size), cy = (int)(me.position.y / cell_size);
    for (int y = max(cy - 1, 0); y <= min(cy + 1, cells - 1); y++)
        for (int x = max(cx - 1, 0); x <= min(cx + 1, cells - 1); x++) {
            int cell = y * cells + x;
            for (int k = cell_start[cell]; k < cell_start[cell + 1]; k++) {
                int other = cell_agents[k];
                if (other == id)
                    continue;
                float2 d = me.position - agents[other].position;
                float square = dot(d, d);
                if (square >= limit)
                    continue;
                if (found < MAX_NEIGHBORS)
                    found++;
                int at = found - 1;
                while (at > 0 && square < distances[at - 1]) {
                    distances[at] = distances[at - 1];
                    neighbors[at] = neighbors[at - 1];
                    at--;
                }
                distances[at] = square;
                neighbors[at] = other;
                if (found == MAX_NEIGHBORS)
                    limit = distances[found - 1];
            }
        }

    Line lines[MAX_NEIGHBORS];
    const float inv_horizon = 1.0f / horizon;
    for (int k = 0; k < found; k++) {
        const Agent other = agents[neighbors[k]];
        float2 place = other.position - me.position, speed = me.velocity - other.velocity;
        float square = dot(place, place), radius = me.radius + other.radius, radius2 = radius * radius;
        Line line;
        float2 u;
        if (square > radius2) {
            float2 w = speed - inv_horizon * place;
            float w2 = dot(w, w), product = dot(w, place);
            if (product < 0.0f && product * product > radius2 * w2) {
                float length = sqrtf(w2);
                float2 unit = (1.0f / length) * w;
                line.direction = make_float2(unit.y, -unit.x);
                u = (radius * inv_horizon - length) * unit;
            } else {
                float leg = sqrtf(square - radius2);
                if (det(place, w) > 0.0f)
                    line.direction = (1.0f / square) * make_float2(place.x * leg - place.y * radius,
                                                                   place.x * radius + place.y * leg);
                else
                    line.direction = (-1.0f / square) * make_float2(place.x * leg + place.y * radius,
                                                                    -place.x * radius + place.y * leg);
                u = dot(speed, line.direction) * line.direction - speed;
            }
        } else {
            float inv_dt = 1.0f / dt;
            float2 w = speed - inv_dt * place;
            float length = sqrtf(dot(w, w));
            float2 unit = (1.0f / length) * w;
            line.direction = make_float2(unit.y, -unit.x);
            u = (radius * inv_dt - length) * unit;
        }
        line.point = me.velocity + 0.5f * u;
        lines[k] = line;
    }
    float2 result;
    int failed = program2(lines, found, me.max_speed, me.preferred, false, result);
    if (failed < found)
        program3(lines, found, failed, me.max_speed, result);
    velocities[id] = result;
}
