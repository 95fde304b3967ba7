// The smallest rectangle, at any angle, around each cluster of points.
#include "native.h"
enum { MOST = 40 };

typedef struct {
    int x, y;
} Point;

static inline long cross(Point o, Point a, Point b) {
    return (long)(a.x - o.x) * (b.y - o.y) - (long)(a.y - o.y) * (b.x - o.x);
}

static inline Point less(Point a, Point b) { return (Point){a.x - b.x, a.y - b.y}; }
static inline long dot(Point a, Point b) { return (long)a.x * b.x + (long)a.y * b.y; }
static inline long turn(Point a, Point b) { return (long)a.x * b.y - (long)a.y * b.x; }

void run(const short (*restrict points)[2], const int *restrict start, float (*restrict boxes)[6],
         int *restrict corners, int clusters) {
    for (int id = 0; id < clusters; id++) {
        Point p[MOST], hull[2 * MOST];
        int n = start[id + 1] - start[id], h = 0;
        for (int i = 0; i < n; i++) {
            Point q = {points[start[id] + i][0], points[start[id] + i][1]};
            int j = i;
            for (; j > 0 && (q.x < p[j - 1].x || (q.x == p[j - 1].x && q.y < p[j - 1].y)); j--)
                p[j] = p[j - 1];
            p[j] = q;
        }
        for (int i = 0; i < n; i++) {
            while (h >= 2 && cross(hull[h - 2], hull[h - 1], p[i]) <= 0)
                h--;
            hull[h++] = p[i];
        }
        for (int i = n - 2, lower = h + 1; i >= 0; i--) {
            while (h >= lower && cross(hull[h - 2], hull[h - 1], p[i]) <= 0)
                h--;
            hull[h++] = p[i];
        }
        h--;
        corners[id] = h;
        Point side[2 * MOST];
        for (int i = 0; i < h; i++)
            side[i] = less(hull[i + 1], hull[i]);
        double best = 1e300;
        float *box = boxes[id];
        memset(box, 0, 6 * sizeof *box);
        int right = 1, top = 1, left = 0;
        for (int i = 0; i < h; i++) {
            Point from = hull[i], edge = side[i];
            while (dot(edge, side[right]) > 0)
                right = right + 1 == h ? 0 : right + 1;
            if (i == 0)
                top = right;
            while (turn(edge, side[top]) > 0)
                top = top + 1 == h ? 0 : top + 1;
            if (i == 0)
                left = top;
            while (dot(edge, side[left]) < 0)
                left = left + 1 == h ? 0 : left + 1;
            long square = dot(edge, edge), low = dot(edge, less(hull[left], from));
            long high = dot(edge, less(hull[right], from)), up = turn(edge, less(hull[top], from));
            double area = (double)(high - low) * up / square;
            if (area < best) {
                best = area;
                double length = sqrt(square), ex = edge.x / length, ey = edge.y / length;
                double along = (high - low) / length, across = up / length, middle = 0.5 * (high + low) / length;
                float values[6] = {from.x + ex * middle - ey * 0.5 * across, from.y + ey * middle + ex * 0.5 * across,
                                   along, across, ex, ey};
                memcpy(box, values, sizeof values);
            }
        }
    }
}
