// Indicators of stocks: Bollinger bands of 20 days (a thread for each stock and day), then a thread a stock for
// RSI and MACD, and what they say: buy, sell or nothing.
#define WINDOW 20

extern "C" __global__ void bollinger(float *price, float *upper, float *lower, int stocks, int days) {
    int day = blockIdx.x * blockDim.x + threadIdx.x;
    int stock = blockIdx.y;
    if (day >= days)
        return;
    float *p = price + stock * days;
    if (day < WINDOW - 1) {
        upper[stock * days + day] = 0;
        lower[stock * days + day] = 0;
        return;
    }
    double mean = 0, variance = 0;
    for (int k = 0; k < WINDOW; k++)
        mean += p[day - k];
    mean /= WINDOW;
    for (int k = 0; k < WINDOW; k++)
        variance += pow(p[day - k] - mean, 2);
    double deviation = sqrt(variance / WINDOW);
    upper[stock * days + day] = mean + 2 * deviation;
    lower[stock * days + day] = mean - 2 * deviation;
}

extern "C" __global__ void rsi_macd(float *price, float *upper, float *lower, float *rsi, float *macd,
                                    signed char *advice, int stocks, int days, int period) {
    int stock = blockIdx.x * blockDim.x + threadIdx.x;
    if (stock < stocks) {
        float *p = price + stock * days;
        float gain = 0, loss = 0;
        float fast = p[0], slow = p[0], signal = 0;
        rsi[stock * days] = 50;
        macd[stock * days] = 0;
        advice[stock * days] = 0;
        for (int d = 1; d < days; d++) {
            float change = p[d] - p[d - 1];
            float up = change > 0 ? change : 0;
            float down = change < 0 ? -change : 0;
            if (d <= period) {
                gain += up / period;
                loss += down / period;
            } else {
                gain = (gain * (period - 1) + up) / period;
                loss = (loss * (period - 1) + down) / period;
            }
            float r = 50;
            if (d >= period)
                r = loss == 0 ? 100 : 100 - 100 / (1 + gain / loss);
            fast += (p[d] - fast) * 2.0 / 13;
            slow += (p[d] - slow) * 2.0 / 27;
            float m = fast - slow;
            signal += (m - signal) * 0.2;
            rsi[stock * days + d] = r;
            macd[stock * days + d] = m - signal;
            if (d >= WINDOW && r < 40 && p[d] < lower[stock * days + d])
                advice[stock * days + d] = 1;
            else if (d >= WINDOW && r > 60 && p[d] > upper[stock * days + d])
                advice[stock * days + d] = -1;
            else
                advice[stock * days + d] = 0;
        }
    }
}
