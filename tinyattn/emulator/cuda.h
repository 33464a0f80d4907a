// What nvcc adds to C++, so that a C++ compiler can read a .cu file unchanged. Included before the file's first line.
// Everything that needs to know about other threads is declared here and defined in runtime.cpp.
#pragma once
#include <math.h>
#include <stddef.h>
#include <stdint.h>

// Not <stdio.h> and <string.h>: they would fill the kernel's namespace with names such as `index`.
extern "C" int printf(const char* format, ...);
extern "C" void* memcpy(void* to, const void* from, size_t bytes) noexcept;
extern "C" void* memset(void* to, int value, size_t bytes) noexcept;

// ---------------------------------------------------------------------------------------------- the words of CUDA
#define __global__
#define __device__
#define __host__
#define __constant__
// Shared arrays are thread-local variables: their symbols carry exact bounds and names. "used", or the compiler would take
// an array that no line writes for zeros, where a GPU has whatever was there.
#define __shared__ __attribute__((used)) thread_local
#define __launch_bounds__(...)
#define __grid_constant__
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __align__(n) __attribute__((aligned(n)))

struct uint3 { unsigned x, y, z; };
struct dim3 {
    unsigned x, y, z;
    dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
};

// Short vectors, aligned as on the GPU: a float4 is one 128-bit access.
#define VECTORS(type, name, align2, align4)                                                                     \
    struct name##1 { type x; };                                                                                 \
    struct alignas(align2) name##2 { type x, y; };                                                              \
    struct alignas(align4) name##4 { type x, y, z, w; };                                                        \
    inline name##1 make_##name##1(type x) { return {x}; }                                                       \
    inline name##2 make_##name##2(type x, type y) { return {x, y}; }                                            \
    inline name##4 make_##name##4(type x, type y, type z, type w) { return {x, y, z, w}; }
VECTORS(signed char, char, 2, 4)
VECTORS(unsigned char, uchar, 2, 4)
VECTORS(short, short, 4, 8)
VECTORS(unsigned short, ushort, 4, 8)
VECTORS(int, int, 8, 16)
VECTORS(unsigned, uint, 8, 16)
VECTORS(long long, longlong, 16, 16)
VECTORS(unsigned long long, ulonglong, 16, 16)
VECTORS(float, float, 8, 16)
VECTORS(double, double, 16, 16)
#undef VECTORS
struct float3 { float x, y, z; };
struct int3 { int x, y, z; };
inline float3 make_float3(float x, float y, float z) { return {x, y, z}; }
inline int3 make_int3(int x, int y, int z) { return {x, y, z}; }
inline uint3 make_uint3(unsigned x, unsigned y, unsigned z) { return {x, y, z}; }

