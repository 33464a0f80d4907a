// Each kernel has one bug. The comment `BUG: kind` marks each line at which the emulator may report it.
// What a kernel means to do is said in its first line; test_emulator.py launches it and holds the report against the mark.

// ------------------------------------------------------------------------------------------- shared-memory races

// x (64) -> y (64): each thread's neighbour, without waiting for it
extern "C" __global__ void neighbour_without_barrier(const float* x, float* y)
{
    __shared__ float tile[64];
    tile[threadIdx.x] = x[threadIdx.x];        // BUG: race
    y[threadIdx.x] = tile[63 - threadIdx.x];   // BUG: race
}

// x (64) -> y (1): a tree of sums whose steps do not wait for each other
extern "C" __global__ void tree_without_barrier(const float* x, float* y)
{
    __shared__ float part[64];
    part[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    for (int half = 32; half > 0; half /= 2)
        if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];  // BUG: race
    if (threadIdx.x == 0) y[0] = part[0];
}

// x (64) -> y (64): the shared maximum is overwritten by the sum before everyone has read it
extern "C" __global__ void maximum_overwritten(const float* x, float* y)
{
    __shared__ float shared[2];
    float value = x[threadIdx.x];
    for (int d = 16; d > 0; d /= 2) value = fmaxf(value, __shfl_xor_sync(0xffffffffu, value, d));
    if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = value;
    __syncthreads();
    float peak = fmaxf(shared[0], shared[1]);                        // BUG: race
    float total = expf(x[threadIdx.x] - peak);
    for (int d = 16; d > 0; d /= 2) total += __shfl_xor_sync(0xffffffffu, total, d);
    if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = total;     // BUG: race
    __syncthreads();
    y[threadIdx.x] = expf(x[threadIdx.x] - peak) / (shared[0] + shared[1]);
}

// x (16, 16) -> y (16, 16): x x, the next tile is loaded while the last one is still being read
extern "C" __global__ void tile_overwritten(const float* x, float* y)
{
    __shared__ float a[16][8], b[8][16];
    int row = threadIdx.y, column = threadIdx.x;
    float sum = 0;
    for (int k = 0; k < 16; k += 8) {
        if (column < 8) a[row][column] = x[row * 16 + k + column];    // BUG: race
        if (row < 8) b[row][column] = x[(k + row) * 16 + column];     // BUG: race
        __syncthreads();
        for (int i = 0; i < 8; ++i) sum += a[row][i] * b[i][column];  // BUG: race
    }
    y[row * 16 + column] = sum;
}

// x (32) -> y (1): lanes of a warp no longer run in step by themselves
extern "C" __global__ void warp_in_step(const float* x, float* y)
{
    __shared__ volatile float part[32];
    part[threadIdx.x] = x[threadIdx.x];                                 // BUG: race
    if (threadIdx.x < 16) part[threadIdx.x] += part[threadIdx.x + 16];  // BUG: race
    if (threadIdx.x < 8) part[threadIdx.x] += part[threadIdx.x + 8];    // BUG: race
    if (threadIdx.x == 0) y[0] = part[0];
}

// x (64) -> y (1): several threads write one slot
extern "C" __global__ void one_slot_for_all(const float* x, float* y)
{
    __shared__ float last;
    if (x[threadIdx.x] > 0) last = x[threadIdx.x];  // BUG: race
    __syncthreads();
    if (threadIdx.x == 0) y[0] = last;
}

// x (64) -> y (1): a shared counter without an atomic
extern "C" __global__ void plain_counter(const float* x, float* y)
{
    __shared__ int count;
    if (threadIdx.x == 0) count = 0;
    __syncthreads();
    if (x[threadIdx.x] > 0) count += 1;  // BUG: race
    __syncthreads();
    if (threadIdx.x == 0) y[0] = count;
}

