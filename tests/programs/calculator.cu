// A recursive-descent calculator: functions that call one another in a circle, a structure by value and by
// reference, and a table of functions that the host may read and the device changes.
struct Text {
    const char *at, *end;
};

typedef int (*Operation)(int, int);

__device__ __noinline__ int plus(int a, int b) { return a + b; }
__device__ __noinline__ int minus(int a, int b) { return a - b; }
__device__ __noinline__ int times(int a, int b) { return a * b; }
__device__ __noinline__ int over(int a, int b) { return b == 0 ? 0 : a / b; }

struct Entry {
    char symbol, level;
    Operation apply;
};

__device__ Entry table[4] = {{'+', 0, plus}, {'-', 0, minus}, {'*', 1, times}, {'/', 1, over}};
__constant__ Operation swapped[2] = {minus, plus};

__device__ int expression(Text &text, int level);

__device__ __noinline__ int atom(Text &text)
{
    if (text.at < text.end && *text.at == '-') {
        text.at++;
        return -atom(text);
    }
    if (text.at < text.end && *text.at == '(') {
        text.at++;
        int value = expression(text, 0);
        text.at++;
        return value;
    }
    int value = 0;
    while (text.at < text.end && *text.at >= '0' && *text.at <= '9') value = value * 10 + (*text.at++ - '0');
    return value;
}

__device__ __noinline__ const Entry *operation(Text text, int level)
{
    for (int i = 0; text.at < text.end && i < 4; i++)
        if (table[i].symbol == *text.at && table[i].level == level) return &table[i];
    return nullptr;
}

__device__ __noinline__ int expression(Text &text, int level)
{
    int value = level == 1 ? atom(text) : expression(text, 1);
    while (const Entry *found = operation(text, level)) {
        text.at++;
        int right = level == 1 ? atom(text) : expression(text, 1);
        value = found->apply(value, right);
    }
    return value;
}

extern "C" __global__ void evaluate(const char *text, const int *begin, int *values, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    Text mine = {text + begin[i], text + begin[i + 1]};
    values[i] = expression(mine, 0);
}

extern "C" __global__ void swap_signs()
{
    if (threadIdx.x < 2) table[threadIdx.x].apply = swapped[threadIdx.x];
}
