struct P {
    float x, y, z, vx, vy, vz, m, pad;
};

extern "C" __global__ void step(P *p, int n, float dt, float g) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    P q = p[i];
    q.vy -= g * dt;
    q.x += q.vx * dt;
    q.y += q.vy * dt;
    q.z += q.vz * dt;
    if (q.y < 0) {
        q.y = -q.y;
        q.vy = -0.9f * q.vy;
    }
    p[i] = q;
}
