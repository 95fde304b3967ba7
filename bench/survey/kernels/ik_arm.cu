// Inverse kinematics of a robot's arm: a thread a target turns one joint after the other, from the hand to the foot,
// so that the hand points there (cyclic coordinate descent), with matrices of 4 x 4 on its stack.
#define JOINTS 6

struct Vec3 {
    float x, y, z;
};

__device__ inline Vec3 operator-(const Vec3 &a, const Vec3 &b) {
    return {a.x - b.x, a.y - b.y, a.z - b.z};
}
__device__ inline float dot(const Vec3 &a, const Vec3 &b) {
    return a.x * b.x + a.y * b.y + a.z * b.z;
}
__device__ inline Vec3 cross(const Vec3 &a, const Vec3 &b) {
    return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

struct Matrix4 {
    float m[4][4];

    __device__ static Matrix4 identity() {
        Matrix4 r;
        for (int i = 0; i < 4; i++)
            for (int j = 0; j < 4; j++)
                r.m[i][j] = i == j ? 1.0f : 0.0f;
        return r;
    }
    __device__ static Matrix4 rotation(int axis, float angle) {
        Matrix4 r = identity();
        int a = (axis + 1) % 3, b = (axis + 2) % 3;
        r.m[a][a] = r.m[b][b] = cosf(angle);
        r.m[b][a] = sinf(angle);
        r.m[a][b] = -sinf(angle);
        return r;
    }
    __device__ static Matrix4 translation(float x, float y, float z) {
        Matrix4 r = identity();
        r.m[0][3] = x;
        r.m[1][3] = y;
        r.m[2][3] = z;
        return r;
    }
    __device__ Matrix4 operator*(const Matrix4 &o) const {
        Matrix4 r;
        for (int i = 0; i < 4; i++)
            for (int j = 0; j < 4; j++) {
                r.m[i][j] = 0;
                for (int k = 0; k < 4; k++)
                    r.m[i][j] += m[i][k] * o.m[k][j];
            }
        return r;
    }
    __device__ Vec3 column(int j) const { return {m[0][j], m[1][j], m[2][j]}; }
};

struct Joint {
    int axis;
    float length; // of the bone after it, along x
    float low, high;
};

__constant__ Joint arm[JOINTS] = {{2, 0.4f, -3.1f, 3.1f},  {1, 0.9f, -2.0f, 2.0f}, {1, 0.7f, -2.5f, 2.5f},
                                  {0, 0.2f, -3.0f, 3.0f}, {1, 0.5f, -2.2f, 2.2f}, {2, 0.3f, -1.8f, 1.8f}};

__device__ Vec3 forward_kinematics(const float *angle, Matrix4 *frames) {
    frames[0] = Matrix4::identity();
    for (int j = 0; j < JOINTS; j++)
        frames[j + 1] = frames[j] * Matrix4::rotation(arm[j].axis, angle[j]) *
                        Matrix4::translation(arm[j].length, 0, 0);
    return frames[JOINTS].column(3);
}

extern "C" __global__ void ik_arm(const Vec3 *targets, float *angles, float *error, int *sweeps, int count,
                                  int max_sweeps, float near) {
    int id = blockIdx.x * blockDim.x + threadIdx.x;
    if (id >= count)
        return;
    Vec3 target = targets[id];
    float angle[JOINTS];
    for (int j = 0; j < JOINTS; j++)
        angle[j] = angles[id * JOINTS + j];
    Matrix4 frames[JOINTS + 1];
    Vec3 hand = forward_kinematics(angle, frames);
    int sweep = 0;
    while (sweep < max_sweeps) {
        Vec3 miss = target - hand;
        if (sqrtf(dot(miss, miss)) < near)
            break;
        for (int j = JOINTS - 1; j >= 0; j--) {
            Vec3 pivot = frames[j].column(3), axis = frames[j].column(arm[j].axis);
            Vec3 to_hand = hand - pivot, to_target = target - pivot;
            float along = dot(to_hand, axis);
            Vec3 h = {to_hand.x - along * axis.x, to_hand.y - along * axis.y, to_hand.z - along * axis.z};
            along = dot(to_target, axis);
            Vec3 t = {to_target.x - along * axis.x, to_target.y - along * axis.y, to_target.z - along * axis.z};
            float turn = atan2f(dot(cross(h, t), axis), dot(h, t));
            float wanted = fminf(fmaxf(angle[j] + 0.8f * turn, arm[j].low), arm[j].high);
            turn = wanted - angle[j];
            angle[j] = wanted;
            // Rodrigues' formula
            float c = cosf(turn), s = sinf(turn);
            Vec3 across = cross(axis, to_hand);
            float rest = dot(axis, to_hand) * (1.0f - c);
            hand.x = pivot.x + c * to_hand.x + s * across.x + rest * axis.x;
            hand.y = pivot.y + c * to_hand.y + s * across.y + rest * axis.y;
            hand.z = pivot.z + c * to_hand.z + s * across.z + rest * axis.z;
        }
        hand = forward_kinematics(angle, frames);
        sweep++;
    }
    for (int j = 0; j < JOINTS; j++)
        angles[id * JOINTS + j] = angle[j];
    Vec3 miss = target - hand;
    error[id] = sqrtf(dot(miss, miss));
    sweeps[id] = sweep;
}
