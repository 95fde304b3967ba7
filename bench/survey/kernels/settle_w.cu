// Rigid water by SETTLE: after a step of leapfrog the three sites of each molecule are put back to their triangle by
// rotations in closed form, then velocities follow from the places.
__device__ __forceinline__ double3 sub(double3 a, double3 b) {
    return make_double3(a.x - b.x, a.y - b.y, a.z - b.z);
}
__device__ __forceinline__ double3 cross(double3 a, double3 b) {
    return make_double3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}
__device__ __forceinline__ double dot(double3 a, double3 b) {
    return a.x * b.x + a.y * b.y + a.z * b.z;
}
__device__ __forceinline__ double3 scaled(double s, double3 a) {
    return make_double3(s * a.x, s * a.y, s * a.z);
}
__device__ __forceinline__ double3 add(double3 a, double3 b) {
    return make_double3(a.x + b.x, a.y + b.y, a.z + b.z);
}

struct Frame {
    double3 x, y, z;
    __device__ double3 into(double3 v) const { return make_double3(dot(x, v), dot(y, v), dot(z, v)); }
    __device__ double3 out(double3 v) const {
        return make_double3(x.x * v.x + y.x * v.y + z.x * v.z, x.y * v.x + y.y * v.y + z.y * v.z,
                            x.z * v.x + y.z * v.y + z.z * v.z);
    }
};

extern "C" __global__ void settle_w(double *__restrict__ pos, double *__restrict__ vel,
                                    const double *__restrict__ force, int molecules, double dt, double mO, double mH,
                                    double dOH, double dHH) {
    for (int m = blockIdx.x * blockDim.x + threadIdx.x; m < molecules; m += gridDim.x * blockDim.x) {
        double3 old[3], now[3], v[3];
#pragma unroll
        for (int k = 0; k < 3; k++) {
            int at = 3 * (3 * m + k);
            double inv = 1.0 / (k == 0 ? mO : mH);
            old[k] = make_double3(pos[at], pos[at + 1], pos[at + 2]);
            v[k] = make_double3(vel[at] + dt * inv * force[at], vel[at + 1] + dt * inv * force[at + 1],
                                vel[at + 2] + dt * inv * force[at + 2]);
            now[k] = add(old[k], scaled(dt, v[k]));
        }
        const double total = mO + 2 * mH;
        // the triangle in its plane, its centre of mass in the origin
        const double height = sqrt(dOH * dOH - 0.25 * dHH * dHH);
        const double ra = 2 * mH * height / total, rb = height - ra, rc = 0.5 * dHH;

        double3 b0 = sub(old[1], old[0]), c0 = sub(old[2], old[0]);
        double3 com = scaled(1.0 / total, add(scaled(mO, now[0]), scaled(mH, add(now[1], now[2]))));
        double3 a1 = sub(now[0], com), b1 = sub(now[1], com), c1 = sub(now[2], com);
        Frame f;
        f.z = cross(b0, c0);
        f.x = cross(a1, f.z);
        f.y = cross(f.z, f.x);
        f.x = scaled(rsqrt(dot(f.x, f.x)), f.x);
        f.y = scaled(rsqrt(dot(f.y, f.y)), f.y);
        f.z = scaled(rsqrt(dot(f.z, f.z)), f.z);
        b0 = f.into(b0);
        c0 = f.into(c0);
        a1 = f.into(a1);
        b1 = f.into(b1);
        c1 = f.into(c1);

        double sin_phi = a1.z / ra, cos_phi = sqrt(1 - sin_phi * sin_phi);
        double sin_psi = (b1.z - c1.z) / (2 * rc * cos_phi), cos_psi = sqrt(1 - sin_psi * sin_psi);
        double3 a2 = make_double3(0, ra * cos_phi, ra * sin_phi);
        double xb = -rc * cos_psi;
        double yb = -rb * cos_phi - rc * sin_psi * sin_phi, yc = -rb * cos_phi + rc * sin_psi * sin_phi;
        double zb = -rb * sin_phi + rc * sin_psi * cos_phi, zc = -rb * sin_phi - rc * sin_psi * cos_phi;

        double alpha = xb * (b0.x - c0.x) + b0.y * yb + c0.y * yc;
        double beta = xb * (c0.y - b0.y) + b0.x * yb + c0.x * yc;
        double gamma = b0.x * b1.y - b1.x * b0.y + c0.x * c1.y - c1.x * c0.y;
        double both = alpha * alpha + beta * beta;
        double sin_theta = (alpha * gamma - beta * sqrt(both - gamma * gamma)) / both;
        double cos_theta = sqrt(1 - sin_theta * sin_theta);

        double3 after[3];
        after[0] = make_double3(-a2.y * sin_theta, a2.y * cos_theta, a1.z);
        after[1] = make_double3(xb * cos_theta - yb * sin_theta, xb * sin_theta + yb * cos_theta, zb);
        after[2] = make_double3(-xb * cos_theta - yc * sin_theta, -xb * sin_theta + yc * cos_theta, zc);
#pragma unroll
        for (int k = 0; k < 3; k++) {
            int at = 3 * (3 * m + k);
            double3 p = add(com, f.out(after[k]));
            double3 u = add(v[k], scaled(1.0 / dt, sub(p, now[k])));
            pos[at] = p.x;
            pos[at + 1] = p.y;
            pos[at + 2] = p.z;
            vel[at] = u.x;
            vel[at + 1] = u.y;
            vel[at + 2] = u.z;
        }
    }
}