// x (64) -> y (64): running sums, in place
extern "C" __global__ void scan_in_place(const float* x, float* y)
{
    __shared__ float sum[64];
    sum[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    for (int step = 1; step < 64; step *= 2) {
        if (threadIdx.x >= step) sum[threadIdx.x] += sum[threadIdx.x - step];  // BUG: race
        __syncthreads();
    }
    y[threadIdx.x] = sum[threadIdx.x];
}

// x (32) -> y (32): only half of the warp is made to wait
extern "C" __global__ void half_a_warp_waits(const float* x, float* y)
{
    __shared__ float tile[32];
    tile[threadIdx.x] = x[threadIdx.x];           // BUG: race
    if (threadIdx.x < 16) __syncwarp(0x0000ffffu);
    y[threadIdx.x] = tile[31 - threadIdx.x];      // BUG: race
}

// x (32) -> y (32): the second of two warp barriers is missing
extern "C" __global__ void one_warp_barrier_of_two(const float* x, float* y)
{
    __shared__ float tile[32];
    tile[threadIdx.x] = x[threadIdx.x];
    __syncwarp();
    float other = tile[31 - threadIdx.x];  // BUG: race
    tile[threadIdx.x] = 2 * other;         // BUG: race
    __syncwarp();
    y[threadIdx.x] = tile[threadIdx.x ^ 1];
}

// x (64) -> y (64): two warps read what a thread of one of them overwrites
extern "C" __global__ void readers_of_two_warps(const float* x, float* y)
{
    __shared__ float first;
    if (threadIdx.x == 0) first = x[0];
    __syncthreads();
    y[threadIdx.x] = x[threadIdx.x] + first;  // BUG: race
    __syncwarp();
    if (threadIdx.x == 32) first = 0;         // BUG: race
}

struct Pair { float low, high; };
__device__ float width_of(Pair pair)
{   // BUG: race
    return pair.high - pair.low;
}

// x (64) -> y (64): a struct read from shared memory only to be handed to a function
extern "C" __global__ void struct_handed_over(const float* x, float* y)
{
    __shared__ Pair pairs[64];
    pairs[threadIdx.x] = {x[threadIdx.x], x[threadIdx.x] + 1};  // BUG: race
    y[threadIdx.x] = width_of(pairs[63 - threadIdx.x]);         // BUG: race
}

// x (64) -> y (64): a shuffle exchanges values, it does not order memory
extern "C" __global__ void shuffle_as_barrier(const float* x, float* y)
{
    __shared__ float tile[64];
    tile[threadIdx.x] = x[threadIdx.x];                                  // BUG: race
    float next = __shfl_down_sync(0xffffffffu, x[threadIdx.x], 1);
    y[threadIdx.x] = next + tile[threadIdx.x ^ 1];                       // BUG: race
}

// ------------------------------------------------------------------------------------------- global-memory races

// x (4, 32) -> y (1): blocks add into one number without an atomic
extern "C" __global__ void blocks_add(const float* x, float* y)
{
    float sum = x[blockIdx.x * 32 + threadIdx.x];
    for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, d);
    if (threadIdx.x == 0) y[0] += sum;  // BUG: race
}

// y (1): one thread adds by an atomic, the rest do not
extern "C" __global__ void atomic_and_plain(const float* x, float* y)
{
    if (threadIdx.x == 0) atomicAdd(y, x[0]);  // BUG: race
    else y[0] += x[threadIdx.x];               // BUG: race
}

// x (64) -> y (32): two threads write each result
extern "C" __global__ void two_writers(const float* x, float* y)
{
    y[threadIdx.x / 2] = x[threadIdx.x];  // BUG: race
}

// x (128): each becomes the mean of itself and the next, in place, over several blocks
extern "C" __global__ void smooth_in_place(float* x)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float next = i + 1 < 128 ? x[i + 1] : 0;  // BUG: race
    x[i] = (x[i] + next) / 2;                 // BUG: race
}

