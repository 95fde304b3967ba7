// Suppression of turned boxes seen from above: the overlap of two rectangles is the polygon of corners inside and
// crossings of edges, sorted by angle; 64 x 64 pairs a block give masks of 64 bits, which a block then goes through.
const int THREADS_PER_BLOCK_NMS = sizeof(unsigned long long) * 8;
#define DIVUP(m, n) ((m) / (n) + ((m) % (n) > 0))
const float EPS = 1e-8f;

struct Point {
    float x, y;
    __device__ Point() {}
    __device__ Point(double _x, double _y) { x = _x, y = _y; }
    __device__ void set(float _x, float _y) {
        x = _x;
        y = _y;
    }
    __device__ Point operator+(const Point &b) const { return Point(x + b.x, y + b.y); }
    __device__ Point operator-(const Point &b) const { return Point(x - b.x, y - b.y); }
};

__device__ inline float cross(const Point &a, const Point &b) { return a.x * b.y - a.y * b.x; }

__device__ inline float cross(const Point &p1, const Point &p2, const Point &p0) {
    return (p1.x - p0.x) * (p2.y - p0.y) - (p2.x - p0.x) * (p1.y - p0.y);
}

__device__ inline int rects_touch(const Point &p1, const Point &p2, const Point &q1, const Point &q2) {
    return min(p1.x, p2.x) <= max(q1.x, q2.x) && min(q1.x, q2.x) <= max(p1.x, p2.x) &&
           min(p1.y, p2.y) <= max(q1.y, q2.y) && min(q1.y, q2.y) <= max(p1.y, p2.y);
}

__device__ inline int in_box2d(const float *box, const Point &p) {
    const float MARGIN = 1e-2f;
    float c = cosf(-box[4]), s = sinf(-box[4]);
    float rx = (p.x - box[0]) * c + (p.y - box[1]) * (-s);
    float ry = (p.x - box[0]) * s + (p.y - box[1]) * c;
    return fabsf(rx) < box[2] / 2 + MARGIN && fabsf(ry) < box[3] / 2 + MARGIN;
}

__device__ inline int intersection(const Point &p1, const Point &p0, const Point &q1, const Point &q0, Point &ans) {
    if (rects_touch(p0, p1, q0, q1) == 0)
        return 0;
    float s1 = cross(q0, p1, p0);
    float s2 = cross(p1, q1, p0);
    float s3 = cross(p0, q1, q0);
    float s4 = cross(q1, p1, q0);
    if (!(s1 * s2 > 0 && s3 * s4 > 0))
        return 0;
    float s5 = cross(q1, p1, p0);
    if (fabsf(s5 - s1) > EPS) {
        ans.x = (s5 * q0.x - s1 * q1.x) / (s5 - s1);
        ans.y = (s5 * q0.y - s1 * q1.y) / (s5 - s1);
    } else {
        float a0 = p0.y - p1.y, b0 = p1.x - p0.x, c0 = p0.x * p1.y - p1.x * p0.y;
        float a1 = q0.y - q1.y, b1 = q1.x - q0.x, c1 = q0.x * q1.y - q1.x * q0.y;
        float D = a0 * b1 - a1 * b0;
        ans.x = (b0 * c1 - b1 * c0) / D;
        ans.y = (a1 * c0 - a0 * c1) / D;
    }
    return 1;
}

__device__ inline void rotate_around_center(const Point &center, float c, float s, Point &p) {
    float nx = (p.x - center.x) * c - (p.y - center.y) * s + center.x;
    float ny = (p.x - center.x) * s + (p.y - center.y) * c + center.y;
    p.set(nx, ny);
}

__device__ inline bool point_after(const Point &a, const Point &b, const Point &center) {
    return atan2f(a.y - center.y, a.x - center.x) > atan2f(b.y - center.y, b.x - center.x);
}

__device__ void corners_of(const float *box, Point *corners) {
    float hx = box[2] / 2, hy = box[3] / 2;
    Point center(box[0], box[1]);
    corners[0].set(box[0] - hx, box[1] - hy);
    corners[1].set(box[0] + hx, box[1] - hy);
    corners[2].set(box[0] + hx, box[1] + hy);
    corners[3].set(box[0] - hx, box[1] + hy);
    float c = cosf(box[4]), s = sinf(box[4]);
    for (int k = 0; k < 4; k++)
        rotate_around_center(center, c, s, corners[k]);
    corners[4] = corners[0];
}

