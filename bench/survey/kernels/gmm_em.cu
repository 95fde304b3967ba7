// Mixtures of Gaussians with whole covariances, by expectation and maximisation: a thread for each point works out
// what each component has of it, then blocks sum up moments of each component.
#define DIM 4
#define TRIANGLE (DIM * (DIM + 1) / 2)
#define MOMENTS (1 + DIM + TRIANGLE)
#define MAX_COMPONENTS 16
#define LOG_2PI 1.8378770664f

struct Component {
    float log_norm;        // logarithm of the weight and of the density's factor
    float mean[DIM];
    float chol[TRIANGLE];  // of the covariance, row by row; the diagonal's inverse
};

// From weight, mean and covariance to what the densities need: a thread for each component.
extern "C" __global__ void gmm_prepare(const float *weight, const float *mean, const float *covariance,
                                       Component *model, double *moments, double *log_likelihood, int components) {
    int k = threadIdx.x;
    if (k >= components)
        return;
    Component c;
    float sum_log = 0.0f;
    for (int i = 0; i < DIM; i++) {
        c.mean[i] = mean[k * DIM + i];
        for (int j = 0; j <= i; j++) {
            float s = covariance[(k * DIM + i) * DIM + j];
            for (int m = 0; m < j; m++)
                s -= c.chol[i * (i + 1) / 2 + m] * c.chol[j * (j + 1) / 2 + m];
            if (i == j) {
                float d = sqrtf(s);
                sum_log += logf(d);
                c.chol[i * (i + 1) / 2 + i] = 1.0f / d;
            } else
                c.chol[i * (i + 1) / 2 + j] = s * c.chol[j * (j + 1) / 2 + j];
        }
    }
    c.log_norm = logf(weight[k]) - sum_log - 0.5f * DIM * LOG_2PI;
    model[k] = c;
    for (int i = 0; i < MOMENTS; i++)
        moments[k * MOMENTS + i] = 0.0;
    if (k == 0)
        *log_likelihood = 0.0;
}

template <int D>
__device__ float log_density(const Component &c, const float (&x)[D]) {
    float y[D], square = 0.0f;
#pragma unroll
    for (int i = 0; i < D; i++) {
        float s = x[i] - c.mean[i];
#pragma unroll
        for (int j = 0; j < i; j++)
            s -= c.chol[i * (i + 1) / 2 + j] * y[j];
        y[i] = s * c.chol[i * (i + 1) / 2 + i];
        square += y[i] * y[i];
    }
    return c.log_norm - 0.5f * square;
}

extern "C" __global__ void gmm_expect(const float4 *__restrict__ points, const Component *__restrict__ model,
                                      float *__restrict__ share, double *log_likelihood, int n, int components) {
    __shared__ Component shared_model[MAX_COMPONENTS];
    __shared__ float warp_sums[32];
    if (threadIdx.x < components)
        shared_model[threadIdx.x] = model[threadIdx.x];
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float total = 0.0f;
    if (i < n) {
        float4 p = points[i];
        float x[DIM] = {p.x, p.y, p.z, p.w};
        float log_p[MAX_COMPONENTS], best = -INFINITY, sum = 0.0f;
        for (int k = 0; k < components; k++) {
            log_p[k] = log_density(shared_model[k], x);
            best = fmaxf(best, log_p[k]);
        }
        for (int k = 0; k < components; k++) {
            log_p[k] = expf(log_p[k] - best);
            sum += log_p[k];
        }
        float inverse = 1.0f / sum;
        for (int k = 0; k < components; k++)
            share[(size_t)k * n + i] = log_p[k] * inverse;
        total = best + logf(sum);
    }
    for (int offset = 16; offset; offset >>= 1)
        total += __shfl_down_sync(0xffffffff, total, offset);
    if (threadIdx.x % 32 == 0)
        warp_sums[threadIdx.x / 32] = total;
    __syncthreads();
    if (threadIdx.x == 0) {
        double all = 0.0;
        for (int w = 0; w < (blockDim.x + 31) / 32; w++)
            all += warp_sums[w];
        atomicAdd(log_likelihood, all);
    }
}

// blockIdx.y: the component
extern "C" __global__ void gmm_moments(const float4 *__restrict__ points, const float *__restrict__ share,
                                       double *moments, int n) {
    __shared__ float warp_sums[MOMENTS][8];
    int k = blockIdx.y, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    float sums[MOMENTS];
#pragma unroll
    for (int m = 0; m < MOMENTS; m++)
        sums[m] = 0.0f;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        float4 p = points[i];
        float x[DIM] = {p.x, p.y, p.z, p.w}, r = share[(size_t)k * n + i];
        sums[0] += r;
        int m = 1 + DIM;
#pragma unroll
        for (int a = 0; a < DIM; a++) {
            float rx = r * x[a];
            sums[1 + a] += rx;
#pragma unroll
            for (int b = 0; b <= a; b++)
                sums[m++] += rx * x[b];
        }
    }
#pragma unroll
    for (int m = 0; m < MOMENTS; m++) {
        for (int offset = 16; offset; offset >>= 1)
            sums[m] += __shfl_down_sync(0xffffffff, sums[m], offset);
        if (lane == 0)
            warp_sums[m][warp] = sums[m];
    }
    __syncthreads();
    if (threadIdx.x < MOMENTS) {
        double all = 0.0;
        for (int w = 0; w < blockDim.x / 32; w++)
            all += warp_sums[threadIdx.x][w];
        atomicAdd(&moments[k * MOMENTS + threadIdx.x], all);
    }
}

extern "C" __global__ void gmm_maximise(const double *moments, float *weight, float *mean, float *covariance, int n,
                                        int components, float ridge) {
    int k = threadIdx.x;
    if (k >= components)
        return;
    const double *m = moments + k * MOMENTS;
    double count = m[0] + 1e-8, centre[DIM];
    weight[k] = (float)(count / n);
    for (int i = 0; i < DIM; i++) {
        centre[i] = m[1 + i] / count;
        mean[k * DIM + i] = (float)centre[i];
    }
    int at = 1 + DIM;
    for (int i = 0; i < DIM; i++)
        for (int j = 0; j <= i; j++) {
            float c = (float)(m[at++] / count - centre[i] * centre[j]) + (i == j ? ridge : 0.0f);
            covariance[(k * DIM + i) * DIM + j] = c;
            covariance[(k * DIM + j) * DIM + i] = c;
        }
}
