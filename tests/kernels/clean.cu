// Kernels without a bug, each with a habit that a careless checker would take for one. None may be reported.

// x (64) -> y (1): block reduction, a barrier on both sides of each use of the shared slots
extern "C" __global__ void block_sum_twice(const float* x, float* y)
{
    __shared__ float of_warp[2];
    float sum = x[threadIdx.x];
    for (int turn = 0; turn < 2; ++turn) {
        for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, d);
        __syncthreads();
        if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = sum;
        __syncthreads();
        sum = of_warp[0] + of_warp[1];
    }
    if (threadIdx.x == 0) y[0] = sum;
}

// x (48, 48) -> y (48, 48): x x by tiles of 16
extern "C" __global__ void tiled_product(const float* x, float* y)
{
    __shared__ float a[16][16], b[16][16];
    int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < 48; k += 16) {
        a[threadIdx.y][threadIdx.x] = x[row * 48 + k + threadIdx.x];
        b[threadIdx.y][threadIdx.x] = x[(k + threadIdx.y) * 48 + column];
        __syncthreads();
        for (int i = 0; i < 16; ++i) sum += a[threadIdx.y][i] * b[i][threadIdx.x];
        __syncthreads();
    }
    y[row * 48 + column] = sum;
}

// x (32, 32) -> y (32, 32): its transpose, by way of a padded tile
extern "C" __global__ void transpose(const float* x, float* y)
{
    __shared__ float tile[32][33];
    for (int row = threadIdx.y; row < 32; row += 8) tile[row][threadIdx.x] = x[row * 32 + threadIdx.x];
    __syncthreads();
    for (int row = threadIdx.y; row < 32; row += 8) y[row * 32 + threadIdx.x] = tile[threadIdx.x][row];
}

// x (64) -> y (64): running sums, with two buffers by turns
extern "C" __global__ void scan(const float* x, float* y)
{
    __shared__ float sum[2][64];
    int now = 0;
    sum[now][threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    for (int step = 1; step < 64; step *= 2) {
        float before = threadIdx.x >= step ? sum[now][threadIdx.x - step] : 0;
        sum[1 - now][threadIdx.x] = sum[now][threadIdx.x] + before;
        now = 1 - now;
        __syncthreads();
    }
    y[threadIdx.x] = sum[now][threadIdx.x];
}

// x (32) -> y (32): shared memory inside one warp, ordered by the warp's own barrier
extern "C" __global__ void warp_exchange(const float* x, float* y)
{
    __shared__ float tile[32];
    tile[threadIdx.x] = x[threadIdx.x];
    __syncwarp();
    float other = tile[31 - threadIdx.x];
    __syncwarp();
    tile[threadIdx.x] = 2 * other;
    __syncwarp();
    y[threadIdx.x] = tile[threadIdx.x ^ 1];
}

// x (32) -> y (32): the halves of a warp work apart, each with its own mask
extern "C" __global__ void two_halves(const float* x, float* y)
{
    __shared__ float tile[32];
    unsigned mine = threadIdx.x < 16 ? 0x0000ffffu : 0xffff0000u;
    float sum = x[threadIdx.x];
    if (threadIdx.x < 16) for (int d = 8; d > 0; d /= 2) sum += __shfl_xor_sync(mine, sum, d);
    else for (int d = 8; d > 0; d /= 2) sum = fmaxf(sum, __shfl_xor_sync(mine, sum, d));
    tile[threadIdx.x] = sum;
    __syncwarp(mine);
    y[threadIdx.x] = tile[threadIdx.x ^ 15];
}

// x (20) -> y (1): a block that is no whole warp; lanes that were never launched are not waited for
extern "C" __global__ void short_block(const float* x, float* y)
{
    float sum = x[threadIdx.x];
    for (int d = 16; d > 0; d /= 2) {
        float other = __shfl_down_sync(0xffffffffu, sum, d);
        if (threadIdx.x + d < 20) sum += other;
    }
    if (threadIdx.x == 0) y[0] = sum;
}

// x (5, 32) -> y (5): warps whose row does not exist leave as a whole, and no barrier follows
extern "C" __global__ void rows_by_warp(const float* x, float* y, int rows)
{
    int row = blockIdx.x * blockDim.y + threadIdx.y;
    if (row >= rows) return;
    float sum = x[row * 32 + threadIdx.x];
    for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, d);
    if (threadIdx.x == 0) y[row] = sum;
}

// x (4, 32), part (4), done (1) -> y (1): the last block adds up what the others stored before their fence
extern "C" __global__ void last_block_sums(const float* x, float* part, unsigned* done, float* y)
{
    __shared__ bool last;
    float sum = x[blockIdx.x * 32 + threadIdx.x];
    for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, d);
    if (threadIdx.x == 0) {
        part[blockIdx.x] = sum;
        __threadfence();
        last = atomicAdd(done, 1u) == gridDim.x - 1;
    }
    __syncthreads();
    if (!last) return;
    sum = threadIdx.x < gridDim.x ? part[threadIdx.x] : 0;
    for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, d);
    if (threadIdx.x == 0) y[0] = sum;
}

