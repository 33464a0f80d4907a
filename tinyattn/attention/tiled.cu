// Attention without the table of scores (FlashAttention, Dao et al., arXiv:2205.14135): a block of threads holds some
// queries and lets the keys and values go by, 32 at a time, in shared memory. Forward keeps each row's peak and sum up
// to date (Milakov and Gimelshein, arXiv:1805.02867); backward makes the weights again from both. Two kernels do that:
// one holds queries and sums up their gradients, one holds keys. That is two products more than if the first added to
// the gradients of the keys as well, but nobody waits for anybody, and the result is the same in every run.
//
// Shapes, where one table of keys serves tables_a_key tables of queries: query (tables, L, E), output (tables, L, Ev),
// peaks and inverses (tables, L), key (tables / tables_a_key, S, E), value (tables / tables_a_key, S, Ev). E and Ev are
// at most WIDTH. Query i sees the keys i + low to i + high; tiles that nobody sees are not visited. Launched with
// blocks of 128 threads, a grid of (tables, tiles), and the shared memory that each kernel names at its beginning.
//
// Error, with u = 2^-24: a score, its factor and the subtraction of the peak are off by at most u (E + 4) A together,
// where A is the largest of factor * sum |q k|; expf adds 2 u, a sum of S positive numbers S u, and what rescaling it
// costs is 4 u for each tile. So an output is good to  u (2 (E + 4) A + 2 S + S / 8 + 8) * largest |value|.

typedef unsigned short half;  // the bits of a float16: two instructions are all that its header would be needed for

__device__ float to_float(float x) { return x; }
__device__ void store(float* to, float x) { *to = x; }
#ifdef __CUDACC__
__device__ float to_float(half bits) { float x; asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(bits)); return x; }
__device__ void store(half* to, float x) { asm("cvt.rn.f16.f32 %0, %1;" : "=h"(*to) : "f"(x)); }
#else
__device__ float to_float(half bits) { return emulator::half_to_float(bits); }
__device__ void store(half* to, float x) { *to = emulator::float_to_half(x); }
#endif

const int THREADS = 128;  // 16 groups of 8 neighbours: a group shares rows, its members share columns
const int TILE = 32;      // rows of what goes by
const int PAD = 1;        // a number more in each row of a tile: rows begin in different banks

struct Shape { int L, S, E, Ev, low, high; float factor; };

__device__ int group() { return threadIdx.x / 8; }
__device__ int member() { return threadIdx.x % 8; }
__device__ float minus_infinity() { return __int_as_float(0xff800000); }
__device__ bool sees(Shape shape, int i, int j)
{
    return i < shape.L && j < shape.S && i + shape.low <= j && j <= i + shape.high;
}

// tile (rows, WIDTH + PAD) <- rows first, first + 1, ... of from (total, width), and zeros where there is nothing.
template <class T, int WIDTH>
__device__ void fill(float* tile, int rows, const T* from, int first, int total, int width)
{
    for (int i = threadIdx.x; i < rows * WIDTH; i += THREADS) {
        int row = i / WIDTH, column = i % WIDTH;
        bool inside = first + row < total && column < width;
        tile[row * (WIDTH + PAD) + column] = inside ? to_float(from[(long long)(first + row) * width + column]) : 0.0f;
    }
}

// dots[r][c] = row group() + 16 r of a times row member() + 8 c of b.
template <int R, int WIDTH> __device__ void products(const float* a, const float* b, float (&dots)[R][4])
{
#pragma unroll
    for (int r = 0; r < R; ++r)
#pragma unroll
        for (int c = 0; c < 4; ++c) dots[r][c] = 0.0f;
#pragma unroll 4
    for (int w = 0; w < WIDTH; ++w) {
        float x[R], y[4];
#pragma unroll
        for (int r = 0; r < R; ++r) x[r] = a[(group() + 16 * r) * (WIDTH + PAD) + w];
#pragma unroll
        for (int c = 0; c < 4; ++c) y[c] = b[(member() + 8 * c) * (WIDTH + PAD) + w];
#pragma unroll
        for (int r = 0; r < R; ++r)
#pragma unroll
            for (int c = 0; c < 4; ++c) dots[r][c] += x[r] * y[c];
    }
}

// table (16 R, TILE + PAD) <- each thread's numbers at row group() + 16 r, column member() + 8 c.
template <int R> __device__ void spread(float* table, const float (&numbers)[R][4])
{
#pragma unroll
    for (int r = 0; r < R; ++r)
#pragma unroll
        for (int c = 0; c < 4; ++c) table[(group() + 16 * r) * (TILE + PAD) + member() + 8 * c] = numbers[r][c];
}

