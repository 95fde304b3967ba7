#include "native.h"

// Lane loops that gcc turns into libmvec calls of a whole register.
static inline vec each_exp(vec x)
{
    REAL lanes[LANES] __attribute__((aligned(64)));
    memcpy(lanes, &x, sizeof x);
#pragma omp simd
    for (int l = 0; l < LANES; l++)
        lanes[l] = exp(lanes[l]);
    memcpy(&x, lanes, sizeof x);
    return x;
}

static inline vec each_log(vec x)
{
    REAL lanes[LANES] __attribute__((aligned(64)));
    memcpy(lanes, &x, sizeof x);
#pragma omp simd
    for (int l = 0; l < LANES; l++)
        lanes[l] = log(lanes[l]);
    memcpy(&x, lanes, sizeof x);
    return x;
}

static inline vec each_sqrt(vec x)
{
    for (int l = 0; l < LANES; l++)
        x[l] = sqrt(x[l]);
    return x;
}

static inline vec normal(vec x)
{
    vec t = (REAL)1 / ((REAL)1 + (REAL)0.2316419 * SELECT(x < 0, -x, x));
    vec sum = (REAL)-1.821255978 + t * (REAL)1.330274429;
    sum = (REAL)0.31938153 + t * ((REAL)-0.356563782 + t * ((REAL)1.781477937 + t * sum));
    vec tail = (REAL)0.3989422804014327 * each_exp((REAL)-0.5 * x * x) * t * sum;
    return SELECT(x < 0, tail, (REAL)1 - tail);
}

void run(const REAL *restrict spot, const REAL *restrict strike, const REAL *restrict years,
         REAL *restrict call, REAL *restrict put, int n, REAL rate, REAL volatility)
{
    for (int i = 0; i + LANES <= n; i += LANES) {
        vec s = LOAD(spot + i), k = LOAD(strike + i), t = LOAD(years + i);
        vec root = volatility * each_sqrt(t);
        vec d1 = (each_log(s / k) + (rate + (REAL)0.5 * volatility * volatility) * t) / root;
        vec d2 = d1 - root;
        vec discounted = k * each_exp(-rate * t);
        vec n1 = normal(d1), n2 = normal(d2);
        STORE(call + i, s * n1 - discounted * n2);
        STORE(put + i, discounted * ((REAL)1 - n2) - s * ((REAL)1 - n1));
    }
}
