// Mandelbrot's set deep inside, where a number is two floats; blocks take tiles off a queue until none is left.
#define BLOCKDIM_X 16
#define BLOCKDIM_Y 16

struct dfloat {
    float hi, lo;
};

__device__ inline dfloat df(float hi, float lo) {
    dfloat r;
    r.hi = hi;
    r.lo = lo;
    return r;
}

__device__ inline dfloat operator+(const dfloat &a, const dfloat &b) {
    float t1 = a.hi + b.hi;
    float e = t1 - a.hi;
    float t2 = ((b.hi - e) + (a.hi - (t1 - e))) + a.lo + b.lo;
    float hi = t1 + t2;
    return df(hi, t2 - (hi - t1));
}

__device__ inline dfloat operator-(const dfloat &a, const dfloat &b) {
    return a + df(-b.hi, -b.lo);
}

__device__ inline dfloat operator*(const dfloat &a, const dfloat &b) {
    float p = __fmul_rn(a.hi, b.hi);
    float e = __fmaf_rn(a.hi, b.hi, -p);
    e = __fmaf_rn(a.hi, b.lo, e);
    e = __fmaf_rn(a.lo, b.hi, e);
    float hi = p + e;
    return df(hi, e - (hi - p));
}

__device__ unsigned int blockCounter;

extern "C" __global__ void mandel_reset() {
    blockCounter = 0;
}

__device__ int CalcMandelbrotDS(dfloat xPos, dfloat yPos, int crunch) {
    dfloat x = xPos, y = yPos;
    dfloat xx = x * x, yy = y * y;
    dfloat sum = xx + yy;
    int i = crunch;
    while (--i && (sum.hi + sum.lo < 4.0f)) {
        dfloat xy = x * y;
        y = xy + xy + yPos;
        x = xx - yy + xPos;
        xx = x * x;
        yy = y * y;
        sum = xx + yy;
    }
    return i;
}

extern "C" __global__ void mandel_ff(uchar4 *dst, int imageW, int imageH, int crunch, float xOff0, float xOff1,
                                     float yOff0, float yOff1, float scale, uchar4 colors, int gridWidth,
                                     int numBlocks) {
    __shared__ unsigned int blockIndex;
    __shared__ unsigned int blockX, blockY;
    while (1) {
        if ((threadIdx.x == 0) && (threadIdx.y == 0)) {
            blockIndex = atomicAdd(&blockCounter, 1);
            blockX = blockIndex % gridWidth;
            blockY = blockIndex / gridWidth;
        }
        __syncthreads();
        if (blockIndex >= numBlocks)
            break;
        const int ix = blockDim.x * blockX + threadIdx.x;
        const int iy = blockDim.y * blockY + threadIdx.y;
        if ((ix < imageW) && (iy < imageH)) {
            dfloat xPos = df(xOff0, xOff1) + df((float)ix, 0.0f) * df(scale, 0.0f);
            dfloat yPos = df(yOff0, yOff1) + df((float)iy, 0.0f) * df(scale, 0.0f);
            int m = CalcMandelbrotDS(xPos, yPos, crunch);
            m = m > 0 ? crunch - m : 0;
            uchar4 color;
            if (m) {
                color.x = m * colors.x;
                color.y = m * colors.y;
                color.z = m * colors.z;
            } else {
                color.x = 0;
                color.y = 0;
                color.z = 0;
            }
            color.w = 0;
            dst[imageW * iy + ix] = color;
        }
        __syncthreads();
    }
}