// sums[r][m], at row group() + 16 r, column member() + 8 m, += table (16 R, TILE) times tile (TILE, WIDTH).
template <int R, int WIDTH>
__device__ void add_product(const float* table, const float* tile, float (&sums)[R][WIDTH / 8])
{
#pragma unroll 2
    for (int t = 0; t < TILE; ++t) {
        float x[R];
#pragma unroll
        for (int r = 0; r < R; ++r) x[r] = table[(group() + 16 * r) * (TILE + PAD) + t];
#pragma unroll
        for (int m = 0; m < WIDTH / 8; ++m) {
            float y = tile[t * (WIDTH + PAD) + member() + 8 * m];
#pragma unroll
            for (int r = 0; r < R; ++r) sums[r][m] += x[r] * y;
        }
    }
}

// to (total, width) <- factor[r] times sums, whose first row is number `first` of to.
template <class T, int R, int WIDTH>
__device__ void write(T* to, int first, int total, int width, const float (&sums)[R][WIDTH / 8],
                      const float (&factor)[R])
{
#pragma unroll
    for (int r = 0; r < R; ++r) {
        int row = first + group() + 16 * r;
#pragma unroll
        for (int m = 0; m < WIDTH / 8; ++m) {
            int column = member() + 8 * m;
            if (row < total && column < width) store(to + (long long)row * width + column, sums[r][m] * factor[r]);
        }
    }
}

// The largest, and the sum, of what the eight members of a group hold.
__device__ float largest_of_group(float mine)
{
    for (int distance = 4; distance > 0; distance /= 2)
        mine = fmaxf(mine, __shfl_xor_sync(0xffffffffu, mine, distance));
    return mine;
}
__device__ float sum_of_group(float mine)
{
    for (int distance = 4; distance > 0; distance /= 2) mine += __shfl_xor_sync(0xffffffffu, mine, distance);
    return mine;
}

// ---------------------------------------------------------------------------------------------------------- forward

// Shared: queries (64, WIDTH + 1), a tile of keys and then of values (32, WIDTH + 1), weights (64, 33).
template <class T, int WIDTH>
__device__ void forward(const T* query, const T* key, const T* value, T* output, float* peaks, float* inverses,
                        int tables_a_key, Shape shape)
{
    const int R = 4, ROWS = 16 * R;
    extern __shared__ float memory[];
    float* queries = memory;
    float* tile = queries + ROWS * (WIDTH + PAD);
    float* table = tile + TILE * (WIDTH + PAD);

    long long number = blockIdx.x, owner = number / tables_a_key;
    int first = blockIdx.y * ROWS;
    query += number * shape.L * shape.E;
    key += owner * shape.S * shape.E;
    value += owner * shape.S * shape.Ev;
    output += number * shape.L * shape.Ev;

    float sums[R][WIDTH / 8], peak[R], total[R];
#pragma unroll
    for (int r = 0; r < R; ++r) {
        peak[r] = minus_infinity();
        total[r] = 0.0f;
#pragma unroll
        for (int m = 0; m < WIDTH / 8; ++m) sums[r][m] = 0.0f;
    }
    fill<T, WIDTH>(queries, ROWS, query, first, shape.L, shape.E);

    int end = min(shape.S, first + ROWS + shape.high);
    for (int j = max(0, first + shape.low); j < end; j += TILE) {
        __syncthreads();
        fill<T, WIDTH>(tile, TILE, key, j, shape.S, shape.E);
        __syncthreads();
        float weights[R][4];
        products<R, WIDTH>(queries, tile, weights);
#pragma unroll
        for (int r = 0; r < R; ++r) {
            float highest = peak[r];
#pragma unroll
            for (int c = 0; c < 4; ++c) {
                bool seen = sees(shape, first + group() + 16 * r, j + member() + 8 * c);
                weights[r][c] = seen ? weights[r][c] * shape.factor : minus_infinity();
                highest = fmaxf(highest, weights[r][c]);
            }
            highest = largest_of_group(highest);
            // exp(-inf - -inf) would be NaN: a row that has seen nothing so far is shifted by nothing
            float shift = highest == minus_infinity() ? 0.0f : highest, shrink = expf(peak[r] - shift);
            peak[r] = highest;
            total[r] *= shrink;
#pragma unroll
            for (int m = 0; m < WIDTH / 8; ++m) sums[r][m] *= shrink;
#pragma unroll
            for (int c = 0; c < 4; ++c) {
                weights[r][c] = expf(weights[r][c] - shift);
                total[r] += weights[r][c];
            }
        }
        spread<R>(table, weights);
        __syncthreads();
        fill<T, WIDTH>(tile, TILE, value, j, shape.S, shape.Ev);
        __syncthreads();
        add_product<R, WIDTH>(table, tile, sums);
    }

    float inverse[R];
#pragma unroll
    for (int r = 0; r < R; ++r) {
        int row = first + group() + 16 * r;
        float all = sum_of_group(total[r]);
        inverse[r] = all == 0.0f ? 0.0f : 1.0f / all;  // a row that sees nothing is zero
        if (row < shape.L && member() == 0) {
            peaks[number * shape.L + row] = peak[r] == minus_infinity() ? 0.0f : peak[r];
            inverses[number * shape.L + row] = inverse[r];
        }
    }
    write<T, R, WIDTH>(output, first, shape.L, shape.Ev, sums, inverse);
}

