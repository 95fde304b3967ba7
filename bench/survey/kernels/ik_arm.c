#include "native.h"
enum { JOINTS = 6 };

typedef struct {
    float x, y, z;
} Vec3;

typedef struct {
    Vec3 column[4];  // three axes, and where they start
} Frame;

static const struct {
    int axis;
    float length, low, high;
} arm[JOINTS] = {{2, 0.4f, -3.1f, 3.1f}, {1, 0.9f, -2.0f, 2.0f}, {1, 0.7f, -2.5f, 2.5f},
                 {0, 0.2f, -3.0f, 3.0f}, {1, 0.5f, -2.2f, 2.2f}, {2, 0.3f, -1.8f, 1.8f}};

static inline Vec3 sub(Vec3 a, Vec3 b) {
    return (Vec3){a.x - b.x, a.y - b.y, a.z - b.z};
}
static inline float dot(Vec3 a, Vec3 b) {
    return a.x * b.x + a.y * b.y + a.z * b.z;
}
static inline Vec3 cross(Vec3 a, Vec3 b) {
    return (Vec3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
static inline Vec3 mix(float s, Vec3 a, float t, Vec3 b) {
    return (Vec3){s * a.x + t * b.x, s * a.y + t * b.y, s * a.z + t * b.z};
}

// A turn about an axis mixes the two others.
static Vec3 forward(const float *angle, Frame *frames) {
    frames[0] = (Frame){{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {0, 0, 0}}};
    for (int j = 0; j < JOINTS; j++) {
        Frame f = frames[j];
        int a = (arm[j].axis + 1) % 3, b = (arm[j].axis + 2) % 3;
        float c = cosf(angle[j]), s = sinf(angle[j]);
        Vec3 was = f.column[a];
        f.column[a] = mix(c, was, s, f.column[b]);
        f.column[b] = mix(-s, was, c, f.column[b]);
        f.column[3] = mix(1, f.column[3], arm[j].length, f.column[0]);
        frames[j + 1] = f;
    }
    return frames[JOINTS].column[3];
}

void run(const Vec3 *restrict targets, float *restrict angles, float *restrict error, int *restrict sweeps,
         int count, int max_sweeps, float near) {
    for (int id = 0; id < count; id++) {
        Vec3 target = targets[id];
        float *angle = angles + id * JOINTS;
        Frame frames[JOINTS + 1];
        Vec3 hand = forward(angle, frames), miss = sub(target, hand);
        int sweep = 0;
        for (; sweep < max_sweeps && sqrtf(dot(miss, miss)) >= near; sweep++) {
            for (int j = JOINTS - 1; j >= 0; j--) {
                Vec3 pivot = frames[j].column[3], axis = frames[j].column[arm[j].axis];
                Vec3 to_hand = sub(hand, pivot), to_target = sub(target, pivot);
                float along = dot(to_hand, axis);
                Vec3 h = mix(1, to_hand, -along, axis), t = mix(1, to_target, -dot(to_target, axis), axis);
                float turn = atan2f(dot(cross(h, t), axis), dot(h, t));
                float wanted = fminf(fmaxf(angle[j] + 0.8f * turn, arm[j].low), arm[j].high);
                turn = wanted - angle[j];
                angle[j] = wanted;
                float c = cosf(turn), s = sinf(turn);
                Vec3 turned = mix(c, to_hand, s, cross(axis, to_hand));
                hand = mix(1, pivot, 1, mix(1, turned, along * (1 - c), axis));
            }
            hand = forward(angle, frames);
            miss = sub(target, hand);
        }
        error[id] = sqrtf(dot(miss, miss));
        sweeps[id] = sweep;
    }
}
