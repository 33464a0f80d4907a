// Softmax of each row of a table: weights = exp(x - peak) / sum(exp(x - peak)), where peak is the row's largest x.
//
// The ladder: softmax_naive, softmax_warp and softmax_block compute the same thing, each with less memory traffic or
// more threads a row than the one before. Below them is what the engine uses: scale, mask and softmax in one
// launch, and its gradient, for float32 and float16, with the row kept in registers, in shared memory, or nowhere.
//
// Error, with u = 2^-24, against the exact weight of the same inputs. A score after scaling and adding is off by at most
// 2 u times the largest size A that it or its parts have; exp turns that, for the score and the peak, into a relative
// 4 u A, and its argument's own rounding into u R, where R is the row's range; expf itself is good to 2 u. A sum of
// positive numbers loses at most u for each addition in its longest chain, and up to 4 u where the addition is a
// combine(). Two divisions and products at the end: 4 u. So each weight is good to
//     u (4 A + 2 R + chain + 8) relative,   chain = columns (naive), 4 (columns / threads a row + 10) (all others),
// float16 adds 2^-11 for its own rounding. Below 2^-126 (float16: 2^-24) a weight may become 0.
// The gradient scale * w * (g - dot) is good to  u |scale w| ((chain + 2) sum |w g| + 3 |g| + 3 |dot|).

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

__device__ float minus_infinity() { return __int_as_float(0xff800000); }

// exp(-inf - -inf) would be NaN: a row of -inf alone is shifted by nothing, and its weights are 0.
__device__ float shift_of(float peak) { return peak == minus_infinity() ? 0.0f : peak; }
__device__ float inverse_of(float total) { return total == 0.0f ? 0.0f : 1.0f / total; }

// What is known of a row after some of its numbers: their largest, and the sum of exp(x - largest). Two such pieces
// of knowledge can be merged: the online softmax (Milakov and Gimelshein, arXiv:1805.02867).
struct Running { float peak, total; };

__device__ Running nothing() { return {minus_infinity(), 0.0f}; }

__device__ Running combine(Running a, Running b)
{
    float peak = fmaxf(a.peak, b.peak), shift = shift_of(peak);
    return {peak, a.total * expf(a.peak - shift) + b.total * expf(b.peak - shift)};
}
__device__ float combine(float a, float b) { return a + b; }

__device__ float of_lane_across(float mine, int distance) { return __shfl_xor_sync(0xffffffffu, mine, distance); }
__device__ Running of_lane_across(Running mine, int distance)
{
    return {of_lane_across(mine.peak, distance), of_lane_across(mine.total, distance)};
}

// Every lane gets what the 32 lanes of its warp hold together, in five exchanges.
template <class Value> __device__ Value warp_all(Value mine)
{
    for (int distance = 16; distance > 0; distance /= 2) mine = combine(mine, of_lane_across(mine, distance));
    return mine;
}

// Every thread gets what all threads of its block hold together. The block is whole warps in a line. Once a kernel: a
// second call could overwrite of_warp before the first one's last reader is done.
template <class Value> __device__ Value block_all(Value mine, Value none)
{
    __shared__ Value of_warp[32];
    mine = warp_all(mine);
    if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = mine;
    __syncthreads();
    Value of_another = threadIdx.x % 32 < blockDim.x / 32 ? of_warp[threadIdx.x % 32] : none;
    return warp_all(of_another);
}

// ------------------------------------------------------------------------------------------------------ the ladder

// scores (rows, columns) -> weights (rows, columns). One thread a row, three passes: the formula as it is written.
extern "C" __global__ void softmax_naive(const float* scores, float* weights, long long rows, int columns)
{
    long long row = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    const float* x = scores + row * columns;
    float* w = weights + row * columns;

    float peak = minus_infinity();
    for (int i = 0; i < columns; ++i) peak = fmaxf(peak, x[i]);
    float shift = shift_of(peak), total = 0.0f;
    for (int i = 0; i < columns; ++i) total += expf(x[i] - shift);
    float inverse = inverse_of(total);
    for (int i = 0; i < columns; ++i) w[i] = expf(x[i] - shift) * inverse;
}

