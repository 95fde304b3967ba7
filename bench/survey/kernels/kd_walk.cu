// The eight nearest of a left-balanced k-d tree without pointers: a stack of far sides in local memory.
#define K 8
#define DEPTH 24

struct __align__(16) Point {
    float x, y, z;
    int id;
};

struct Nearest {
    float d2[K];
    int id[K];

    __device__ Nearest() {
#pragma unroll
        for (int i = 0; i < K; i++) {
            d2[i] = INFINITY;
            id[i] = -1;
        }
    }
    __device__ float worst() const { return d2[K - 1]; }
    __device__ void add(float d, int which) {
        if (d >= worst())
            return;
        int i = K - 1;
        while (i > 0 && d2[i - 1] > d) {
            d2[i] = d2[i - 1];
            id[i] = id[i - 1];
            i--;
        }
        d2[i] = d;
        id[i] = which;
    }
};

__device__ __forceinline__ float axis_of(const Point &p, int axis) {
    return axis == 0 ? p.x : axis == 1 ? p.y : p.z;
}

extern "C" __global__ void kd_walk(const Point *__restrict__ tree, int n, const float3 *__restrict__ query, int m,
                                   int *__restrict__ found, float *__restrict__ distance) {
    for (int q = blockIdx.x * blockDim.x + threadIdx.x; q < m; q += gridDim.x * blockDim.x) {
        float3 at = query[q];
        Point me = {at.x, at.y, at.z, 0};
        Nearest best;
        int stack[DEPTH];
        float plane[DEPTH];
        int top = 0, node = 0;
        while (true) {
            if (node >= n) {
                bool more = false;
                while (top > 0 && !more) {
                    top--;
                    more = plane[top] < best.worst();
                }
                if (!more)
                    break;
                node = stack[top];
            }
            Point p = tree[node];
            float dx = p.x - me.x, dy = p.y - me.y, dz = p.z - me.z;
            best.add(dx * dx + dy * dy + dz * dz, p.id);
            int axis = (31 - __clz(node + 1)) % 3;
            float side = axis_of(me, axis) - axis_of(p, axis);
            int close = 2 * node + 1 + (side > 0.0f), far = 2 * node + 2 - (side > 0.0f);
            if (far < n) {
                stack[top] = far;
                plane[top] = side * side;
                top++;
            }
            node = close;
        }
        for (int i = 0; i < K; i++) {
            found[(size_t)q * K + i] = best.id[i];
            distance[(size_t)q * K + i] = sqrtf(best.d2[i]);
        }
    }
}