// x (4, 32), part (4), done (1) -> y (1): the last block adds up what the others stored, without a fence
extern "C" __global__ void last_block_without_fence(const float* x, float* part, unsigned* done, float* y)
{
    float sum = x[blockIdx.x * 32 + threadIdx.x];
    for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, d);
    if (threadIdx.x != 0) return;
    part[blockIdx.x] = sum;  // BUG: race
    if (atomicAdd(done, 1u) == gridDim.x - 1) {
        float total = 0;
        for (int b = 0; b < gridDim.x; ++b) total += part[b];  // BUG: race
        y[0] = total;
    }
}

// -------------------------------------------------------------------------------------------------- out of bounds

// x (n) -> y (n), more threads than n
extern "C" __global__ void no_guard(const float* x, float* y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = 2 * x[i];  // BUG: out of bounds
}

// y (n): one step too far
extern "C" __global__ void one_too_many(float* y, int n)
{
    if (threadIdx.x == 0)
        for (int i = 0; i <= n; ++i) y[i] = i;  // BUG: out of bounds
}

// x (64) -> y (64): the first has no neighbour on its left
extern "C" __global__ void left_of_the_first(const float* x, float* y)
{
    y[threadIdx.x] = x[threadIdx.x] - x[int(threadIdx.x) - 1];  // BUG: out of bounds
}

// x (300, 300) -> y (300): the index of an element is held in too few bits
extern "C" __global__ void index_too_narrow(const float* x, float* y)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= 300) return;
    short start = row * 300;
    y[row] = x[start];  // BUG: out of bounds
}

// x (64) -> y (64): a shared array that is one short
extern "C" __global__ void shared_too_short(const float* x, float* y)
{
    __shared__ float tile[63];
    tile[threadIdx.x] = x[threadIdx.x];  // BUG: out of bounds
    __syncthreads();
    y[threadIdx.x] = tile[threadIdx.x / 2];
}

// x (32) -> y (32): the last of a thread's own four numbers is a fifth
extern "C" __global__ void local_too_short(const float* x, float* y, int count)
{
    float mine[4] = {0, 0, 0, 0};
    for (int i = 0; i <= count; ++i) mine[i] = x[(threadIdx.x + i) % 32];  // BUG: out of bounds
    y[threadIdx.x] = mine[0] + mine[3];
}

// x (64) -> y (64): launched with room for half of it
extern "C" __global__ void dynamic_too_small(const float* x, float* y)
{
    extern __shared__ float tile[];
    tile[threadIdx.x] = x[threadIdx.x];  // BUG: out of bounds
    __syncthreads();
    y[threadIdx.x] = tile[63 - threadIdx.x];
}

// x (32) -> y (32): two arrays share the dynamic memory; the second begins 32 bytes, not 32 floats, too far
extern "C" __global__ void second_array_misplaced(const float* x, float* y)
{
    extern __shared__ char memory[];
    float* first = (float*)memory;
    float* second = first + 32 * sizeof(float);
    first[threadIdx.x] = x[threadIdx.x];
    second[threadIdx.x] = 2 * x[threadIdx.x];  // BUG: out of bounds
    y[threadIdx.x] = first[threadIdx.x] + second[threadIdx.x];
}

// x (30) -> y (8): packs of four over a length that four does not divide
extern "C" __global__ void pack_past_the_end(const float* x, float* y)
{
    float4 pack = ((const float4*)x)[threadIdx.x];  // BUG: out of bounds
    y[threadIdx.x] = pack.x + pack.y + pack.z + pack.w;
}

// x (32) -> y (32): the address of a thread's own variable, handed to another thread
extern "C" __global__ void local_address_shared(const float* x, float* y)
{
    __shared__ float* of_thread[32];
    float mine[2] = {x[threadIdx.x], 1};
    of_thread[threadIdx.x] = mine;
    __syncthreads();
    y[threadIdx.x] = of_thread[31 - threadIdx.x][0];  // BUG: out of bounds
}