__device__ float box_overlap(const float *box_a, const float *box_b) {
    Point a_corners[5], b_corners[5];
    corners_of(box_a, a_corners);
    corners_of(box_b, b_corners);

    Point cross_points[24];
    Point poly_center;
    int cnt = 0;
    poly_center.set(0, 0);
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++)
            if (intersection(a_corners[i + 1], a_corners[i], b_corners[j + 1], b_corners[j], cross_points[cnt])) {
                poly_center = poly_center + cross_points[cnt];
                cnt++;
            }
    for (int k = 0; k < 4; k++) {
        if (in_box2d(box_a, b_corners[k])) {
            poly_center = poly_center + b_corners[k];
            cross_points[cnt++] = b_corners[k];
        }
        if (in_box2d(box_b, a_corners[k])) {
            poly_center = poly_center + a_corners[k];
            cross_points[cnt++] = a_corners[k];
        }
    }
    if (cnt < 3)
        return 0.0f;
    poly_center.x /= cnt;
    poly_center.y /= cnt;

    Point temp;
    for (int j = 0; j < cnt - 1; j++)
        for (int i = 0; i < cnt - j - 1; i++)
            if (point_after(cross_points[i], cross_points[i + 1], poly_center)) {
                temp = cross_points[i];
                cross_points[i] = cross_points[i + 1];
                cross_points[i + 1] = temp;
            }

    float area = 0;
    for (int k = 0; k < cnt - 1; k++)
        area += cross(cross_points[k] - cross_points[0], cross_points[k + 1] - cross_points[0]);
    return fabsf(area) / 2.0f;
}

__device__ inline float iou_bev(const float *box_a, const float *box_b) {
    const float reach = (box_a[2] + box_a[3] + box_b[2] + box_b[3]) / 2 + 0.1f;
    if (fabsf(box_a[0] - box_b[0]) > reach || fabsf(box_a[1] - box_b[1]) > reach)
        return 0.0f;
    float sa = box_a[2] * box_a[3], sb = box_b[2] * box_b[3];
    float s_overlap = box_overlap(box_a, box_b);
    return s_overlap / fmaxf(sa + sb - s_overlap, EPS);
}

extern "C" __global__ void iou3d_masks(const int boxes_num, const float nms_overlap_thresh, const float *boxes,
                                       unsigned long long *mask) {
    const int row_start = blockIdx.y;
    const int col_start = blockIdx.x;
    if (row_start > col_start)
        return;
    const int row_size = min(boxes_num - row_start * THREADS_PER_BLOCK_NMS, THREADS_PER_BLOCK_NMS);
    const int col_size = min(boxes_num - col_start * THREADS_PER_BLOCK_NMS, THREADS_PER_BLOCK_NMS);

    __shared__ float block_boxes[THREADS_PER_BLOCK_NMS * 5];
    if (threadIdx.x < col_size)
        for (int k = 0; k < 5; k++)
            block_boxes[threadIdx.x * 5 + k] = boxes[(THREADS_PER_BLOCK_NMS * col_start + threadIdx.x) * 5 + k];
    __syncthreads();

    if (threadIdx.x < row_size) {
        const int cur_box_idx = THREADS_PER_BLOCK_NMS * row_start + threadIdx.x;
        const float *cur_box = boxes + cur_box_idx * 5;
        unsigned long long t = 0;
        int start = row_start == col_start ? threadIdx.x + 1 : 0;
        for (int i = start; i < col_size; i++)
            if (iou_bev(cur_box, block_boxes + i * 5) > nms_overlap_thresh)
                t |= 1ULL << i;
        const int col_blocks = DIVUP(boxes_num, THREADS_PER_BLOCK_NMS);
        mask[cur_box_idx * col_blocks + col_start] = t;
    }
}

extern "C" __global__ void iou3d_gather(const unsigned long long *mask, unsigned char *keep, int boxes_num) {
    extern __shared__ unsigned long long remv[];
    const int col_blocks = DIVUP(boxes_num, THREADS_PER_BLOCK_NMS);
    for (int i = threadIdx.x; i < col_blocks; i += blockDim.x)
        remv[i] = 0;
    __syncthreads();
    for (int i = 0; i < boxes_num; i++) {
        int nblock = i / THREADS_PER_BLOCK_NMS, inblock = i % THREADS_PER_BLOCK_NMS;
        bool gone = remv[nblock] & (1ULL << inblock);
        __syncthreads();
        if (!gone) {
            const unsigned long long *p = mask + (size_t)i * col_blocks;
            for (int j = nblock + threadIdx.x; j < col_blocks; j += blockDim.x)
                remv[j] |= p[j];
        }
        if (threadIdx.x == 0)
            keep[i] = !gone;
        __syncthreads();
    }
}