// --------------------------------------------------------------------------------------- the doors to the runtime
namespace emulator {

struct Site { const char* file; int line; };
#define HERE emulator::Site site = {__builtin_FILE(), __builtin_LINE()}  // as a default argument: the caller's line

enum class WarpOp : int { sync, shuffle, ballot, match, add, min_, max_, umin, umax, and_, or_, xor_ };

// Declared const: within one thread the answer never changes, so the compiler asks once for a whole kernel.
uint3 thread_index() __attribute__((const));
uint3 block_index() __attribute__((const));
dim3 block_size() __attribute__((const));
dim3 grid_size() __attribute__((const));
int lane() __attribute__((const));

uint64_t barrier(int predicate, Site site);  // count of true predicates, once every thread of the block is here
uint64_t exchange(WarpOp op, unsigned mask, uint64_t value, int source, Site site);
unsigned active_lanes();
void fence();
void touch_atomic(void* address, size_t size, Site site);  // tells the checks of an atomic operation; lets others run
[[noreturn]] void trap(Site site);

constexpr uintptr_t dynamic_shared = 0x1000000000;  // where every launch finds its `extern __shared__` memory

template <class T> struct same { typedef T type; };
template <class T> uint64_t to_bits(T value) {
    static_assert(sizeof(T) <= 8, "a shuffle moves at most 8 bytes");
    uint64_t bits = 0;
    memcpy(&bits, &value, sizeof value);
    return bits;
}
template <class T> T from_bits(uint64_t bits) {
    T value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

// One thread runs at a time, so an atomic is a plain operation that the checker is told about.
template <class T, class F>
__attribute__((no_sanitize("thread", "undefined"), noinline)) T atomic(T* address, F change, Site site) {
    touch_atomic(address, sizeof(T), site);
    T old = *address;
    *address = change(old);
    return old;
}

template <class P> struct plain { typedef P type; };
template <class P> struct plain<const P> { typedef P type; };

// Calls a kernel with arguments that the launcher laid out as an array of pointers, each to one value.
template <size_t... I> struct Indices {};
template <size_t N, size_t... I> struct Count : Count<N - 1, N - 1, I...> {};
template <size_t... I> struct Count<0, I...> { typedef Indices<I...> type; };
template <class... P, size_t... I>
__attribute__((no_sanitize("thread"))) void call(void (*kernel)(P...), void** slots, Indices<I...>) {
    kernel(*(typename plain<P>::type*)slots[I]...);
}
template <class... P> void invoke(void (*kernel)(P...), void** slots) {
    call(kernel, slots, typename Count<sizeof...(P)>::type());
}
struct Entry { const char* name; void (*run)(void** slots); };

}  // namespace emulator

#define threadIdx (emulator::thread_index())
#define blockIdx (emulator::block_index())
#define blockDim (emulator::block_size())
#define gridDim (emulator::grid_size())
constexpr int warpSize = 32;

// --------------------------------------------------------------------------------------- barriers and warp votes
inline void __syncthreads(HERE) { emulator::barrier(0, site); }
inline int __syncthreads_count(int p, HERE) { return int(emulator::barrier(p != 0, site)); }
inline int __syncthreads_or(int p, HERE) { return emulator::barrier(p != 0, site) != 0; }
inline int __syncthreads_and(int p, HERE) { return emulator::barrier(p == 0, site) == 0; }
inline void __syncwarp(unsigned mask = 0xffffffffu, HERE) { emulator::exchange(emulator::WarpOp::sync, mask, 0, 0, site); }
inline void __threadfence() { emulator::fence(); }
inline void __threadfence_block() {}
inline void __threadfence_system() { emulator::fence(); }
inline unsigned __activemask() { return emulator::active_lanes(); }
inline void __trap(HERE) { emulator::trap(site); }
inline void __nanosleep(unsigned) {}

inline unsigned __ballot_sync(unsigned mask, int p, HERE) {
    return unsigned(emulator::exchange(emulator::WarpOp::ballot, mask, p != 0, 0, site));
}
inline int __any_sync(unsigned mask, int p, HERE) {
    return emulator::exchange(emulator::WarpOp::ballot, mask, p != 0, 0, site) != 0;
}
inline int __all_sync(unsigned mask, int p, HERE) {
    return emulator::exchange(emulator::WarpOp::ballot, mask, p == 0, 0, site) == 0;
}
template <class T> unsigned __match_any_sync(unsigned mask, T value, HERE) {
    return unsigned(emulator::exchange(emulator::WarpOp::match, mask, emulator::to_bits(value), 0, site));
}

// A lane reads its own value when the source falls outside its group of `width` lanes.
template <class T> T __shfl_sync(unsigned mask, T value, int source, int width = 32, HERE) {
    int from = (emulator::lane() & ~(width - 1)) + (source & (width - 1));
    return emulator::from_bits<T>(emulator::exchange(emulator::WarpOp::shuffle, mask, emulator::to_bits(value), from, site));
}
template <class T> T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32, HERE) {
    int lane = emulator::lane(), from = lane - int(delta);
    if (from < (lane & ~(width - 1))) from = lane;
    return emulator::from_bits<T>(emulator::exchange(emulator::WarpOp::shuffle, mask, emulator::to_bits(value), from, site));
}
template <class T> T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32, HERE) {
    int lane = emulator::lane(), from = lane + int(delta);
    if (from > (lane | (width - 1))) from = lane;
    return emulator::from_bits<T>(emulator::exchange(emulator::WarpOp::shuffle, mask, emulator::to_bits(value), from, site));
}
template <class T> T __shfl_xor_sync(unsigned mask, T value, int flip, int width = 32, HERE) {
    int lane = emulator::lane(), from = lane ^ flip;
    if (from > (lane | (width - 1))) from = lane;
    return emulator::from_bits<T>(emulator::exchange(emulator::WarpOp::shuffle, mask, emulator::to_bits(value), from, site));
}

#define REDUCE(name, type, op)                                                                                  \
    inline type name(unsigned mask, type value, HERE) {                                                         \
        return type(emulator::exchange(emulator::WarpOp::op, mask, uint64_t(int64_t(value)), 0, site));          \
    }
REDUCE(__reduce_add_sync, int, add)
REDUCE(__reduce_add_sync, unsigned, add)
REDUCE(__reduce_min_sync, int, min_)
REDUCE(__reduce_min_sync, unsigned, umin)
REDUCE(__reduce_max_sync, int, max_)
REDUCE(__reduce_max_sync, unsigned, umax)
REDUCE(__reduce_and_sync, unsigned, and_)
REDUCE(__reduce_or_sync, unsigned, or_)
REDUCE(__reduce_xor_sync, unsigned, xor_)
#undef REDUCE

// -------------------------------------------------------------------------------------------------------- atomics
#define ATOMIC(name, expression)                                                                                \
    template <class T> T name(T* address, typename emulator::same<T>::type value, HERE) {                       \
        return emulator::atomic(address, [=](T old) -> T { return expression; }, site);                         \
    }
ATOMIC(atomicAdd, old + value)
ATOMIC(atomicSub, old - value)
ATOMIC(atomicExch, value)
ATOMIC(atomicMin, value < old ? value : old)
ATOMIC(atomicMax, value > old ? value : old)
ATOMIC(atomicAnd, old & value)
ATOMIC(atomicOr, old | value)
ATOMIC(atomicXor, old ^ value)
ATOMIC(atomicInc, old >= value ? 0 : old + 1)
ATOMIC(atomicDec, old == 0 || old > value ? value : old - 1)
#undef ATOMIC
template <class T>
T atomicCAS(T* address, typename emulator::same<T>::type compare, typename emulator::same<T>::type value, HERE) {
    return emulator::atomic(address, [=](T old) -> T { return old == compare ? value : old; }, site);
}