// digits (256) -> counts (10): a histogram, shared and global atomics
extern "C" __global__ void histogram(const int* digits, int* counts)
{
    __shared__ int mine[10];
    if (threadIdx.x < 10) mine[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&mine[digits[blockIdx.x * blockDim.x + threadIdx.x]], 1);
    __syncthreads();
    if (threadIdx.x < 10) atomicAdd(&counts[threadIdx.x], mine[threadIdx.x]);
}

// bytes (64) -> y (64): neighbours write neighbouring bytes of one word
extern "C" __global__ void neighbouring_bytes(const unsigned char* bytes, unsigned char* y)
{
    __shared__ unsigned char tile[64];
    tile[threadIdx.x] = bytes[threadIdx.x];
    __syncthreads();
    y[threadIdx.x] = tile[63 - threadIdx.x] + 1;
}

// bits (64) -> y (64): and neighbouring float16
extern "C" __global__ void neighbouring_halves(const unsigned short* bits, unsigned short* y)
{
    __shared__ unsigned short tile[64];
    tile[threadIdx.x] = bits[threadIdx.x];
    __syncthreads();
    y[threadIdx.x] = tile[threadIdx.x ^ 1];
}

// x (1000) -> y (1000): packs of four in a loop over the grid, the rest one by one
extern "C" __global__ void grid_stride(const float* x, float* y, int n)
{
    int first = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
    for (int i = first; i < n / 4; i += threads) {
        float4 pack = ((const float4*)x)[i];
        ((float4*)y)[i] = make_float4(2 * pack.x, 2 * pack.y, 2 * pack.z, 2 * pack.w);
    }
    for (int i = n / 4 * 4 + first; i < n; i += threads) y[i] = 2 * x[i];
}

// x (64) -> y (3): the barriers that also count
extern "C" __global__ void counting_barriers(const float* x, float* y)
{
    int count = __syncthreads_count(x[threadIdx.x] > 0);
    int any = __syncthreads_or(x[threadIdx.x] > 2), all = __syncthreads_and(x[threadIdx.x] > -9);
    if (threadIdx.x == 0) { y[0] = count; y[1] = any != 0; y[2] = all != 0; }
}

// x (32) -> y (32): two arrays of different types in the dynamic shared memory
extern "C" __global__ void two_dynamic_arrays(const float* x, float* y)
{
    extern __shared__ __align__(16) unsigned char memory[];
    double* wide = (double*)memory;
    float* narrow = (float*)(wide + blockDim.x);
    wide[threadIdx.x] = x[threadIdx.x];
    narrow[threadIdx.x] = 1;
    __syncthreads();
    y[threadIdx.x] = wide[31 - threadIdx.x] + narrow[threadIdx.x];
}

// y (1): one thread at a time, by a lock
extern "C" __global__ void spin_lock(int* lock, volatile int* y)
{
    bool waiting = true;
    while (waiting) {
        if (atomicCAS(lock, 0, 1) == 0) {
            atomicAdd((int*)y, 1);
            __threadfence();
            atomicExch(lock, 0);
            waiting = false;
        }
    }
}

__device__ float table[4] = {1, 2, 3, 4};
__constant__ float factor = 3;

// x (32) -> y (32): the file's own variables
extern "C" __global__ void own_variables(const float* x, float* y)
{
    y[threadIdx.x] = x[threadIdx.x] * table[threadIdx.x % 4] * factor;
}

template <class T> __device__ T twice(T x) { __shared__ T slot; if (threadIdx.x == 0) slot = 2; __syncthreads(); return slot * x; }

// x (32) -> y (32): shared variables inside a template, one for each type
extern "C" __global__ void template_slots(const float* x, float* y)
{
    float a = twice<float>(x[threadIdx.x]);
    int b = twice<int>(threadIdx.x);
    y[threadIdx.x] = a + b;
}

template <class T> __device__ T* dynamic() { extern __shared__ T memory[]; return memory; }

// x (32) -> y (32): dynamic shared memory inside a template
extern "C" __global__ void dynamic_in_a_template(const float* x, float* y)
{
    dynamic<float>()[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    y[threadIdx.x] = dynamic<float>()[31 - threadIdx.x];
}

template <class T> struct Table { static T entries[4]; };
template <class T> T Table<T>::entries[4] = {1, 2, 3, 4};

// x (32) -> y (32): a static member of a template, and names that the C library has too
extern "C" __global__ void library_names(const float* x, float* y)
{
    int index = threadIdx.x, stdin = 1;
    float remove = __expf(0.0f), y0 = Table<float>::entries[index % 4];
    y[index] = x[index] * y0 * remove * stdin;
}

// values (32) -> y (32): votes and matches
extern "C" __global__ void votes(const int* values, int* y)
{
    int value = values[threadIdx.x];
    unsigned alike = __match_any_sync(0xffffffffu, value);
    int peak = __reduce_max_sync(0xffffffffu, value), sum = __reduce_add_sync(0xffffffffu, value);
    y[threadIdx.x] = __popc(alike) + 100 * peak + 10000 * sum + 1000000 * __all_sync(0xffffffffu, value > -5);
}
