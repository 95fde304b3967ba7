// Gray-Scott reaction and diffusion on a periodic grid: a step for each launch, after which the fields are exchanged.
extern "C" __global__ void gray_scott(const float *u, const float *v, float *u_next, float *v_next, int width,
                                      int height, float du, float dv, float feed, float kill, float dt) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    int left = (x - 1 + width) % width, right = (x + 1) % width;
    int up = (y - 1 + height) % height, down = (y + 1) % height;
    int i = y * width + x;

    float uc = u[i], vc = v[i];
    float lap_u = u[y * width + left] + u[y * width + right] + u[up * width + x] + u[down * width + x] - 4.0f * uc;
    float lap_v = v[y * width + left] + v[y * width + right] + v[up * width + x] + v[down * width + x] - 4.0f * vc;
    float reaction = uc * vc * vc;
    u_next[i] = uc + dt * (du * lap_u - reaction + feed * (1.0f - uc));
    v_next[i] = vc + dt * (dv * lap_v + reaction - (feed + kill) * vc);
}