extern "C" __global__ void __launch_bounds__(128) forward_float32_64(
    const float* query, const float* key, const float* value, float* output, float* peaks, float* inverses,
    int tables_a_key, int L, int S, int E, int Ev, int low, int high, float factor)
{
    forward<float, 64>(query, key, value, output, peaks, inverses, tables_a_key, {L, S, E, Ev, low, high, factor});
}

extern "C" __global__ void __launch_bounds__(128) forward_float32_128(
    const float* query, const float* key, const float* value, float* output, float* peaks, float* inverses,
    int tables_a_key, int L, int S, int E, int Ev, int low, int high, float factor)
{
    forward<float, 128>(query, key, value, output, peaks, inverses, tables_a_key, {L, S, E, Ev, low, high, factor});
}

extern "C" __global__ void __launch_bounds__(128) forward_float16_64(
    const half* query, const half* key, const half* value, half* output, float* peaks, float* inverses,
    int tables_a_key, int L, int S, int E, int Ev, int low, int high, float factor)
{
    forward<half, 64>(query, key, value, output, peaks, inverses, tables_a_key, {L, S, E, Ev, low, high, factor});
}

extern "C" __global__ void __launch_bounds__(128) forward_float16_128(
    const half* query, const half* key, const half* value, half* output, float* peaks, float* inverses,
    int tables_a_key, int L, int S, int E, int Ev, int low, int high, float factor)
{
    forward<half, 128>(query, key, value, output, peaks, inverses, tables_a_key, {L, S, E, Ev, low, high, factor});
}

// --------------------------------------------------------------------------------------------------------- backward

// With P = exp(score - peak) * inverse and mean = sum over the row of P dP, which is grad times output:
// dP = grad value^T,  dS = P (dP - mean),  d_query = factor dS key,  d_key = factor dS^T query,  d_value = P^T grad.

