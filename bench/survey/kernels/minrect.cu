// The smallest rectangle, at any angle, around each cluster of points: a convex hull by a sort and a stack, then the
// hull's edges with calipers that go round; a thread for each cluster of up to 40 points.
#define MOST 40

template <class T> struct Vec2 {
    T x, y;
    __device__ Vec2 operator-(const Vec2 &o) const { return {T(x - o.x), T(y - o.y)}; }
    __device__ bool operator<(const Vec2 &o) const { return x < o.x || (x == o.x && y < o.y); }
    __device__ long long cross(const Vec2 &o) const { return (long long)x * o.y - (long long)y * o.x; }
    __device__ long long dot(const Vec2 &o) const { return (long long)x * o.x + (long long)y * o.y; }
};
typedef Vec2<int> Point;

template <class Iterator> __device__ void insertion_sort(Iterator first, Iterator last) {
    for (Iterator i = first + 1; i < last; ++i) {
        auto value = *i;
        Iterator j = i;
        while (j > first && value < *(j - 1)) {
            *j = *(j - 1);
            --j;
        }
        *j = value;
    }
}

__device__ int convex_hull(Point *points, int n, Point *hull) {
    insertion_sort(points, points + n);
    int k = 0;
    for (int i = 0; i < n; i++) {
        while (k >= 2 && (hull[k - 1] - hull[k - 2]).cross(points[i] - hull[k - 2]) <= 0)
            k--;
        hull[k++] = points[i];
    }
    for (int i = n - 2, lower = k + 1; i >= 0; i--) {
        while (k >= lower && (hull[k - 1] - hull[k - 2]).cross(points[i] - hull[k - 2]) <= 0)
            k--;
        hull[k++] = points[i];
    }
    return k - 1;
}

struct Rectangle {
    float cx, cy, along, across, dx, dy;
};

extern "C" __global__ void minrect(const short2 *__restrict__ points, const int *__restrict__ start,
                                   Rectangle *__restrict__ boxes, int *__restrict__ corners, int clusters) {
    int id = blockIdx.x * blockDim.x + threadIdx.x;
    if (id >= clusters)
        return;
    Point mine[MOST], hull[2 * MOST];
    int n = start[id + 1] - start[id];
    for (int i = 0; i < n; i++) {
        short2 p = points[start[id] + i];
        mine[i] = Point{p.x, p.y};
    }
    int h = convex_hull(mine, n, hull);
    corners[id] = h;
    double best = 1e300;
    Rectangle box = {};
    int right = 1, top = 1, left = 0;
    for (int i = 0; i < h; i++) {
        Point from = hull[i], edge = hull[(i + 1) % h] - from;
        while (edge.dot(hull[(right + 1) % h] - hull[right]) > 0)
            right = (right + 1) % h;
        if (i == 0)
            top = right;
        while (edge.cross(hull[(top + 1) % h] - hull[top]) > 0)
            top = (top + 1) % h;
        if (i == 0)
            left = top;
        while (edge.dot(hull[(left + 1) % h] - hull[left]) < 0)
            left = (left + 1) % h;
        long long square = edge.dot(edge);
        long long low = edge.dot(hull[left] - from), high = edge.dot(hull[right] - from);
        long long up = edge.cross(hull[top] - from);
        double area = (double)(high - low) * (double)up / (double)square;
        if (area < best) {
            best = area;
            double length = sqrt((double)square), ex = edge.x / length, ey = edge.y / length;
            double along = (high - low) / length, across = up / length, middle = 0.5 * (high + low) / length;
            box.cx = (float)(from.x + ex * middle - ey * 0.5 * across);
            box.cy = (float)(from.y + ey * middle + ex * 0.5 * across);
            box.along = (float)along;
            box.across = (float)across;
            box.dx = (float)ex;
            box.dy = (float)ey;
        }
    }
    boxes[id] = box;
}
