// A calculator: each thread evaluates the expression in its line of text with two stacks (Dijkstra's shunting
// yard): + - * / ^, parentheses, signs and a variable.
template <typename T, int N> class Stack {
    T items[N];
    int top;

public:
    __device__ Stack() : top(0) {}
    __device__ bool push(T value) {
        if (top == N)
            return false;
        items[top++] = value;
        return true;
    }
    __device__ T pop() { return items[--top]; }
    __device__ T peek() const { return items[top - 1]; }
    __device__ bool empty() const { return top == 0; }
    __device__ int size() const { return top; }
};

enum Error { OK = 0, SYNTAX = 1, ZERO_DIVISION = 2 };

__device__ int precedence(char op) {
    switch (op) {
    case '+':
    case '-':
        return 1;
    case '*':
    case '/':
        return 2;
    case '~':
        return 3;
    case '^':
        return 4;
    default:
        return 0;
    }
}

__device__ bool isDigit(char c) {
    return c >= '0' && c <= '9';
}

__device__ Error apply(Stack<double, 32> &values, char op) {
    if (op == '~') {
        if (values.empty())
            return SYNTAX;
        values.push(-values.pop());
        return OK;
    }
    if (values.size() < 2)
        return SYNTAX;
    double b = values.pop();
    double a = values.pop();
    switch (op) {
    case '+':
        values.push(a + b);
        break;
    case '-':
        values.push(a - b);
        break;
    case '*':
        values.push(a * b);
        break;
    case '/':
        if (b == 0.0)
            return ZERO_DIVISION;
        values.push(a / b);
        break;
    case '^':
        values.push(pow(a, b));
        break;
    default:
        return SYNTAX;
    }
    return OK;
}

__device__ Error evaluate(const char *s, double x, double *result) {
    Stack<double, 32> values;
    Stack<char, 32> ops;
    bool operand = true; // what is expected next
    Error error = OK;
    while (*s != '\0') {
        char c = *s;
        if (c == ' ') {
            s++;
        } else if (isDigit(c)) {
            double number = 0;
            while (isDigit(*s))
                number = number * 10 + (*s++ - '0');
            if (*s == '.') {
                s++;
                double scale = 0.1;
                while (isDigit(*s)) {
                    number += (*s++ - '0') * scale;
                    scale /= 10;
                }
            }
            values.push(number);
            operand = false;
        } else if (c == 'x') {
            values.push(x);
            operand = false;
            s++;
        } else if (c == '(') {
            ops.push(c);
            operand = true;
            s++;
        } else if (c == ')') {
            while (!ops.empty() && ops.peek() != '(')
                if ((error = apply(values, ops.pop())) != OK)
                    return error;
            if (ops.empty())
                return SYNTAX;
            ops.pop();
            operand = false;
            s++;
        } else if (c == '-' && operand) {
            ops.push('~');
            s++;
        } else if (precedence(c) > 0) {
            while (!ops.empty() && (precedence(ops.peek()) > precedence(c) ||
                                    (precedence(ops.peek()) == precedence(c) && c != '^')))
                if ((error = apply(values, ops.pop())) != OK)
                    return error;
            ops.push(c);
            operand = true;
            s++;
        } else {
            return SYNTAX;
        }
    }
    while (!ops.empty())
        if ((error = apply(values, ops.pop())) != OK)
            return error;
    if (values.size() != 1)
        return SYNTAX;
    *result = values.pop();
    return OK;
}

extern "C" __global__ void infix(const char *lines, int pitch, const float *x, double *results, int *errors,
                                 int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        double value = 0.0;
        errors[i] = evaluate(lines + (size_t)i * pitch, x[i], &value);
        results[i] = value;
    }
}
