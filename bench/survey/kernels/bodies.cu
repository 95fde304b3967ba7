struct Body {
    float3 position, velocity, spin;
    float4 orientation;
};

// Rigid bodies (64 bytes each) a step further.
extern "C" __global__ void step(Body *bodies, int n, float dt, float3 gravity) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    Body b = bodies[i];
    b.velocity.x += gravity.x * dt;
    b.velocity.y += gravity.y * dt;
    b.velocity.z += gravity.z * dt;
    b.position.x += b.velocity.x * dt;
    b.position.y += b.velocity.y * dt;
    b.position.z += b.velocity.z * dt;
    if (b.position.y < 0.0f) {
        b.position.y = -b.position.y;
        b.velocity.y = -0.8f * b.velocity.y;
    }
    float4 q = b.orientation;
    float h = 0.5f * dt, x = q.x + h * (b.spin.x * q.w + b.spin.y * q.z - b.spin.z * q.y),
          y = q.y + h * (b.spin.y * q.w + b.spin.z * q.x - b.spin.x * q.z),
          z = q.z + h * (b.spin.z * q.w + b.spin.x * q.y - b.spin.y * q.x),
          w = q.w - h * (b.spin.x * q.x + b.spin.y * q.y + b.spin.z * q.z);
    float l = 1.0f / sqrtf(x * x + y * y + z * z + w * w);
    b.orientation = make_float4(x * l, y * l, z * l, w * l);
    bodies[i] = b;
}