// scores (rows, columns) -> weights (rows, columns). One warp a row, blocks of (32, rows in a block): neighbouring lanes
// read neighbouring numbers, and peak and total are found in one pass.
extern "C" __global__ void softmax_warp(const float* scores, float* weights, long long rows, int columns)
{
    long long row = (long long)blockIdx.x * blockDim.y + threadIdx.y;
    if (row >= rows) return;
    const float* x = scores + row * columns;
    float* w = weights + row * columns;

    Running all = nothing();
    for (int i = threadIdx.x; i < columns; i += 32) all = combine(all, {x[i], 1.0f});
    all = warp_all(all);
    float shift = shift_of(all.peak), inverse = inverse_of(all.total);
    for (int i = threadIdx.x; i < columns; i += 32) w[i] = expf(x[i] - shift) * inverse;
}

// scores (rows, columns) -> weights (rows, columns). One block a row: the same with more threads, for a long row.
extern "C" __global__ void softmax_block(const float* scores, float* weights, int columns)
{
    const float* x = scores + (long long)blockIdx.x * columns;
    float* w = weights + (long long)blockIdx.x * columns;

    Running all = nothing();
    for (int i = threadIdx.x; i < columns; i += blockDim.x) all = combine(all, {x[i], 1.0f});
    all = block_all(all, nothing());
    float shift = shift_of(all.peak), inverse = inverse_of(all.total);
    for (int i = threadIdx.x; i < columns; i += blockDim.x) w[i] = expf(x[i] - shift) * inverse;
}

// ------------------------------------------------------------------------------- scale, mask and softmax in one launch

// V numbers that are read or written in one instruction.
template <class T, int V> struct alignas(sizeof(T) * V) Pack { T item[V]; };

template <class T, int V> __device__ void load(const T* from, float* x)
{
    Pack<T, V> pack = *(const Pack<T, V>*)from;
#pragma unroll
    for (int v = 0; v < V; ++v) x[v] = to_float(pack.item[v]);
}

template <class T, int V> __device__ void save(T* to, const float* x)
{
    Pack<T, V> pack;
#pragma unroll
    for (int v = 0; v < V; ++v) store(&pack.item[v], x[v]);
    *(Pack<T, V>*)to = pack;
}

// Packs of 16 bytes fit only where every row begins at a multiple of 16 bytes.
template <class T> __device__ bool rows_fit_packs(const T* a, const T* b, const T* c, int columns)
{
    return columns % (16 / sizeof(T)) == 0 && ((size_t)a | (size_t)b | (size_t)c) % 16 == 0;
}

// The mask of one row: keep says what may be attended to, bias is added; a null pointer is no mask.
struct Mask { const bool* keep; const float* bias; };

// keep or bias (mask rows, columns), mask_row (rows): which row of the mask belongs to each row of the scores.
__device__ Mask mask_of(const bool* keep, const float* bias, const int* mask_row, long long row, int columns)
{
    long long start = keep || bias ? (long long)mask_row[row] * columns : 0;
    return {keep ? keep + start : keep, bias ? bias + start : bias};
}

template <int V> __device__ void scale_and_mask(float* x, float scale, Mask mask, int column)
{
#pragma unroll
    for (int v = 0; v < V; ++v) {
        x[v] *= scale;
        if (mask.bias) x[v] += mask.bias[column + v];
        if (mask.keep) x[v] = mask.keep[column + v] ? x[v] : minus_infinity();
    }
}

