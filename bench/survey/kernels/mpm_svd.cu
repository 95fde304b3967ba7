// The material of an MPM step for snow: deformations of 3 x 3, their singular values by Jacobi's rotations, clamped
// (what is over becomes plastic), and stresses by the polar decomposition. Structures of 80 bytes.
template <typename T, int M, int N>
struct Mat {
    T v[M][N];

    __host__ __device__ T *operator[](int i) { return v[i]; }
    __host__ __device__ const T *operator[](int i) const { return v[i]; }

    __device__ static Mat identity() {
        Mat m;
#pragma unroll
        for (int i = 0; i < M; i++)
#pragma unroll
            for (int j = 0; j < N; j++)
                m[i][j] = i == j ? T(1) : T(0);
        return m;
    }

    __device__ Mat<T, N, M> transposed() const {
        Mat<T, N, M> t;
#pragma unroll
        for (int i = 0; i < M; i++)
#pragma unroll
            for (int j = 0; j < N; j++)
                t[j][i] = v[i][j];
        return t;
    }
};

template <typename T, int M, int K, int N>
__device__ Mat<T, M, N> operator*(const Mat<T, M, K> &a, const Mat<T, K, N> &b) {
    Mat<T, M, N> c;
#pragma unroll
    for (int i = 0; i < M; i++)
#pragma unroll
        for (int j = 0; j < N; j++) {
            T sum = a[i][0] * b[0][j];
#pragma unroll
            for (int k = 1; k < K; k++)
                sum += a[i][k] * b[k][j];
            c[i][j] = sum;
        }
    return c;
}

template <typename T, int M, int N>
__device__ Mat<T, M, N> operator+(Mat<T, M, N> a, const Mat<T, M, N> &b) {
#pragma unroll
    for (int i = 0; i < M; i++)
#pragma unroll
        for (int j = 0; j < N; j++)
            a[i][j] += b[i][j];
    return a;
}

template <typename T, int M, int N>
__device__ Mat<T, M, N> operator*(T s, Mat<T, M, N> a) {
#pragma unroll
    for (int i = 0; i < M; i++)
#pragma unroll
        for (int j = 0; j < N; j++)
            a[i][j] *= s;
    return a;
}

template <typename T, int M, int N>
__device__ Mat<T, M, N> operator-(const Mat<T, M, N> &a, const Mat<T, M, N> &b) {
    return a + T(-1) * b;
}

using Mat3 = Mat<float, 3, 3>;

struct Particle {
    Mat3 F, C;
    float plastic, volume;
};

struct Snow {
    float mu, lambda, hardening, least, most;
};

template <int P, int Q>
__device__ void rotate(Mat3 &a, Mat3 &v) {
    float apq = a[P][Q];
    if (fabsf(apq) < 1e-20f)
        return;
    float tau = (a[Q][Q] - a[P][P]) / (2.0f * apq);
    float t = copysignf(1.0f, tau) / (fabsf(tau) + sqrtf(1.0f + tau * tau));
    float c = rsqrtf(1.0f + t * t), s = t * c;
    constexpr int R = 3 - P - Q;
    float arp = a[R][P], arq = a[R][Q];
    a[P][P] -= t * apq;
    a[Q][Q] += t * apq;
    a[P][Q] = a[Q][P] = 0.0f;
    a[R][P] = a[P][R] = c * arp - s * arq;
    a[R][Q] = a[Q][R] = s * arp + c * arq;
#pragma unroll
    for (int i = 0; i < 3; i++) {
        float vip = v[i][P], viq = v[i][Q];
        v[i][P] = c * vip - s * viq;
        v[i][Q] = s * vip + c * viq;
    }
}

extern "C" __global__ void mpm_svd(Particle *particles, float2 *stress, int n, float dt, float mu, float lambda,
                                   float hardening, float least, float most) {
    const Snow snow = {mu, lambda, hardening, least, most};
    for (int id = blockIdx.x * blockDim.x + threadIdx.x; id < n; id += gridDim.x * blockDim.x) {
        Particle p = particles[id];
        Mat3 F = (Mat3::identity() + dt * p.C) * p.F;
        Mat3 a = F.transposed() * F, V = Mat3::identity();
        for (int sweep = 0; sweep < 4; sweep++) {
            rotate<0, 1>(a, V);
            rotate<0, 2>(a, V);
            rotate<1, 2>(a, V);
        }
        Mat3 U = F * V, S = Mat3::identity();
        float ratio = 1.0f, J = 1.0f;
#pragma unroll
        for (int i = 0; i < 3; i++) {
            float sigma = sqrtf(fmaxf(a[i][i], 1e-12f));
            for (int k = 0; k < 3; k++)
                U[k][i] /= sigma;
            float kept = fminf(fmaxf(sigma, snow.least), snow.most);
            S[i][i] = kept;
            ratio *= sigma / kept;
            J *= kept;
        }
        Mat3 Vt = V.transposed(), R = U * Vt;
        p.F = U * S * Vt;
        p.plastic = fminf(fmaxf(p.plastic * ratio, 0.6f), 20.0f);
        float hard = __expf(snow.hardening * (1.0f - p.plastic));
        Mat3 tau = (2.0f * snow.mu * hard) * ((p.F - R) * p.F.transposed()) +
                   (snow.lambda * hard * (J - 1.0f) * J) * Mat3::identity();
        particles[id].F = p.F;
        particles[id].plastic = p.plastic;
        float2 *to = stress + 3 * (size_t)id;
        to[0] = make_float2(p.volume * tau[0][0], p.volume * tau[1][1]);
        to[1] = make_float2(p.volume * tau[2][2], p.volume * tau[1][2]);
        to[2] = make_float2(p.volume * tau[0][2], p.volume * tau[0][1]);
    }
}
