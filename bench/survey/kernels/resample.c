#include "native.h"

typedef struct {
    double x, y;
    float heading, speed;
    int ancestor, age;
} Particle;

void run(const Particle *restrict from, Particle *restrict to, const double *restrict cumulative,
         const double *restrict draw, int n) {
    for (int i = 0; i < n; i++) {
        double u = draw[i] * cumulative[n - 1];
        int at = 0;
        while (at < n - 1 && cumulative[at] < u)
            at++;
        to[i] = from[at];
        to[i].ancestor = at;
        to[i].age++;
    }
}