// One warp a row, at most 32 N columns: N numbers a lane stay in its registers between the only read and the only write.
template <class T, int V, int N>
__device__ void softmax_in_registers(const T* scores, T* weights, int columns, float scale, Mask mask)
{
    float x[N];
    Running all = nothing();
#pragma unroll
    for (int n = 0; n < N; n += V) {
        int column = n * 32 + threadIdx.x * V;
        if (column >= columns) continue;
        load<T, V>(scores + column, x + n);
        scale_and_mask<V>(x + n, scale, mask, column);
#pragma unroll
        for (int v = 0; v < V; ++v) all.peak = fmaxf(all.peak, x[n + v]);
    }
    float shift = shift_of(all.peak);
#pragma unroll
    for (int n = 0; n < N; n += V) {
        if (n * 32 + threadIdx.x * V >= columns) continue;
#pragma unroll
        for (int v = 0; v < V; ++v) all.total += x[n + v] = expf(x[n + v] - shift);
    }
    Running row = warp_all(all);
    float factor = expf(all.peak - shift_of(row.peak)) * inverse_of(row.total);
#pragma unroll
    for (int n = 0; n < N; n += V) {
        int column = n * 32 + threadIdx.x * V;
        if (column >= columns) continue;
#pragma unroll
        for (int v = 0; v < V; ++v) x[n + v] *= factor;
        save<T, V>(weights + column, x + n);
    }
}

// One block a row. KEEP: the row stays in shared memory, (columns) float32; otherwise it is read a second time.
template <class T, int V, bool KEEP>
__device__ void softmax_by_block(const T* scores, T* weights, int columns, float scale, Mask mask)
{
    extern __shared__ float kept[];
    float x[V];
    Running all = nothing();
    for (int column = threadIdx.x * V; column < columns; column += blockDim.x * V) {
        load<T, V>(scores + column, x);
        scale_and_mask<V>(x, scale, mask, column);
        Running pack = nothing();
#pragma unroll
        for (int v = 0; v < V; ++v) pack.peak = fmaxf(pack.peak, x[v]);
#pragma unroll
        for (int v = 0; v < V; ++v) pack.total += expf(x[v] - shift_of(pack.peak));
        all = combine(all, pack);
        if (KEEP) save<float, V>(kept + column, x);
    }
    all = block_all(all, nothing());
    float shift = shift_of(all.peak), inverse = inverse_of(all.total);
    for (int column = threadIdx.x * V; column < columns; column += blockDim.x * V) {
        if (KEEP) {
            load<float, V>(kept + column, x);
        } else {
            load<T, V>(scores + column, x);
            scale_and_mask<V>(x, scale, mask, column);
        }
#pragma unroll
        for (int v = 0; v < V; ++v) x[v] = expf(x[v] - shift) * inverse;
        save<T, V>(weights + column, x);
    }
}

// scores (rows, columns) -> weights (rows, columns), columns <= 1024. Blocks of (32, rows in a block).
template <class T>
__device__ void fused_by_warp(const T* scores, T* weights, long long rows, int columns, float scale, const bool* keep,
                              const float* bias, const int* mask_row)
{
    const int V = 16 / sizeof(T);
    long long row = (long long)blockIdx.x * blockDim.y + threadIdx.y;
    if (row >= rows) return;
    Mask mask = mask_of(keep, bias, mask_row, row, columns);
    bool packs = rows_fit_packs(scores, weights, weights, columns);
    scores += row * columns;
    weights += row * columns;
    if (packs && columns <= 256) softmax_in_registers<T, V, 8>(scores, weights, columns, scale, mask);
    else if (packs) softmax_in_registers<T, V, 32>(scores, weights, columns, scale, mask);
    else if (columns <= 256) softmax_in_registers<T, 1, 8>(scores, weights, columns, scale, mask);
    else softmax_in_registers<T, 1, 32>(scores, weights, columns, scale, mask);
}

// scores (rows, columns) -> weights (rows, columns). A grid of rows, blocks of whole warps.
template <class T, bool KEEP>
__device__ void fused_by_block(const T* scores, T* weights, int columns, float scale, const bool* keep, const float* bias,
                               const int* mask_row)
{
    const int V = 16 / sizeof(T);
    long long row = blockIdx.x;
    Mask mask = mask_of(keep, bias, mask_row, row, columns);
    bool packs = rows_fit_packs(scores, weights, weights, columns);
    scores += row * columns;
    weights += row * columns;
    if (packs) softmax_by_block<T, V, KEEP>(scores, weights, columns, scale, mask);
    else softmax_by_block<T, 1, KEEP>(scores, weights, columns, scale, mask);
}