// x (32) -> y (32): an address that no argument is near
extern "C" __global__ void wild_address(const float* x, float* y)
{
    float* wild = (float*)(size_t)0x10000;
    *(threadIdx.x == 31 ? wild : y + threadIdx.x) = x[threadIdx.x];  // BUG: out of bounds
}

// ----------------------------------------------------------------------------------------------------- misaligned

// x (33) -> y (8): packs of four that begin at the second number
extern "C" __global__ void pack_off_by_one(const float* x, float* y)
{
    float4 pack = *(const float4*)(x + 1 + 4 * threadIdx.x);  // BUG: misaligned
    y[threadIdx.x] = pack.x + pack.w;
}

// bytes (132) -> y (32): an int at any byte
extern "C" __global__ void int_at_any_byte(const unsigned char* bytes, int* y)
{
    y[threadIdx.x] = *(const int*)(bytes + 4 * threadIdx.x + 2);  // BUG: misaligned
}

// bytes (132): an atomic at any byte
extern "C" __global__ void atomic_at_any_byte(unsigned char* bytes)
{
    atomicAdd((unsigned*)(bytes + 4 * threadIdx.x + 1), 1u);  // BUG: misaligned
}

// x (64) -> y (32): doubles behind one float of shared memory
extern "C" __global__ void double_behind_a_float(const float* x, float* y)
{
    extern __shared__ float memory[];
    double* wide = (double*)(memory + 1);
    wide[threadIdx.x] = x[threadIdx.x];  // BUG: misaligned
    y[threadIdx.x] = wide[threadIdx.x];
}

// -------------------------------------------------------------------------------------------------- uninitialised

// x (32) -> y (2, 32): a block finds shared memory as it is, not as the block before left it
extern "C" __global__ void filled_by_one_block(const float* x, float* y)
{
    __shared__ float tile[32];
    if (blockIdx.x == 0) tile[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    y[blockIdx.x * 32 + threadIdx.x] = tile[threadIdx.x];  // BUG: uninitialised
}

// x (32) -> y (64): half of the tile is never filled
extern "C" __global__ void half_a_tile(const float* x, float* y)
{
    __shared__ float tile[64];
    if (threadIdx.x < 32) tile[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    y[threadIdx.x] = tile[threadIdx.x];  // BUG: uninitialised
}

// x (64) -> y (1): 32 slots are read, two warps have written
extern "C" __global__ void more_slots_than_warps(const float* x, float* y)
{
    __shared__ float of_warp[32];
    float sum = x[threadIdx.x];
    for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, d);
    if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x < 32) {
        sum = of_warp[threadIdx.x];  // BUG: uninitialised
        for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, d);
        if (threadIdx.x == 0) y[0] = sum;
    }
}

// x (32) -> y (32): what nobody wrote is taken for an index: the cause is to be named, not the bad address
extern "C" __global__ void index_from_nothing(const float* x, float* y)
{
    __shared__ int index[32];
    y[threadIdx.x] = x[index[threadIdx.x]];  // BUG: uninitialised
}

// y (32): nothing at all was written
extern "C" __global__ void never_filled(float* y)
{
    __shared__ float tile[32];
    y[threadIdx.x] = tile[threadIdx.x];  // BUG: uninitialised
}

// x (32) -> y (1): shared memory does not begin at zero
extern "C" __global__ void sum_from_nothing(const float* x, float* y)
{
    __shared__ float sum;
    if (threadIdx.x == 0) {
        for (int i = 0; i < 32; ++i) sum += x[i];  // BUG: uninitialised
        y[0] = sum;
    }
}

// ----------------------------------------------------------------------------------------------------- divergence

// x (64) -> y (64): a barrier for half of the threads
extern "C" __global__ void barrier_for_some(const float* x, float* y)
{
    __shared__ float tile[64];
    tile[threadIdx.x] = x[threadIdx.x];
    if (threadIdx.x < 32) __syncthreads();  // BUG: divergence
    y[threadIdx.x] = tile[threadIdx.x];
}

