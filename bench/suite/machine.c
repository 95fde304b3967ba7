// What a machine gives: loops that do next to nothing but load and store, and one that only multiplies and adds.
// `suite/machine.py` runs them on several threads, each on a part of the arrays.

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

float arithmetic(const float *x, long n)
{
    float value[256];
    for (int k = 0; k < 256; k++)
        value[k] = x[k];
    for (long i = 0; i < n; i++)
        for (int k = 0; k < 256; k++)
            value[k] = value[k] * 0.5f + 1.0f;
    float all = 0;
    for (int k = 0; k < 256; k++)
        all += value[k];
    return all;
}
