#include "native.h"

static inline REAL normal(REAL x)
{
    REAL t = (REAL)1 / ((REAL)1 + (REAL)0.2316419 * fabs(x));
    REAL sum = (REAL)-1.821255978 + t * (REAL)1.330274429;
    sum = (REAL)0.31938153 + t * ((REAL)-0.356563782 + t * ((REAL)1.781477937 + t * sum));
    REAL tail = (REAL)0.3989422804014327 * exp((REAL)-0.5 * x * x) * t * sum;
    return x < 0 ? tail : (REAL)1 - tail;
}

void run(const REAL *restrict spot, const REAL *restrict strike, const REAL *restrict years,
         REAL *restrict call, REAL *restrict put, int n, REAL rate, REAL volatility)
{
    for (int i = 0; i < n; i++) {
        REAL s = spot[i], k = strike[i], t = years[i];
        REAL root = volatility * sqrt(t);
        REAL d1 = (log(s / k) + (rate + (REAL)0.5 * volatility * volatility) * t) / root;
        REAL d2 = d1 - root;
        REAL discounted = k * exp(-rate * t);
        REAL n1 = normal(d1), n2 = normal(d2);
        call[i] = s * n1 - discounted * n2;
        put[i] = discounted * ((REAL)1 - n2) - s * ((REAL)1 - n1);
    }
}
