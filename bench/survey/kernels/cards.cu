// Card records: Luhn's check, the issuer by prefix and length, expiry, and a new limit; a thread a record.
struct Card {
    char digits[20];
    short expiry; // year * 12 + month
    bool valid;
    char issuer;
    double limit;
};

__device__ int count_digits(const Card &card) {
    int n = 0;
    while (n < 20 && card.digits[n] >= '0' && card.digits[n] <= '9')
        n++;
    return n;
}

__device__ bool luhn(const Card &card, int n) {
    int sum = 0;
    bool twice = false;
    for (int i = n - 1; i >= 0; i--) {
        int d = card.digits[i] - '0';
        if (twice) {
            d *= 2;
            if (d > 9)
                d -= 9;
        }
        sum += d;
        twice = !twice;
    }
    return sum % 10 == 0;
}

__device__ int prefix(const Card &card, int digits) {
    int value = 0;
    for (int i = 0; i < digits; i++)
        value = value * 10 + card.digits[i] - '0';
    return value;
}

__device__ char find_issuer(const Card &card, int n) {
    if (n < 13)
        return '?';
    int two = prefix(card, 2);
    switch (card.digits[0]) {
    case '3':
        if (n == 15 && (two == 34 || two == 37))
            return 'A';
        if (n == 14 && (two == 36 || two == 38))
            return 'C';
        return n == 16 && two == 35 ? 'J' : '?';
    case '4':
        return n == 13 || n == 16 || n == 19 ? 'V' : '?';
    case '2': {
        int four = prefix(card, 4);
        return n == 16 && four >= 2221 && four <= 2720 ? 'M' : '?';
    }
    case '5':
        return n == 16 && two >= 51 && two <= 55 ? 'M' : '?';
    case '6':
        if (n == 16 && (prefix(card, 4) == 6011 || two == 65))
            return 'D';
        return '?';
    }
    return '?';
}

extern "C" __global__ void cards(Card *list, int n, int today, int *by_issuer, unsigned long long *total) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    Card &card = list[i];
    int digits = count_digits(card);
    card.issuer = find_issuer(card, digits);
    card.valid = card.issuer != '?' && luhn(card, digits) && card.expiry >= today;
    if (!card.valid) {
        card.limit = 0;
        return;
    }
    switch (card.issuer) {
    case 'A':
        card.limit *= 1.5;
        break;
    case 'V':
    case 'M':
        card.limit += 250.25;
        break;
    default:
        if (card.limit > 4000)
            card.limit = 4000;
    }
    atomicAdd(&by_issuer[card.issuer - 'A'], 1);
    atomicAdd(total, (unsigned long long)(card.limit * 100));
}