// x (n) -> y (n): those past the end leave before the barrier
extern "C" __global__ void leaves_before_barrier(const float* x, float* y, int n)
{
    __shared__ float tile[64];
    if (threadIdx.x >= n) return;
    tile[threadIdx.x] = x[threadIdx.x];
    __syncthreads();  // BUG: divergence
    y[threadIdx.x] = tile[n - 1 - threadIdx.x];
}

// x (64) -> y (64): as many barriers as the thread has steps
extern "C" __global__ void barriers_by_thread(const float* x, float* y)
{
    float sum = 0;
    for (int i = threadIdx.x; i < 96; i += 64) {
        sum += x[i % 64];
        __syncthreads();  // BUG: divergence
    }
    y[threadIdx.x] = sum;
}

// x (64) -> y (64): two barriers, each for half of the threads
extern "C" __global__ void two_barriers(const float* x, float* y)
{
    __shared__ float tile[64];
    tile[threadIdx.x] = x[threadIdx.x];
    if (threadIdx.x < 32)
        __syncthreads();  // BUG: divergence
    else
        __syncthreads();  // BUG: divergence
    y[threadIdx.x] = tile[63 - threadIdx.x];
}

// x (32) -> y (32): all lanes are named, half of them come
extern "C" __global__ void shuffle_for_some(const float* x, float* y)
{
    float value = x[threadIdx.x];
    if (threadIdx.x < 16) value += __shfl_xor_sync(0xffffffffu, value, 1);  // BUG: divergence
    y[threadIdx.x] = value;
}

// x (32) -> y (32): the mask names the other half
extern "C" __global__ void mask_names_others(const float* x, float* y)
{
    float value = x[threadIdx.x];
    if (threadIdx.x >= 16) value += __shfl_xor_sync(0x0000ffffu, value, 1);  // BUG: divergence
    y[threadIdx.x] = value;
}

// x (32) -> y (32): all lanes come, the mask names half of them
extern "C" __global__ void mask_names_half(const float* x, float* y)
{
    y[threadIdx.x] = __shfl_xor_sync(0x0000ffffu, x[threadIdx.x], 1);  // BUG: divergence
}

// x (32) -> y (32): some lanes shuffle while the rest vote
extern "C" __global__ void shuffle_meets_vote(const float* x, float* y)
{
    float value = x[threadIdx.x];
    if (threadIdx.x < 16)
        value += __shfl_xor_sync(0xffffffffu, value, 1);   // BUG: divergence
    else
        value += __ballot_sync(0xffffffffu, value > 0);    // BUG: divergence
    y[threadIdx.x] = value;
}

// x (32) -> y (32): a warp barrier after some lanes have left
extern "C" __global__ void warp_barrier_after_return(const float* x, float* y, int n)
{
    if (threadIdx.x >= n) return;
    y[threadIdx.x] = x[threadIdx.x];
    __syncwarp();  // BUG: divergence
}

// x (64) -> y (64): one warp at the block's barrier, the other in a shuffle that waits for a lane at the barrier
extern "C" __global__ void barrier_meets_shuffle(const float* x, float* y)
{
    float value = x[threadIdx.x];
    if (threadIdx.x % 2 == 0) __syncthreads();
    else value = __shfl_xor_sync(0xffffffffu, value, 2);  // BUG: divergence
    y[threadIdx.x] = value;
}

// ---------------------------------------------------------------------------------------------------- endless loops

// x (32) -> y (32): the step is forgotten
extern "C" __global__ void no_step(const float* x, float* y)
{
    int i = threadIdx.x;
    float sum = 0;
    while (i < 32) sum += x[i];  // BUG: endless loop
    y[threadIdx.x] = sum;
}

// flag (1): a thread waits for what nobody stores
extern "C" __global__ void waits_for_nobody(volatile int* flag)
{
    while (*flag == 0) {}  // BUG: endless loop
}
