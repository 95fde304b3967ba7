// A machine of eight registers whose instructions are functions in a table: a thread runs the program with numbers of
// its own, for at most some steps.
struct Instruction {
    unsigned char op, a, b, c;
    int immediate;
};

struct Vm {
    long long reg[8];
    int memory[16];
    int pc;
    bool halted;
    int flags;
};

typedef void (*Operation)(Vm &, const Instruction &);

__device__ void op_halt(Vm &vm, const Instruction &) {
    vm.halted = true;
}
__device__ void op_set(Vm &vm, const Instruction &i) {
    vm.reg[i.a] = i.immediate;
}
__device__ void op_add(Vm &vm, const Instruction &i) {
    vm.reg[i.a] = vm.reg[i.b] + vm.reg[i.c];
}
__device__ void op_sub(Vm &vm, const Instruction &i) {
    vm.reg[i.a] = vm.reg[i.b] - vm.reg[i.c];
}
__device__ void op_mul(Vm &vm, const Instruction &i) {
    vm.reg[i.a] = vm.reg[i.b] * vm.reg[i.c];
}
__device__ void op_mod(Vm &vm, const Instruction &i) {
    if (vm.reg[i.c] == 0) {
        vm.flags |= 1;
        vm.halted = true;
        return;
    }
    vm.reg[i.a] = vm.reg[i.b] % vm.reg[i.c];
}
__device__ void op_load(Vm &vm, const Instruction &i) {
    vm.reg[i.a] = vm.memory[vm.reg[i.b] & 15];
}
__device__ void op_store(Vm &vm, const Instruction &i) {
    vm.memory[vm.reg[i.b] & 15] = (int)vm.reg[i.a];
}
__device__ void op_jump_less(Vm &vm, const Instruction &i) {
    if (vm.reg[i.a] < vm.reg[i.b])
        vm.pc = i.immediate;
}
__device__ void op_jump_zero(Vm &vm, const Instruction &i) {
    if (vm.reg[i.a] == 0)
        vm.pc = i.immediate;
}

__device__ Operation table[10] = {op_halt, op_set, op_add,  op_sub,   op_mul,
                                  op_mod,  op_load, op_store, op_jump_less, op_jump_zero};

extern "C" __global__ void regvm(const Instruction *program, const int *inputs, long long *results, int *steps,
                                 int n, int limit) {
    int id = blockIdx.x * blockDim.x + threadIdx.x;
    if (id >= n)
        return;
    Vm vm;
    for (int k = 0; k < 8; k++)
        vm.reg[k] = 0;
    for (int k = 0; k < 16; k++)
        vm.memory[k] = 0;
    vm.reg[0] = inputs[2 * id];
    vm.reg[1] = inputs[2 * id + 1];
    vm.pc = 0;
    vm.halted = false;
    vm.flags = 0;
    int count = 0;
    while (!vm.halted && count < limit) {
        Instruction i = program[vm.pc++];
        table[i.op](vm, i);
        count++;
    }
    results[id] = vm.flags ? -1 : vm.reg[7];
    steps[id] = count;
}
