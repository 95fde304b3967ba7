// What memory allows: loops that do next to nothing but load and store. `bench/cores.py` runs them on parts of arrays.

float sum(const float *x, long n)
{
    float part[64] = {0};
    for (long i = 0; i < n; i += 64)
        for (int k = 0; k < 64; k++)
            part[k] += x[i + k];
    float all = 0;
    for (int k = 0; k < 64; k++)
        all += part[k];
    return all;
}

void copy(const float *restrict x, float *restrict y, long n)
{
    for (long i = 0; i < n; i++)
        y[i] = x[i] + 1; // not a call of memcpy
}

void saxpy(const float *restrict x, float *restrict y, long n)
{
    for (long i = 0; i < n; i++)
        y[i] = 1.5f * x[i] + y[i];
}
