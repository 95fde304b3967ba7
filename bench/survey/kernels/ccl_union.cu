// Connected parts of a binary picture (8 neighbours) by union and find: tiles in shared memory, their borders in
// global memory by atomicMin, labels flattened, then each part's area and box.
#define BW 32
#define BH 8

__device__ int find_root(const volatile int *labels, int i) {
    int next = labels[i];
    while (next != i) {
        i = next;
        next = labels[i];
    }
    return i;
}

__device__ void unite(int *labels, int a, int b) {
    bool done;
    do {
        a = find_root(labels, a);
        b = find_root(labels, b);
        if (a < b) {
            int old = atomicMin(labels + b, a);
            done = old == b;
            b = old;
        } else if (b < a) {
            int old = atomicMin(labels + a, b);
            done = old == a;
            a = old;
        } else
            done = true;
    } while (!done);
}

extern "C" __global__ void ccl_tiles(const unsigned char *__restrict__ image, int *labels, int w, int h) {
    __shared__ int local[BH * BW];
    __shared__ unsigned char pixels[BH][BW];
    const int tx = threadIdx.x, ty = threadIdx.y, t = ty * BW + tx;
    const int x = blockIdx.x * BW + tx, y = blockIdx.y * BH + ty;
    const bool in = x < w && y < h;
    const unsigned char own = in ? image[(size_t)y * w + x] : 0;
    pixels[ty][tx] = own;
    local[t] = t;
    __syncthreads();
    if (own) {
        if (tx > 0 && pixels[ty][tx - 1])
            unite(local, t, t - 1);
        if (ty > 0) {
            if (pixels[ty - 1][tx])
                unite(local, t, t - BW);
            else {
                if (tx > 0 && pixels[ty - 1][tx - 1])
                    unite(local, t, t - BW - 1);
                if (tx < BW - 1 && pixels[ty - 1][tx + 1])
                    unite(local, t, t - BW + 1);
            }
        }
    }
    __syncthreads();
    if (in) {
        int label = -1;
        if (own) {
            int root = find_root(local, t);
            label = (blockIdx.y * BH + root / BW) * w + blockIdx.x * BW + root % BW;
        }
        labels[(size_t)y * w + x] = label;
    }
}

extern "C" __global__ void ccl_borders(int *labels, int w, int h) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h)
        return;
    const int i = y * w + x;
    const bool left = x % BW == 0 && x > 0, top = y % BH == 0 && y > 0, right = x % BW == BW - 1 && x + 1 < w;
    if (!(left || top || right) || labels[i] < 0)
        return;
    if (left && labels[i - 1] >= 0)
        unite(labels, i, i - 1);
    if (y > 0) {
        if (top && labels[i - w] >= 0)
            unite(labels, i, i - w);
        if ((top || left) && x > 0 && labels[i - w - 1] >= 0)
            unite(labels, i, i - w - 1);
        if ((top || right) && x + 1 < w && labels[i - w + 1] >= 0)
            unite(labels, i, i - w + 1);
    }
}

extern "C" __global__ void ccl_flatten(int *labels, int *area, int4 *box, int n, int w) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
        if (labels[i] < 0)
            continue;
        const int root = find_root(labels, i);
        labels[i] = root;
        const int x = i % w, y = i / w;
        atomicAdd(area + root, 1);
        atomicMin(&box[root].x, x);
        atomicMin(&box[root].y, y);
        atomicMax(&box[root].z, x);
        atomicMax(&box[root].w, y);
    }
}