// ----------------------------------------------------------------------------------------- arithmetic and loads
template <class A, class B> __attribute__((always_inline)) inline auto max(A a, B b) -> decltype(a + b) { return a < b ? b : a; }
template <class A, class B> __attribute__((always_inline)) inline auto min(A a, B b) -> decltype(a + b) { return b < a ? b : a; }
inline float max(float a, float b) { return fmaxf(a, b); }
inline float min(float a, float b) { return fminf(a, b); }
inline double max(double a, double b) { return fmax(a, b); }
inline double min(double a, double b) { return fmin(a, b); }

inline int __float_as_int(float x) { return emulator::from_bits<int>(emulator::to_bits(x)); }
inline unsigned __float_as_uint(float x) { return emulator::from_bits<unsigned>(emulator::to_bits(x)); }
inline float __int_as_float(int x) { return emulator::from_bits<float>(emulator::to_bits(x)); }
inline float __uint_as_float(unsigned x) { return emulator::from_bits<float>(emulator::to_bits(x)); }
inline long long __double_as_longlong(double x) { return emulator::from_bits<long long>(emulator::to_bits(x)); }
inline double __longlong_as_double(long long x) { return emulator::from_bits<double>(emulator::to_bits(x)); }
inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
inline int __clz(int x) { return x ? __builtin_clz(unsigned(x)) : 32; }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline unsigned __brev(unsigned x) {
    unsigned y = 0;
    for (int bit = 0; bit < 32; ++bit) y |= (x >> bit & 1) << (31 - bit);
    return y;
}
inline float rsqrtf(float x) { return 1.0f / sqrtf(x); }
inline double rsqrt(double x) { return 1.0 / sqrt(x); }
inline float __saturatef(float x) { return x > 0 ? (x < 1 ? x : 1.0f) : 0.0f; }

namespace emulator {
// The GPU's __expf is off by up to 2 + floor(|1.173 x|) units in the last place (CUDA programming guide). So is this
// one, up or down by a bit of x, so that a kernel that cannot bear the error shows it here.
inline float rough_expf(float x) {
    float error = (2.0f + floorf(fabsf(1.173f * x))) * 0x1p-24f;
    float exact = expf(x);
    if (!(error < 1e-3f)) return exact;  // far out the result is 0 or inf, and x may be inf itself
    return exact + exact * (__float_as_uint(x) * 2654435761u >> 31 ? error : -error);
}

// float16 by its bits, as cvt.f32.f16 and cvt.rn.f16.f32 convert it: to the nearest, ties to even, subnormals kept.
inline float half_to_float(unsigned short bits) {
    unsigned exponent = bits >> 10 & 31, fraction = bits & 1023;
    double size = exponent == 31 ? (fraction ? NAN : INFINITY)
                                 : exponent ? ldexp(1024 + fraction, int(exponent) - 25) : ldexp(fraction, -24);
    return float(bits >> 15 ? -size : size);
}
inline unsigned short float_to_half(float x) {
    unsigned sign = __float_as_uint(x) >> 16 & 0x8000;
    double size = fabs(double(x));
    if (size != size) return 0x7fff;
    if (size >= 65520) return sign | 0x7c00;  // halfway beyond the largest, 65504
    int exponent = size < 0x1p-14 ? -14 : ilogb(size);
    double steps = nearbyint(ldexp(size, 10 - exponent));  // of the spacing there
    return sign | (unsigned short)((exponent + 14) * 1024 + int(steps));
}
}  // namespace emulator
// Macros, because glibc declares functions of these names.
#define __expf(x) emulator::rough_expf(x)
#define __exp10f(x) emulator::rough_expf((x) * 2.302585093f)
#define __logf(x) logf(x)
#define __log2f(x) log2f(x)
#define __log10f(x) log10f(x)
#define __powf(x, y) powf(x, y)
#define __sinf(x) sinf(x)
#define __cosf(x) cosf(x)
#define __tanf(x) tanf(x)
#define __fdividef(x, y) ((x) / (y))
#define __frcp_rn(x) (1.0f / (x))
#define __fsqrt_rn(x) sqrtf(x)
#define __fadd_rn(x, y) ((x) + (y))
#define __fmul_rn(x, y) ((x) * (y))
#define __fdiv_rn(x, y) ((x) / (y))
#define __fmaf_rn(x, y, z) fmaf(x, y, z)

template <class T> T __ldg(const T* address) { return *address; }
template <class T> T __ldcs(const T* address) { return *address; }
template <class T> T __ldcg(const T* address) { return *address; }
template <class T> void __stcs(T* address, typename emulator::same<T>::type value) { *address = value; }
template <class T> void __stcg(T* address, typename emulator::same<T>::type value) { *address = value; }
