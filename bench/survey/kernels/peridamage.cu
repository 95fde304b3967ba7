// A brittle body in peridynamics: bonds between points closer than a horizon break when they are stretched too far. A
// block a point, a thread a bond: forces and the share of broken bonds are summed up in shared memory.
#define MAX_FAMILY 128

extern "C" __global__ void bond_forces(int *__restrict__ nlist, const int *__restrict__ family,
                                       const double *__restrict__ x, const double *__restrict__ disp,
                                       const double *__restrict__ volume, double *__restrict__ force,
                                       int *__restrict__ n_neigh, double *__restrict__ damage, double stiffness,
                                       double critical) {
    __shared__ double fx[MAX_FAMILY], fy[MAX_FAMILY], fz[MAX_FAMILY];
    __shared__ int alive[MAX_FAMILY];
    const int node = blockIdx.x, local = threadIdx.x;
    const size_t global = (size_t)node * blockDim.x + local;

    fx[local] = fy[local] = fz[local] = 0.0;
    int other = nlist[global];
    if (other != -1) {
        double ref_x = x[3 * other] - x[3 * node], ref_y = x[3 * other + 1] - x[3 * node + 1],
               ref_z = x[3 * other + 2] - x[3 * node + 2];
        double now_x = ref_x + disp[3 * other] - disp[3 * node],
               now_y = ref_y + disp[3 * other + 1] - disp[3 * node + 1],
               now_z = ref_z + disp[3 * other + 2] - disp[3 * node + 2];
        double ref = sqrt(ref_x * ref_x + ref_y * ref_y + ref_z * ref_z);
        double now = sqrt(now_x * now_x + now_y * now_y + now_z * now_z);
        double stretch = (now - ref) / ref;
        if (stretch > critical) {
            nlist[global] = -1;
            other = -1;
        } else {
            double f = stiffness * stretch * volume[other] / now;
            fx[local] = f * now_x;
            fy[local] = f * now_y;
            fz[local] = f * now_z;
        }
    }
    alive[local] = other != -1 ? 1 : 0;
    __syncthreads();

    for (int i = blockDim.x / 2; i > 0; i /= 2) {
        if (local < i) {
            fx[local] += fx[local + i];
            fy[local] += fy[local + i];
            fz[local] += fz[local + i];
            alive[local] += alive[local + i];
        }
        __syncthreads();
    }
    if (local == 0) {
        force[3 * node] = fx[0];
        force[3 * node + 1] = fy[0];
        force[3 * node + 2] = fz[0];
        n_neigh[node] = alive[0];
        damage[node] = 1.0 - (double)alive[0] / (double)family[node];
    }
}

// kind 0: free; 1: pulled to the left; 2: pulled to the right.
extern "C" __global__ void peri_move(double *__restrict__ disp, double *__restrict__ velocity,
                                     const double *__restrict__ force, const unsigned char *__restrict__ kind,
                                     int nodes, double density, double damping, double pull, double dt) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= 3 * nodes)
        return;
    int node = t / 3, dof = t % 3;
    switch (kind[node]) {
    case 0: {
        double v = velocity[t];
        v += dt * (force[t] - damping * v) / density;
        velocity[t] = v;
        disp[t] += dt * v;
        break;
    }
    case 1:
        if (dof == 0)
            disp[t] -= dt * pull;
        break;
    case 2:
        if (dof == 0)
            disp[t] += dt * pull;
        break;
    }
}
