// Suppression of turned boxes: corners are known before; masks of all pairs, then which boxes are kept.
#include "native.h"

typedef struct {
    float x, y;
} Point;

static inline float cross3(Point a, Point b, Point o) { return (a.x - o.x) * (b.y - o.y) - (b.x - o.x) * (a.y - o.y); }

static inline int touch(Point p1, Point p2, Point q1, Point q2) {
    return MIN(p1.x, p2.x) <= MAX(q1.x, q2.x) && MIN(q1.x, q2.x) <= MAX(p1.x, p2.x) &&
           MIN(p1.y, p2.y) <= MAX(q1.y, q2.y) && MIN(q1.y, q2.y) <= MAX(p1.y, p2.y);
}

static inline int crossing(Point p1, Point p0, Point q1, Point q0, Point *at) {
    if (!touch(p0, p1, q0, q1))
        return 0;
    float s1 = cross3(q0, p1, p0), s2 = cross3(p1, q1, p0), s3 = cross3(p0, q1, q0), s4 = cross3(q1, p1, q0);
    if (!(s1 * s2 > 0 && s3 * s4 > 0))
        return 0;
    float s5 = cross3(q1, p1, p0);
    if (fabsf(s5 - s1) > 1e-8f) {
        at->x = (s5 * q0.x - s1 * q1.x) / (s5 - s1);
        at->y = (s5 * q0.y - s1 * q1.y) / (s5 - s1);
    } else {
        float a0 = p0.y - p1.y, b0 = p1.x - p0.x, c0 = p0.x * p1.y - p1.x * p0.y;
        float a1 = q0.y - q1.y, b1 = q1.x - q0.x, c1 = q0.x * q1.y - q1.x * q0.y, d = a0 * b1 - a1 * b0;
        at->x = (b0 * c1 - b1 * c0) / d;
        at->y = (a1 * c0 - a0 * c1) / d;
    }
    return 1;
}

static inline int inside(const float *box, float c, float s, Point p) {
    float rx = (p.x - box[0]) * c + (p.y - box[1]) * s, ry = (p.y - box[1]) * c - (p.x - box[0]) * s;
    return fabsf(rx) < box[2] / 2 + 1e-2f && fabsf(ry) < box[3] / 2 + 1e-2f;
}

void run(const float *restrict boxes, uchar *restrict keep, ull *restrict mask, int n, float threshold) {
    int words = (n + 63) / 64;
    Point *corners = malloc(n * 5 * sizeof(Point));
    float *turn = malloc(n * 2 * sizeof(float));
    for (int i = 0; i < n; i++) {
        const float *b = boxes + 5 * i;
        float c = cosf(b[4]), s = sinf(b[4]);
        turn[2 * i] = c;
        turn[2 * i + 1] = s;
        for (int k = 0; k < 5; k++) {
            float x = (k == 1 || k == 2 ? 0.5f : -0.5f) * b[2], y = (k == 2 || k == 3 ? 0.5f : -0.5f) * b[3];
            corners[5 * i + k] = (Point){x * c - y * s + b[0], x * s + y * c + b[1]};
        }
    }
    for (int i = 0; i < n; i++) {
        const float *a = boxes + 5 * i;
        const Point *ca = corners + 5 * i;
        for (int k = i / 64; k < words; k++)
            mask[(long)i * words + k] = 0;
        for (int j = i + 1; j < n; j++) {
            const float *b = boxes + 5 * j;
            const Point *cb = corners + 5 * j;
            float reach = (a[2] + a[3] + b[2] + b[3]) / 2 + 0.1f;
            if (fabsf(a[0] - b[0]) > reach || fabsf(a[1] - b[1]) > reach)
                continue;
            Point points[24], middle = {0, 0};
            int count = 0;
            for (int k = 0; k < 4; k++)
                for (int l = 0; l < 4; l++)
                    count += crossing(ca[k + 1], ca[k], cb[l + 1], cb[l], points + count);
            for (int k = 0; k < 4; k++) {
                if (inside(a, turn[2 * i], turn[2 * i + 1], cb[k]))
                    points[count++] = cb[k];
                if (inside(b, turn[2 * j], turn[2 * j + 1], ca[k]))
                    points[count++] = ca[k];
            }
            if (count < 3)
                continue;
            for (int k = 0; k < count; k++) {
                middle.x += points[k].x;
                middle.y += points[k].y;
            }
            middle.x /= count;
            middle.y /= count;
            float angle[24], area = 0;
            for (int k = 0; k < count; k++)
                angle[k] = atan2f(points[k].y - middle.y, points[k].x - middle.x);
            for (int k = 1; k < count; k++) {
                float own = angle[k];
                Point p = points[k];
                int l = k;
                for (; l > 0 && angle[l - 1] > own; l--) {
                    angle[l] = angle[l - 1];
                    points[l] = points[l - 1];
                }
                angle[l] = own;
                points[l] = p;
            }
            for (int k = 0; k < count - 1; k++)
                area += cross3(points[k], points[k + 1], points[0]);
            area = fabsf(area) / 2;
            float both = a[2] * a[3] + b[2] * b[3] - area;
            if (area / MAX(both, 1e-8f) > threshold)
                mask[(long)i * words + j / 64] |= 1ull << j % 64;
        }
    }
    ull *gone = calloc(words, sizeof(ull));
    for (int i = 0; i < n; i++) {
        keep[i] = !(gone[i / 64] >> i % 64 & 1);
        if (keep[i])
            for (int k = i / 64; k < words; k++)
                gone[k] |= mask[(long)i * words + k];
    }
    free(gone);
    free(corners);
    free(turn);
}
