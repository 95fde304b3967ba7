// European call and put prices. The normal distribution by a fifth-degree polynomial in 1 / (1 + c |x|).
#include "dialect.h"

DEVICE REAL normal(REAL x)
{
    REAL size = x < 0 ? -x : x;
    REAL t = (REAL)1 / ((REAL)1 + (REAL)0.2316419 * size);
    REAL sum = (REAL)-1.821255978 + t * (REAL)1.330274429;
    sum = (REAL)0.31938153 + t * ((REAL)-0.356563782 + t * ((REAL)1.781477937 + t * sum));
    REAL tail = (REAL)0.3989422804014327 * exp((REAL)-0.5 * x * x) * t * sum;
    return x < 0 ? tail : (REAL)1 - tail;
}

KERNEL void black_scholes(GLOBAL const REAL *spot, GLOBAL const REAL *strike, GLOBAL const REAL *years,
                          GLOBAL REAL *call, GLOBAL REAL *put, int n, REAL rate, REAL volatility)
{
    int i = INDEX_X;
    if (i >= n)
        return;
    REAL s = spot[i], k = strike[i], t = years[i];
    REAL root = volatility * sqrt(t);
    REAL d1 = (log(s / k) + (rate + (REAL)0.5 * volatility * volatility) * t) / root;
    REAL d2 = d1 - root;
    REAL discounted = k * exp(-rate * t);
    REAL n1 = normal(d1), n2 = normal(d2);
    call[i] = s * n1 - discounted * n2;
    put[i] = discounted * ((REAL)1 - n2) - s * ((REAL)1 - n1);
}
