// Kalman filters for many tracks in the plane: places and speeds (4 numbers) from places that were seen (2), with
// matrices in registers; a thread for each track. A track is not seen at each time.
template <int M, int K, int N>
__device__ void multiply(const float (&a)[M][K], const float (&b)[K][N], float (&c)[M][N]) {
#pragma unroll
    for (int i = 0; i < M; i++)
#pragma unroll
        for (int j = 0; j < N; j++) {
            float sum = 0.0f;
#pragma unroll
            for (int k = 0; k < K; k++)
                sum += a[i][k] * b[k][j];
            c[i][j] = sum;
        }
}

template <int M, int K, int N>
__device__ void multiply_transposed(const float (&a)[M][K], const float (&b)[N][K], float (&c)[M][N]) {
#pragma unroll
    for (int i = 0; i < M; i++)
#pragma unroll
        for (int j = 0; j < N; j++) {
            float sum = 0.0f;
#pragma unroll
            for (int k = 0; k < K; k++)
                sum += a[i][k] * b[j][k];
            c[i][j] = sum;
        }
}

extern "C" __global__ void kalman(float4 *state, float *covariance, const float2 *measured,
                                  const unsigned char *valid, int tracks, int times, float dt, float q, float r) {
    int id = blockIdx.x * blockDim.x + threadIdx.x;
    if (id >= tracks)
        return;
    const float F[4][4] = {{1, 0, dt, 0}, {0, 1, 0, dt}, {0, 0, 1, 0}, {0, 0, 0, 1}};
    const float H[2][4] = {{1, 0, 0, 0}, {0, 1, 0, 0}};
    const float q4 = q * dt * dt * dt * dt / 4, q3 = q * dt * dt * dt / 2, q2 = q * dt * dt;
    const float Q[4][4] = {{q4, 0, q3, 0}, {0, q4, 0, q3}, {q3, 0, q2, 0}, {0, q3, 0, q2}};

    float4 loaded = state[id];
    float x[4][1] = {{loaded.x}, {loaded.y}, {loaded.z}, {loaded.w}};
    float P[4][4];
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++)
            P[i][j] = covariance[id * 16 + i * 4 + j];

    for (int t = 0; t < times; t++) {
        // predict
        float fx[4][1], FP[4][4];
        multiply(F, x, fx);
        multiply(F, P, FP);
        multiply_transposed(FP, F, P);
        for (int i = 0; i < 4; i++) {
            x[i][0] = fx[i][0];
            for (int j = 0; j < 4; j++)
                P[i][j] += Q[i][j];
        }
        // update
        if (valid[t * tracks + id]) {
            float2 z = measured[t * tracks + id];
            float PHt[4][2], S[2][2], Hx[2][1], K[4][2], HP[2][4], KHP[4][4];
            multiply_transposed(P, H, PHt);
            multiply(H, PHt, S);
            multiply(H, x, Hx);
            S[0][0] += r;
            S[1][1] += r;
            float inv = 1.0f / (S[0][0] * S[1][1] - S[0][1] * S[1][0]);
            float Si[2][2] = {{S[1][1] * inv, -S[0][1] * inv}, {-S[1][0] * inv, S[0][0] * inv}};
            multiply(PHt, Si, K);
            float y0 = z.x - Hx[0][0], y1 = z.y - Hx[1][0];
            multiply(H, P, HP);
            multiply(K, HP, KHP);
            for (int i = 0; i < 4; i++) {
                x[i][0] += K[i][0] * y0 + K[i][1] * y1;
                for (int j = 0; j < 4; j++)
                    P[i][j] -= KHP[i][j];
            }
        }
    }
    state[id] = make_float4(x[0][0], x[1][0], x[2][0], x[3][0]);
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++)
            covariance[id * 16 + i * 4 + j] = P[i][j];
}