// Shared: queries and grads (32, WIDTH + 1), a tile of values and then of keys (32, WIDTH + 1), dS (32, 33).
template <class T, int WIDTH>
__device__ void backward_queries(const T* query, const T* key, const T* value, const T* grad, const float* peaks,
                                 const float* inverses, const float* means, T* d_query, int tables_a_key, Shape shape)
{
    const int R = 2, ROWS = 16 * R;
    extern __shared__ float memory[];
    float* queries = memory;
    float* grads = queries + ROWS * (WIDTH + PAD);
    float* tile = grads + ROWS * (WIDTH + PAD);
    float* table = tile + TILE * (WIDTH + PAD);

    long long number = blockIdx.x, owner = number / tables_a_key;
    int first = blockIdx.y * ROWS;
    key += owner * shape.S * shape.E;
    value += owner * shape.S * shape.Ev;
    fill<T, WIDTH>(queries, ROWS, query + number * shape.L * shape.E, first, shape.L, shape.E);
    fill<T, WIDTH>(grads, ROWS, grad + number * shape.L * shape.Ev, first, shape.L, shape.Ev);

    float sums[R][WIDTH / 8], peak[R], inverse[R], mean[R], factor[R];
#pragma unroll
    for (int r = 0; r < R; ++r) {
        int row = first + group() + 16 * r;
        long long at = number * shape.L + (row < shape.L ? row : 0);
        peak[r] = peaks[at];
        inverse[r] = inverses[at];
        mean[r] = means[at];
        factor[r] = shape.factor;
#pragma unroll
        for (int m = 0; m < WIDTH / 8; ++m) sums[r][m] = 0.0f;
    }

    int end = min(shape.S, first + ROWS + shape.high);
    for (int j = max(0, first + shape.low); j < end; j += TILE) {
        float slopes[R][4], scores[R][4];
        __syncthreads();
        fill<T, WIDTH>(tile, TILE, value, j, shape.S, shape.Ev);
        __syncthreads();
        products<R, WIDTH>(grads, tile, slopes);
        __syncthreads();
        fill<T, WIDTH>(tile, TILE, key, j, shape.S, shape.E);
        __syncthreads();
        products<R, WIDTH>(queries, tile, scores);
#pragma unroll
        for (int r = 0; r < R; ++r)
#pragma unroll
            for (int c = 0; c < 4; ++c) {
                bool seen = sees(shape, first + group() + 16 * r, j + member() + 8 * c);
                float weight = seen ? expf(scores[r][c] * shape.factor - peak[r]) * inverse[r] : 0.0f;
                slopes[r][c] = weight * (slopes[r][c] - mean[r]);
            }
        spread<R>(table, slopes);
        __syncthreads();
        add_product<R, WIDTH>(table, tile, sums);
    }
    write<T, R, WIDTH>(d_query + number * shape.L * shape.E, first, shape.L, shape.E, sums, factor);
}

// Shared: keys and values (32, WIDTH + 1), a tile of queries and of grads (32, WIDTH + 1), P and then dS (32, 33).
template <class T, int WIDTH>
__device__ void backward_keys(const T* query, const T* key, const T* value, const T* grad, const float* peaks,
                              const float* inverses, const float* means, T* d_key, T* d_value, int tables_a_key,
                              Shape shape)
{
    const int R = 2, ROWS = 16 * R;
    extern __shared__ float memory[];
    float* keys = memory;
    float* values = keys + ROWS * (WIDTH + PAD);
    float* tile = values + ROWS * (WIDTH + PAD);
    float* table = tile + TILE * (WIDTH + PAD);

    long long owner = blockIdx.x;
    int first = blockIdx.y * ROWS;
    fill<T, WIDTH>(keys, ROWS, key + owner * shape.S * shape.E, first, shape.S, shape.E);
    fill<T, WIDTH>(values, ROWS, value + owner * shape.S * shape.Ev, first, shape.S, shape.Ev);

    float key_sums[R][WIDTH / 8], value_sums[R][WIDTH / 8], factor[R], one[R];
#pragma unroll
    for (int r = 0; r < R; ++r) {
        factor[r] = shape.factor;
        one[r] = 1.0f;
#pragma unroll
        for (int m = 0; m < WIDTH / 8; ++m) key_sums[r][m] = value_sums[r][m] = 0.0f;
    }

    int begin = max(0, first - shape.high), end = min(shape.L, first + ROWS - shape.low);
    for (long long number = owner * tables_a_key; number < (owner + 1) * tables_a_key; ++number) {
        const T* table_query = query + number * shape.L * shape.E;
        const T* table_grad = grad + number * shape.L * shape.Ev;
        for (int i = begin; i < end; i += TILE) {
            float weights[R][4], slopes[R][4], mean[4];
            __syncthreads();
            fill<T, WIDTH>(tile, TILE, table_query, i, shape.L, shape.E);
            __syncthreads();
            products<R, WIDTH>(keys, tile, weights);
#pragma unroll
            for (int c = 0; c < 4; ++c) {
                int row = i + member() + 8 * c;
                long long at = number * shape.L + (row < shape.L ? row : 0);
                float peak = peaks[at], inverse = inverses[at];
                mean[c] = means[at];
#pragma unroll
                for (int r = 0; r < R; ++r) {
                    bool seen = sees(shape, row, first + group() + 16 * r);
                    weights[r][c] = seen ? expf(weights[r][c] * shape.factor - peak) * inverse : 0.0f;
                }
            }
            spread<R>(table, weights);
            __syncthreads();
            fill<T, WIDTH>(tile, TILE, table_grad, i, shape.L, shape.Ev);
            __syncthreads();
            add_product<R, WIDTH>(table, tile, value_sums);
            products<R, WIDTH>(values, tile, slopes);
            __syncthreads();
#pragma unroll
            for (int r = 0; r < R; ++r)
#pragma unroll
                for (int c = 0; c < 4; ++c) slopes[r][c] = weights[r][c] * (slopes[r][c] - mean[c]);
            spread<R>(table, slopes);
            fill<T, WIDTH>(tile, TILE, table_query, i, shape.L, shape.E);
            __syncthreads();
            add_product<R, WIDTH>(table, tile, key_sums);
        }
    }
    write<T, R, WIDTH>(d_key + owner * shape.S * shape.E, first, shape.S, shape.E, key_sums, factor);
    write<T, R, WIDTH>(d_value + owner * shape.S * shape.Ev, first, shape.S, shape.Ev, value_sums, one);
}

