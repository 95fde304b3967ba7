// A stack machine in each thread: programs in constant memory, evaluated for each row of a table.
enum Op { PUSH, LOAD, ADD, SUB, MUL, DIV, NEG, SQRT, MAX, LESS, DUP, SWAP, JUMP_IF_ZERO, JUMP, END };

struct Instruction {
    int op;
    float arg;
};

#define STACK 16

// two expressions one after the other
__constant__ Instruction program[] = {
    // 0: sqrt(c0 * c0 + c1 * c1) / (c2 + 1) if c3 < 0.6, else max(c4 - c5, 0.25) * 3
    {LOAD, 3}, {PUSH, 0.6f}, {LESS, 0}, {JUMP_IF_ZERO, 15}, {LOAD, 0}, {DUP, 0}, {MUL, 0}, {LOAD, 1}, {DUP, 0},
    {MUL, 0}, {ADD, 0}, {SQRT, 0}, {LOAD, 2}, {PUSH, 1.0f}, {JUMP, 22},
    {LOAD, 4}, {LOAD, 5}, {SUB, 0}, {PUSH, 0.25f}, {MAX, 0}, {PUSH, 3.0f}, {JUMP, 25},
    {ADD, 0}, {DIV, 0}, {END, 0}, {MUL, 0}, {END, 0},
    // 27: y = c0 + 1, doubled until it is not less than 8 + c1, and then -(c6 - y)
    {LOAD, 0}, {PUSH, 1.0f}, {ADD, 0},
    {DUP, 0}, {LOAD, 1}, {PUSH, 8.0f}, {ADD, 0}, {LESS, 0}, {JUMP_IF_ZERO, 39},
    {DUP, 0}, {ADD, 0}, {JUMP, 30},
    {LOAD, 6}, {SWAP, 0}, {SUB, 0}, {NEG, 0}, {END, 0},
};

extern "C" __global__ void stack_vm(const float *__restrict__ table, float *result, int rows, int columns, int start) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;
    const float *data = table + row * columns;
    float stack[STACK];
    int sp = 0, pc = start;
    bool running = true;
    while (running) {
        Instruction in = program[pc++];
        switch (in.op) {
        case PUSH:
            stack[sp++] = in.arg;
            break;
        case LOAD:
            stack[sp++] = data[(int)in.arg];
            break;
        case ADD:
            sp--;
            stack[sp - 1] += stack[sp];
            break;
        case SUB:
            sp--;
            stack[sp - 1] -= stack[sp];
            break;
        case MUL:
            sp--;
            stack[sp - 1] *= stack[sp];
            break;
        case DIV:
            sp--;
            stack[sp - 1] /= stack[sp];
            break;
        case NEG:
            stack[sp - 1] = -stack[sp - 1];
            break;
        case SQRT:
            stack[sp - 1] = sqrtf(stack[sp - 1]);
            break;
        case MAX:
            sp--;
            stack[sp - 1] = fmaxf(stack[sp - 1], stack[sp]);
            break;
        case LESS:
            sp--;
            stack[sp - 1] = stack[sp - 1] < stack[sp] ? 1.0f : 0.0f;
            break;
        case DUP:
            stack[sp] = stack[sp - 1];
            sp++;
            break;
        case SWAP: {
            float t = stack[sp - 1];
            stack[sp - 1] = stack[sp - 2];
            stack[sp - 2] = t;
            break;
        }
        case JUMP_IF_ZERO:
            if (stack[--sp] == 0.0f)
                pc = (int)in.arg;
            break;
        case JUMP:
            pc = (int)in.arg;
            break;
        default:
            running = false;
        }
    }
    result[row] = stack[sp - 1];
}
