// Factorials of a list of numbers as decimal text: each thread multiplies its own array of digits, a byte each.
__device__ int multiply(signed char *digits, int length, int factor) {
    int carry = 0;
    for (int i = 0; i < length; i++) {
        int t = digits[i] * factor + carry;
        digits[i] = t % 10;
        carry = t / 10;
    }
    while (carry > 0) {
        digits[length++] = carry % 10;
        carry /= 10;
    }
    return length;
}

extern "C" __global__ void factorials(int *numbers, signed char *digits, int *lengths, int n, int max_digits) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        signed char *mine = digits + i * max_digits;
        int length = 1;
        mine[0] = 1;
        for (int k = 2; k <= numbers[i]; k++)
            length = multiply(mine, length, k);
        for (int a = 0, b = length - 1; a < b; a++, b--) {
            signed char t = mine[a];
            mine[a] = mine[b];
            mine[b] = t;
        }
        for (int a = 0; a < length; a++)
            mine[a] += '0';
        lengths[i] = length;
    }
}
