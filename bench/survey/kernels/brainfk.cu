// Interpreter of an esoteric language of eight instructions: brackets are matched by a thread a program, then each
// program is run on each input by a thread with a tape of its own, for a limited number of steps.
#define TAPE 256
#define MAX_DEPTH 32

extern "C" __global__ void match_brackets(const char *programs, short *jump, int pitch, int num_programs) {
    int p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= num_programs)
        return;
    const char *code = programs + p * pitch;
    short *to = jump + p * pitch;
    int stack[MAX_DEPTH];
    int top = 0;
    for (int i = 0; i < pitch && code[i] != '\0'; i++) {
        if (code[i] == '[') {
            stack[top++] = i;
        } else if (code[i] == ']') {
            int open = stack[--top];
            to[open] = i;
            to[i] = open;
        }
    }
}

extern "C" __global__ void brainfk(const char *programs, const short *jump, int pitch, int num_programs,
                                   const unsigned char *inputs, int in_pitch, int num_inputs, unsigned char *out,
                                   int *out_length, int *steps_taken, int out_pitch, int max_steps) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= num_programs * num_inputs)
        return;
    int p = t / num_inputs, which = t % num_inputs;
    const char *code = programs + p * pitch;
    const unsigned char *in = inputs + which * in_pitch;
    unsigned char tape[TAPE];
    for (int i = 0; i < TAPE; i++)
        tape[i] = 0;
    int pc = 0, pointer = 0, read = 0, written = 0, steps = 0;
    bool running = true;
    while (running && steps < max_steps) {
        switch (code[pc]) {
        case '>':
            pointer = (pointer + 1) % TAPE;
            break;
        case '<':
            pointer = (pointer + TAPE - 1) % TAPE;
            break;
        case '+':
            tape[pointer]++;
            break;
        case '-':
            tape[pointer]--;
            break;
        case '.':
            if (written < out_pitch)
                out[t * out_pitch + written++] = tape[pointer];
            break;
        case ',':
            tape[pointer] = read < in_pitch ? in[read++] : 0;
            break;
        case '[':
            if (tape[pointer] == 0)
                pc = jump[p * pitch + pc];
            break;
        case ']':
            if (tape[pointer] != 0)
                pc = jump[p * pitch + pc];
            break;
        case '\0':
            running = false;
            break;
        }
        pc++;
        steps++;
    }
    out_length[t] = written;
    steps_taken[t] = steps;
}