// The engine's kernels: scores (rows, columns), scale, keep or bias (mask rows, columns), mask_row (rows) -> weights
// (rows, columns). By row length: in registers up to 1,024, shared up to what fits there, else reread.

extern "C" __global__ void __launch_bounds__(128) fused_registers_float32(
    const float* scores, float* weights, long long rows, int columns, float scale, const bool* keep, const float* bias,
    const int* mask_row)
{
    fused_by_warp(scores, weights, rows, columns, scale, keep, bias, mask_row);
}

extern "C" __global__ void __launch_bounds__(128) fused_registers_float16(
    const half* scores, half* weights, long long rows, int columns, float scale, const bool* keep, const float* bias,
    const int* mask_row)
{
    fused_by_warp(scores, weights, rows, columns, scale, keep, bias, mask_row);
}

extern "C" __global__ void __launch_bounds__(1024) fused_shared_float32(
    const float* scores, float* weights, int columns, float scale, const bool* keep, const float* bias, const int* mask_row)
{
    fused_by_block<float, true>(scores, weights, columns, scale, keep, bias, mask_row);
}

extern "C" __global__ void __launch_bounds__(1024) fused_shared_float16(
    const half* scores, half* weights, int columns, float scale, const bool* keep, const float* bias, const int* mask_row)
{
    fused_by_block<half, true>(scores, weights, columns, scale, keep, bias, mask_row);
}

extern "C" __global__ void __launch_bounds__(1024) fused_reread_float32(
    const float* scores, float* weights, int columns, float scale, const bool* keep, const float* bias, const int* mask_row)
{
    fused_by_block<float, false>(scores, weights, columns, scale, keep, bias, mask_row);
}

extern "C" __global__ void __launch_bounds__(1024) fused_reread_float16(
    const half* scores, half* weights, int columns, float scale, const bool* keep, const float* bias, const int* mask_row)
{
    fused_by_block<half, false>(scores, weights, columns, scale, keep, bias, mask_row);
}

// ---------------------------------------------------------------------------------------------------- the gradient

// d loss / d score = scale * weight * (grad - sum over the row of grad * weight), where grad = d loss / d weight. The
// mask needs no second look: where it forbids, the weight is 0, and so is the gradient.

// One warp a row, at most 32 N columns: weights and gradient stay in registers.
template <class T, int V, int N>
__device__ void gradient_in_registers(const T* weights, const T* grad, T* scores_grad, int columns, float scale)
{
    float w[N], g[N], dot = 0.0f;
#pragma unroll
    for (int n = 0; n < N; n += V) {
        int column = n * 32 + threadIdx.x * V;
        if (column >= columns) continue;
        load<T, V>(weights + column, w + n);
        load<T, V>(grad + column, g + n);
#pragma unroll
        for (int v = 0; v < V; ++v) dot += w[n + v] * g[n + v];
    }
    dot = warp_all(dot);
#pragma unroll
    for (int n = 0; n < N; n += V) {
        int column = n * 32 + threadIdx.x * V;
        if (column >= columns) continue;
#pragma unroll
        for (int v = 0; v < V; ++v) g[n + v] = scale * w[n + v] * (g[n + v] - dot);
        save<T, V>(scores_grad + column, g + n);
    }
}

