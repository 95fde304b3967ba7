// Connected components of an image: pixels are united with their neighbours by atomicMin on the labels of roots.
__device__ int find_root(const int *label, int p) {
    while (label[p] != p)
        p = label[p];
    return p;
}

__device__ void unite(int *label, int a, int b) {
    bool done;
    do {
        a = find_root(label, a);
        b = find_root(label, b);
        if (a < b) {
            int old = atomicMin(&label[b], a);
            done = old == b;
            b = old;
        } else if (b < a) {
            int old = atomicMin(&label[a], b);
            done = old == a;
            a = old;
        } else {
            done = true;
        }
    } while (!done);
}

extern "C" __global__ void label_start(const unsigned char *__restrict__ image, int *label, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    int i = y * width + x;
    // the first pixel to the left or above of the same kind, else itself
    int l = i;
    if (y > 0 && image[i] == image[i - width])
        l = i - width;
    else if (x > 0 && image[i] == image[i - 1])
        l = i - 1;
    label[i] = l;
}

extern "C" __global__ void label_unite(const unsigned char *__restrict__ image, int *label, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    int i = y * width + x;
    if (x > 0 && image[i] == image[i - 1])
        unite(label, i, i - 1);
    if (y > 0 && image[i] == image[i - width])
        unite(label, i, i - width);
}

extern "C" __global__ void label_flatten(int *label, int *roots, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    int i = y * width + x;
    int r = find_root(label, i);
    label[i] = r;
    if (r == i)
        atomicAdd(roots, 1);
}
