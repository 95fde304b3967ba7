#include "native.h"
enum { TAPE = 256, MAX_DEPTH = 32 };

void run(const char *restrict programs, short *restrict jump, const uchar *restrict inputs, uchar *restrict out,
         int *restrict out_length, int *restrict steps_taken, int pitch, int num_programs, int in_pitch,
         int num_inputs, int out_pitch, int max_steps) {
    for (int p = 0; p < num_programs; p++) {
        const char *code = programs + p * pitch;
        short *to = jump + p * pitch;
        int stack[MAX_DEPTH], top = 0;
        for (int i = 0; i < pitch && code[i]; i++)
            if (code[i] == '[')
                stack[top++] = i;
            else if (code[i] == ']') {
                int open = stack[--top];
                to[open] = i, to[i] = open;
            }
        for (int which = 0; which < num_inputs; which++) {
            int t = p * num_inputs + which, read = 0, written = 0, steps = 0;
            const uchar *in = inputs + which * in_pitch;
            uchar *o = out + (long)t * out_pitch, tape[TAPE] = {0}, pointer = 0;  // which wraps round by itself
            for (int pc = 0; steps < max_steps; pc++) {
                char c = code[pc];
                steps++;
                if (!c)
                    break;
                switch (c) {
                case '>': pointer++; break;
                case '<': pointer--; break;
                case '+': tape[pointer]++; break;
                case '-': tape[pointer]--; break;
                case '.':
                    if (written < out_pitch)
                        o[written++] = tape[pointer];
                    break;
                case ',': tape[pointer] = read < in_pitch ? in[read++] : 0; break;
                case '[':
                    if (!tape[pointer])
                        pc = to[pc];
                    break;
                case ']':
                    if (tape[pointer])
                        pc = to[pc];
                    break;
                }
            }
            out_length[t] = written;
            steps_taken[t] = steps;
        }
    }
}