// One block a row. KEEP: both rows stay in shared memory, (2, columns) float32; otherwise they are read a second time.
template <class T, int V, bool KEEP>
__device__ void gradient_by_block(const T* weights, const T* grad, T* scores_grad, int columns, float scale)
{
    extern __shared__ float kept[];
    float w[V], g[V], dot = 0.0f;
    for (int column = threadIdx.x * V; column < columns; column += blockDim.x * V) {
        load<T, V>(weights + column, w);
        load<T, V>(grad + column, g);
#pragma unroll
        for (int v = 0; v < V; ++v) dot += w[v] * g[v];
        if (KEEP) {
            save<float, V>(kept + column, w);
            save<float, V>(kept + columns + column, g);
        }
    }
    dot = block_all(dot, 0.0f);
    for (int column = threadIdx.x * V; column < columns; column += blockDim.x * V) {
        if (KEEP) {
            load<float, V>(kept + column, w);
            load<float, V>(kept + columns + column, g);
        } else {
            load<T, V>(weights + column, w);
            load<T, V>(grad + column, g);
        }
#pragma unroll
        for (int v = 0; v < V; ++v) g[v] = scale * w[v] * (g[v] - dot);
        save<T, V>(scores_grad + column, g);
    }
}

// weights, grad (rows, columns) -> scores_grad (rows, columns), columns <= 1024. Blocks of (32, rows in a block).
template <class T>
__device__ void gradient_by_warp(const T* weights, const T* grad, T* scores_grad, long long rows, int columns, float scale)
{
    const int V = 16 / sizeof(T);
    long long row = (long long)blockIdx.x * blockDim.y + threadIdx.y;
    if (row >= rows) return;
    bool packs = rows_fit_packs(weights, grad, scores_grad, columns);
    weights += row * columns;
    grad += row * columns;
    scores_grad += row * columns;
    if (packs && columns <= 256) gradient_in_registers<T, V, 8>(weights, grad, scores_grad, columns, scale);
    else if (packs) gradient_in_registers<T, V, 32>(weights, grad, scores_grad, columns, scale);
    else if (columns <= 256) gradient_in_registers<T, 1, 8>(weights, grad, scores_grad, columns, scale);
    else gradient_in_registers<T, 1, 32>(weights, grad, scores_grad, columns, scale);
}

// weights, grad (rows, columns) -> scores_grad (rows, columns). A grid of rows, blocks of whole warps.
template <class T, bool KEEP>
__device__ void gradient_of_row(const T* weights, const T* grad, T* scores_grad, int columns, float scale)
{
    const int V = 16 / sizeof(T);
    bool packs = rows_fit_packs(weights, grad, scores_grad, columns);
    long long start = (long long)blockIdx.x * columns;
    if (packs) gradient_by_block<T, V, KEEP>(weights + start, grad + start, scores_grad + start, columns, scale);
    else gradient_by_block<T, 1, KEEP>(weights + start, grad + start, scores_grad + start, columns, scale);
}

extern "C" __global__ void __launch_bounds__(128) gradient_registers_float32(
    const float* weights, const float* grad, float* scores_grad, long long rows, int columns, float scale)
{
    gradient_by_warp(weights, grad, scores_grad, rows, columns, scale);
}

extern "C" __global__ void __launch_bounds__(128) gradient_registers_float16(
    const half* weights, const half* grad, half* scores_grad, long long rows, int columns, float scale)
{
    gradient_by_warp(weights, grad, scores_grad, rows, columns, scale);
}

extern "C" __global__ void __launch_bounds__(1024) gradient_shared_float32(
    const float* weights, const float* grad, float* scores_grad, int columns, float scale)
{
    gradient_of_row<float, true>(weights, grad, scores_grad, columns, scale);
}

extern "C" __global__ void __launch_bounds__(1024) gradient_shared_float16(
    const half* weights, const half* grad, half* scores_grad, int columns, float scale)
{
    gradient_of_row<half, true>(weights, grad, scores_grad, columns, scale);
}

extern "C" __global__ void __launch_bounds__(1024) gradient_reread_float32(
    const float* weights, const float* grad, float* scores_grad, int columns, float scale)
{
    gradient_of_row<float, false>(weights, grad, scores_grad, columns, scale);
}

extern "C" __global__ void __launch_bounds__(1024) gradient_reread_float16(
    const half* weights, const half* grad, half* scores_grad, int columns, float scale)
{
    gradient_of_row<half, false>(weights, grad, scores_grad, columns, scale);
}
