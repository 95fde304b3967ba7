// A bounding volume hierarchy along a Morton curve, boxes from the leaves upwards, queries with a stack
#include "native.h"

typedef struct {
    float x, y, z, w;
} Point;

typedef struct {
    int parent, left, right;
} Node;

typedef struct {
    float low[3], high[3];
} Box;

static inline uint spread(uint v) {
    v = (v * 0x00010001u) & 0xff0000ffu;
    v = (v * 0x00000101u) & 0x0f00f00fu;
    v = (v * 0x00000011u) & 0xc30c30c3u;
    return (v * 0x00000005u) & 0x49249249u;
}

static inline uint cell(float x) {
    x *= 1024.0f;
    x = MAX(x, 0.0f);
    return (uint)(int)MIN(x, 1023.0f);
}

static inline int common(const uint *codes, int n, int i, int j) {
    if (j < 0 || j >= n)
        return -1;
    uint differ = codes[i] ^ codes[j];
    return differ ? __builtin_clz(differ) : 32 + (i == j ? 32 : __builtin_clz(i ^ j));
}

static inline int touches(const Box *box, Point q) {
    float dx = MAX(MAX(box->low[0] - q.x, q.x - box->high[0]), 0.0f);
    float dy = MAX(MAX(box->low[1] - q.y, q.y - box->high[1]), 0.0f);
    float dz = MAX(MAX(box->low[2] - q.z, q.z - box->high[2]), 0.0f);
    return dx * dx + dy * dy + dz * dz <= q.w * q.w;
}

void run(const Point *restrict points, const Point *restrict queries, uint *restrict codes, Node *restrict nodes,
         Box *restrict boxes, int *restrict hits, float *restrict weights, int n, int count) {
    for (int i = 0; i < n; i++)
        codes[i] = spread(cell(points[i].x)) * 4 + spread(cell(points[i].y)) * 2 + spread(cell(points[i].z));
    for (int i = 0; i < n - 1; i++) {
        int way = common(codes, n, i, i + 1) > common(codes, n, i, i - 1) ? 1 : -1;
        int least = common(codes, n, i, i - way), most = 2, length = 0;
        while (common(codes, n, i, i + most * way) > least)
            most *= 2;
        for (int step = most / 2; step; step /= 2)
            if (common(codes, n, i, i + (length + step) * way) > least)
                length += step;
        int other = i + length * way, prefix = common(codes, n, i, other), split = 0, step = length;
        do {
            step = (step + 1) / 2;
            if (common(codes, n, i, i + (split + step) * way) > prefix)
                split += step;
        } while (step > 1);
        int middle = i + split * way + MIN(way, 0);
        int left = MIN(i, other) == middle ? middle + n - 1 : middle;
        int right = MAX(i, other) == middle + 1 ? middle + n : middle + 1;
        nodes[i].left = left;
        nodes[i].right = right;
        nodes[left].parent = nodes[right].parent = i;
    }
    nodes[0].parent = -1;
    uchar *visited = calloc(n, 1);
    for (int i = 0; i < n; i++) {
        Point p = points[i];
        int at = i + n - 1;
        nodes[at].left = nodes[at].right = -1;
        boxes[at] = (Box){{p.x, p.y, p.z}, {p.x, p.y, p.z}};
        for (at = nodes[at].parent; at >= 0 && visited[at]++; at = nodes[at].parent) {
            const Box *a = boxes + nodes[at].left, *b = boxes + nodes[at].right;
            for (int d = 0; d < 3; d++) {
                boxes[at].low[d] = MIN(a->low[d], b->low[d]);
                boxes[at].high[d] = MAX(a->high[d], b->high[d]);
            }
        }
    }
    free(visited);
    for (int i = 0; i < count; i++) {
        Point q = queries[i];
        int stack[64], depth = 0, found = 0, at = 0;
        float weight = 0;
        while (1) {
            int left = nodes[at].left, right = nodes[at].right;
            int go_left = touches(boxes + left, q), go_right = touches(boxes + right, q);
            if (go_left && left >= n - 1) {
                found++;
                weight += points[left - (n - 1)].w;
                go_left = 0;
            }
            if (go_right && right >= n - 1) {
                found++;
                weight += points[right - (n - 1)].w;
                go_right = 0;
            }
            if (go_left) {
                at = left;
                if (go_right)
                    stack[depth++] = right;
            } else if (go_right)
                at = right;
            else if (depth)
                at = stack[--depth];
            else
                break;
        }
        hits[i] = found;
        weights[i] = weight;
    }
}
