// JSON numbers in fields of 24 bytes: a state machine says whether a field is one and what it is worth.
#define FIELD 24

enum State { START, MINUS, ZERO, WHOLE, POINT, FRACTION, EXP, EXP_SIGN, EXP_DIGITS, ERROR };
enum Status { OK = 0, EMPTY = 1, SYNTAX = 2, TOO_LONG = 3 };

struct Number {
    double value;
    int digits;
    char status;
    bool integer;
};

extern "C" __global__ void jsonnum(const char *text, Number *numbers, int *errors, int n) {
    int tid = threadIdx.x + blockIdx.x * blockDim.x;
    if (tid < n) {
        const char *p = text + (size_t)tid * FIELD;
        State state = START;
        bool negative = false, exp_negative = false;
        unsigned long long mantissa = 0;
        int scale = 0, exponent = 0, digits = 0, pos = 0;
        while (pos < FIELD && p[pos] == ' ')
            pos++;
        do {
            char c = p[pos];
            if (c == 0 || c == ' ')
                break;
            bool digit = c >= '0' && c <= '9';
            switch (state) {
            case START:
                if (c == '-') {
                    negative = true;
                    state = MINUS;
                    break;
                }
                // fall through
            case MINUS:
                if (!digit)
                    state = ERROR;
                else {
                    state = c == '0' ? ZERO : WHOLE;
                    mantissa = c - '0';
                    digits = 1;
                }
                break;
            case ZERO:
                state = c == '.' ? POINT : (c == 'e' || c == 'E') ? EXP : ERROR;
                break;
            case WHOLE:
                if (digit) {
                    mantissa = mantissa * 10 + (c - '0');
                    digits++;
                } else if (c == '.')
                    state = POINT;
                else if (c == 'e' || c == 'E')
                    state = EXP;
                else
                    state = ERROR;
                break;
            case POINT:
            case FRACTION:
                if (digit) {
                    mantissa = mantissa * 10 + (c - '0');
                    digits++;
                    scale--;
                    state = FRACTION;
                } else if (state == FRACTION && (c == 'e' || c == 'E'))
                    state = EXP;
                else
                    state = ERROR;
                break;
            case EXP:
                if (c == '+' || c == '-') {
                    exp_negative = c == '-';
                    state = EXP_SIGN;
                    break;
                }
                // fall through
            case EXP_SIGN:
            case EXP_DIGITS:
                if (digit) {
                    exponent = exponent * 10 + (c - '0');
                    state = EXP_DIGITS;
                } else
                    state = ERROR;
                break;
            default:
                break;
            }
            if (state == ERROR)
                break;
            pos++;
        } while (pos < FIELD);

        Number r;
        r.value = 0.0;
        r.digits = digits;
        r.integer = state == ZERO || state == WHOLE;
        if (state == START)
            r.status = EMPTY;
        else if (state == ZERO || state == WHOLE || state == FRACTION || state == EXP_DIGITS)
            r.status = digits > 18 ? TOO_LONG : OK;
        else
            r.status = SYNTAX;
        if (r.status == OK) {
            double v = (double)mantissa;
            int e = (exp_negative ? -exponent : exponent) + scale;
            if (e > 30)
                e = 30;
            if (e < -30)
                e = -30;
            while (e > 0) {
                v *= 10.0;
                e--;
            }
            while (e < 0) {
                v /= 10.0;
                e++;
            }
            r.value = negative ? -v : v;
        } else
            atomicAdd(&errors[r.status], 1);
        numbers[tid].value = r.value;
        numbers[tid].digits = r.digits;
        numbers[tid].status = r.status;
        numbers[tid].integer = r.integer;
    }
}