extern "C" __global__ void __launch_bounds__(128) queries_float32_64(
    const float* query, const float* key, const float* value, const float* grad, const float* peaks,
    const float* inverses, const float* means, float* d_query, int tables_a_key, int L, int S, int E, int Ev, int low,
    int high, float factor)
{
    backward_queries<float, 64>(query, key, value, grad, peaks, inverses, means, d_query, tables_a_key,
                               {L, S, E, Ev, low, high, factor});
}

extern "C" __global__ void __launch_bounds__(128) queries_float32_128(
    const float* query, const float* key, const float* value, const float* grad, const float* peaks,
    const float* inverses, const float* means, float* d_query, int tables_a_key, int L, int S, int E, int Ev, int low,
    int high, float factor)
{
    backward_queries<float, 128>(query, key, value, grad, peaks, inverses, means, d_query, tables_a_key,
                               {L, S, E, Ev, low, high, factor});
}

extern "C" __global__ void __launch_bounds__(128) queries_float16_64(
    const half* query, const half* key, const half* value, const half* grad, const float* peaks,
    const float* inverses, const float* means, half* d_query, int tables_a_key, int L, int S, int E, int Ev, int low,
    int high, float factor)
{
    backward_queries<half, 64>(query, key, value, grad, peaks, inverses, means, d_query, tables_a_key,
                               {L, S, E, Ev, low, high, factor});
}

extern "C" __global__ void __launch_bounds__(128) queries_float16_128(
    const half* query, const half* key, const half* value, const half* grad, const float* peaks,
    const float* inverses, const float* means, half* d_query, int tables_a_key, int L, int S, int E, int Ev, int low,
    int high, float factor)
{
    backward_queries<half, 128>(query, key, value, grad, peaks, inverses, means, d_query, tables_a_key,
                               {L, S, E, Ev, low, high, factor});
}

extern "C" __global__ void __launch_bounds__(128, 4) keys_float32_64(
    const float* query, const float* key, const float* value, const float* grad, const float* peaks,
    const float* inverses, const float* means, float* d_key, float* d_value, int tables_a_key, int L, int S, int E,
    int Ev, int low, int high, float factor)
{
    backward_keys<float, 64>(query, key, value, grad, peaks, inverses, means, d_key, d_value, tables_a_key,
                            {L, S, E, Ev, low, high, factor});
}

extern "C" __global__ void __launch_bounds__(128) keys_float32_128(
    const float* query, const float* key, const float* value, const float* grad, const float* peaks,
    const float* inverses, const float* means, float* d_key, float* d_value, int tables_a_key, int L, int S, int E,
    int Ev, int low, int high, float factor)
{
    backward_keys<float, 128>(query, key, value, grad, peaks, inverses, means, d_key, d_value, tables_a_key,
                            {L, S, E, Ev, low, high, factor});
}

extern "C" __global__ void __launch_bounds__(128, 4) keys_float16_64(
    const half* query, const half* key, const half* value, const half* grad, const float* peaks,
    const float* inverses, const float* means, half* d_key, half* d_value, int tables_a_key, int L, int S, int E,
    int Ev, int low, int high, float factor)
{
    backward_keys<half, 64>(query, key, value, grad, peaks, inverses, means, d_key, d_value, tables_a_key,
                            {L, S, E, Ev, low, high, factor});
}

extern "C" __global__ void __launch_bounds__(128) keys_float16_128(
    const half* query, const half* key, const half* value, const half* grad, const float* peaks,
    const float* inverses, const float* means, half* d_key, half* d_value, int tables_a_key, int L, int S, int E,
    int Ev, int low, int high, float factor)
{
    backward_keys<half, 128>(query, key, value, grad, peaks, inverses, means, d_key, d_value, tables_a_key,
                            {L, S, E, Ev, low, high, factor});
}
