// Points in polygons: up to 31 polygons of rings, a point's bits say which it is in; then pairs of point and polygon,
// places reserved by a warp at once.
template <typename T> struct vec_2d {
    T x, y;
    friend __device__ __forceinline__ vec_2d operator-(const vec_2d &a, const vec_2d &b) {
        return {a.x - b.x, a.y - b.y};
    }
};

template <typename T> struct polygon_ref {
    const int *ring_begin, *ring_end;
    const vec_2d<T> *points;
};

template <typename T> __device__ bool is_point_in_polygon(const vec_2d<T> &p, const polygon_ref<T> &polygon) {
    bool inside = false;
    for (const int *ring = polygon.ring_begin; ring != polygon.ring_end; ++ring) {
        int first = ring[0], last = ring[1] - 1;
        vec_2d<T> b = polygon.points[last];
        bool y0_flag = b.y > p.y;
        for (int i = first; i <= last; i++) {
            vec_2d<T> a = polygon.points[i];
            bool y1_flag = a.y > p.y;
            if (y1_flag != y0_flag) {
                vec_2d<T> run = b - a, point = p - a;
                bool is_left = run.x * point.y < point.x * run.y;
                if (is_left != (run.y < 0))
                    inside = !inside;
            }
            b = a;
            y0_flag = y1_flag;
        }
    }
    return inside;
}

extern "C" __global__ void pip_bits(const vec_2d<double> *__restrict__ points, int n,
                                    const int *__restrict__ polygon_offsets, int polygons,
                                    const int *__restrict__ ring_offsets,
                                    const vec_2d<double> *__restrict__ vertices, unsigned *__restrict__ result) {
    for (int idx = threadIdx.x + blockIdx.x * blockDim.x; idx < n; idx += gridDim.x * blockDim.x) {
        unsigned hit_mask = 0;
        vec_2d<double> point = points[idx];
        for (int k = 0; k < polygons; k++) {
            polygon_ref<double> polygon{ring_offsets + polygon_offsets[k], ring_offsets + polygon_offsets[k + 1],
                                        vertices};
            hit_mask |= (unsigned)is_point_in_polygon(point, polygon) << k;
        }
        result[idx] = hit_mask;
    }
}

extern "C" __global__ void pip_pairs(const unsigned *__restrict__ result, int n, unsigned long long *pairs,
                                     int *count) {
    int idx = threadIdx.x + blockIdx.x * blockDim.x;
    int lane = threadIdx.x & 31;
    unsigned bits = idx < n ? result[idx] : 0;
    int mine = __popc(bits), sum = mine;
#pragma unroll
    for (int o = 1; o < 32; o <<= 1) {
        int other = __shfl_up_sync(0xffffffffu, sum, o);
        if (lane >= o)
            sum += other;
    }
    int base = 0;
    if (lane == 31 && sum)
        base = atomicAdd(count, sum);
    base = __shfl_sync(0xffffffffu, base, 31);
    int place = base + sum - mine;
    while (bits) {
        int k = __ffs(bits) - 1;
        pairs[place++] = (unsigned long long)idx << 8 | k;
        bits &= bits - 1;
    }
}
