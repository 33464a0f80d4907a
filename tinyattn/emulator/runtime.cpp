// Runs one kernel launch: a block after another, the threads of a block as fibers that take turns at barriers.
// The launch is described on standard input (see process.py), faults and counts are reported on standard error.
#include <elf.h>
#include <link.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>
#if defined(__SSE__)
#include <xmmintrin.h>
#endif

#include "runtime.h"

extern "C" char __executable_start, etext;       // from the linker: where the program's code lies
extern const emulator::Entry emulator_kernels[];  // written by program.py after the kernels

namespace emulator {

Block block;
Thread* self;
std::vector<Thread> threads;
std::vector<Region> regions;
char *stacks_begin, *stacks_end;
static dim3 grid, block_shape;
static const Entry* kernel;
static void** arguments;

// ------------------------------------------------------------------------------------------------------- faults
static void print_address(uint32_t pc) {
    if (pc) fprintf(stderr, "pc %x\n", pc);
}

static void print_code_address(uintptr_t word) {  // what lies on a stack may be anything
    if (word >= uintptr_t(&__executable_start) && word < uintptr_t(&etext)) print_address(uint32_t(word));
}

void fault(const char* kind, Site site, uint32_t pc, const char* format, ...) {
    if (strcmp(kind, "race")) checks_report_uninitialised();  // which may be the cause, where a race says more
    fflush(stdout);
    fprintf(stderr, "fault %s\n", kind);
    if (self) {
        fprintf(stderr, "thread %u %u %u\n", self->index.x, self->index.y, self->index.z);
        fprintf(stderr, "block %u %u %u\n", block.index.x, block.index.y, block.index.z);
    }
    if (site.line) fprintf(stderr, "site %d %s\n", site.line, site.file);
    print_address(pc);
    fprintf(stderr, "text ");
    va_list values;
    va_start(values, format);
    vfprintf(stderr, format, values);
    va_end(values);
    fprintf(stderr, "\n");
    fflush(stderr);
    _exit(0);
}

void trap(Site site) { fault("trap", site, 0, "the kernel called __trap()"); }

// A crash or the time limit: the first addresses on the stack say where the thread was.
static void on_signal(int number, siginfo_t* info, void* context) {
    uintptr_t pc = 0, frame = 0, top = 0;
#if defined(__x86_64__)
    pc = ((ucontext_t*)context)->uc_mcontext.gregs[REG_RIP];
    frame = ((ucontext_t*)context)->uc_mcontext.gregs[REG_RBP];
    top = ((ucontext_t*)context)->uc_mcontext.gregs[REG_RSP];
#elif defined(__aarch64__)
    pc = ((ucontext_t*)context)->uc_mcontext.pc;
    frame = ((ucontext_t*)context)->uc_mcontext.regs[29];
#endif
    print_code_address(pc);
    for (int word = 0; word < 2 && own_stack(top + 15); ++word)  // a function that has just been entered has no frame yet
        print_code_address(((uintptr_t*)top)[word]);
    for (int depth = 0; depth < 8 && own_stack(frame) && own_stack(frame + 15); ++depth) {
        print_code_address(((uintptr_t*)frame)[1]);
        frame = ((uintptr_t*)frame)[0];
    }
    print_address(last_access);
    if (number == SIGPROF) fault("endless loop", {0, 0}, 0, "the launch did not end within its time limit");
    if (number == SIGFPE) fault("crash", {0, 0}, 0, "an integer is divided by zero");
    uintptr_t address = uintptr_t(info->si_addr);
    if (address >= uintptr_t(stacks_begin) && address < uintptr_t(stacks_end))
        fault("crash", {0, 0}, 0, "the thread's stack is used up, or a local array is overrun");
    fault("out of bounds", {0, 0}, 0, "the address %#lx belongs to no argument of the launch", (unsigned long)address);
}

// The limit is one of processor time: a busy machine does not make a loop endless.
static void catch_signals(double limit) {
    static char alternate[64 * 1024];
    stack_t stack = {};
    stack.ss_sp = alternate;
    stack.ss_size = sizeof alternate;
    sigaltstack(&stack, nullptr);
    struct sigaction action = {};
    action.sa_sigaction = on_signal;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    for (int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGPROF}) sigaction(number, &action, nullptr);
    itimerval timer = {};
    timer.it_value.tv_sec = long(limit);
    timer.it_value.tv_usec = long((limit - long(limit)) * 1e6) + 1;
    setitimer(ITIMER_PROF, &timer, nullptr);
}

// ------------------------------------------------------------------------------------------------------- fibers
// A switch saves the registers that a call must preserve on the stack that is left, and takes them from the other.
#if defined(__x86_64__) && !defined(EMULATOR_UCONTEXT)
extern "C" void switch_stack(void** leave, void* enter);
asm(R"(
.text
.globl switch_stack
.type switch_stack, @function
switch_stack:
    push %rbp
    push %rbx
    push %r12
    push %r13
    push %r14
    push %r15
    mov %rsp, (%rdi)
    mov %rsi, %rsp
    pop %r15
    pop %r14
    pop %r13
    pop %r12
    pop %rbx
    pop %rbp
    ret
.size switch_stack, . - switch_stack
)");

static void* prepare_stack(char* top, void (*entry)()) {
    void** stack = (void**)(uintptr_t(top) & ~uintptr_t(15)) - 2;
    stack[1] = nullptr;  // entry never returns; a null return address ends a stack walk
    stack[0] = (void*)entry;
    for (int i = 1; i <= 6; ++i) stack[-i] = nullptr;
    return stack - 6;
}
#else
static void switch_stack(void** leave, void* enter) {  // about ten times slower: it also saves the signal mask
    static ucontext_t scheduler;
    if (!*leave) *leave = &scheduler;
    swapcontext((ucontext_t*)*leave, (ucontext_t*)enter);
}

static void* prepare_stack(char* top, void (*entry)()) {
    ucontext_t* context = (ucontext_t*)(uintptr_t(top - sizeof(ucontext_t) - 64) & ~uintptr_t(63));
    getcontext(context);
    context->uc_stack.ss_sp = top - 128 * 1024;
    context->uc_stack.ss_size = (char*)context - (char*)context->uc_stack.ss_sp;
    context->uc_link = nullptr;
    makecontext(context, entry, 0);
    return context;
}
#endif

constexpr size_t stack_bytes = 256 * 1024;
static void* scheduler_stack;

static char* stack_of(unsigned number) { return stacks_begin + number * stack_bytes; }

bool own_stack(uint64_t address) {
    return self && address >= uint64_t(stack_of(self->number)) && address < uint64_t(stack_of(self->number) + stack_bytes);
}

static void yield() { switch_stack(&self->stack_pointer, scheduler_stack); }

static void finish_thread() {
    self->state = State::done;
    ++block.done;
}

static void thread_main() {
    kernel->run(arguments);
    finish_thread();
    yield();
}

static void make_stacks(unsigned count) {
    stacks_begin = (char*)mmap(nullptr, count * stack_bytes, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    stacks_end = stacks_begin + count * stack_bytes;
    for (unsigned i = 0; i < count; ++i) mprotect(stack_of(i), 4096, PROT_NONE);
}

// ----------------------------------------------------------------------------------------- what threads ask for
uint3 thread_index() { return self->index; }
uint3 block_index() { return block.index; }
dim3 block_size() { return block_shape; }
dim3 grid_size() { return grid; }
int lane() { return int(self->lane); }
void fence() { block.fenced = true; }

void let_others_run() {  // for a thread that waits for another's store in a loop
    static unsigned turns = 0;
    if (++turns % 1024 == 0) yield();
}

uint64_t barrier(int predicate, Site site) {
    self->state = State::barrier;
    self->site = site;
    self->value = predicate != 0;
    ++block.waiting;
    yield();
    return self->result;
}

static unsigned lanes_waiting[32];  // by warp: which lanes wait for the others of their mask

static unsigned warp_threads(unsigned warp) { return min(32u, block.threads - warp * 32); }

unsigned active_lanes() {
    unsigned lanes = 0;
    for (unsigned i = 0; i < warp_threads(self->warp); ++i)
        lanes |= unsigned(threads[self->warp * 32 + i].state != State::done) << i;
    return lanes;
}

static const char* name_of(WarpOp op) {
    switch (op) {
        case WarpOp::sync: return "__syncwarp";
        case WarpOp::shuffle: return "a shuffle";
        case WarpOp::ballot: return "a vote";
        case WarpOp::match: return "__match_any_sync";
        default: return "a warp reduction";
    }
}

static uint64_t reduce(WarpOp op, uint64_t a, uint64_t b) {
    int x = int(a), y = int(b);
    unsigned u = unsigned(a), v = unsigned(b);
    switch (op) {
        case WarpOp::add: return u + v;
        case WarpOp::min_: return uint64_t(min(x, y));
        case WarpOp::max_: return uint64_t(max(x, y));
        case WarpOp::umin: return min(u, v);
        case WarpOp::umax: return max(u, v);
        case WarpOp::and_: return u & v;
        case WarpOp::or_: return u | v;
        default: return u ^ v;
    }
}

// Every lane named in the mask has arrived: give each its answer.
static void complete(Thread* lanes, WarpOp op, unsigned mask) {
    if (op == WarpOp::sync) {
        uint32_t latest[32] = {};
        for (unsigned bits = mask; bits; bits &= bits - 1) {
            const uint32_t* seen = lanes[__builtin_ctz(bits)].seen;
            for (int i = 0; i < 32; ++i) latest[i] = max(latest[i], seen[i]);
        }
        for (unsigned bits = mask; bits; bits &= bits - 1) {
            Thread& thread = lanes[__builtin_ctz(bits)];
            memcpy(thread.seen, latest, sizeof latest);
            ++thread.seen[thread.lane];
        }
        return;
    }
    uint64_t common = 0;
    bool first = true;
    for (unsigned bits = mask; bits; bits &= bits - 1, first = false) {
        const Thread& thread = lanes[__builtin_ctz(bits)];
        if (op == WarpOp::ballot) common |= thread.value << thread.lane;
        else if (op != WarpOp::shuffle && op != WarpOp::match) common = first ? thread.value : reduce(op, common, thread.value);
    }
    for (unsigned bits = mask; bits; bits &= bits - 1) {
        Thread& thread = lanes[__builtin_ctz(bits)];
        thread.result = common;
        if (op == WarpOp::shuffle)  // the value of a lane that takes no part is undefined: all ones, a NaN
            thread.result = mask >> thread.source & 1 ? lanes[thread.source].value : ~uint64_t(0);
        if (op == WarpOp::match) {
            thread.result = 0;
            for (unsigned others = mask; others; others &= others - 1)
                thread.result |= uint64_t(lanes[__builtin_ctz(others)].value == thread.value) << __builtin_ctz(others);
        }
    }
}

uint64_t exchange(WarpOp op, unsigned mask, uint64_t value, int source, Site site) {
    Thread* lanes = &threads[self->warp * 32];
    unsigned present = warp_threads(self->warp);
    if (!(mask >> self->lane & 1))
        fault("divergence", site, 0, "lane %u calls %s with the mask %#x, which does not name it", self->lane, name_of(op), mask);
    if (present < 32) mask &= (1u << present) - 1;  // lanes that were never launched need not come
    self->op = op;
    self->mask = mask;
    self->value = value;
    self->source = source;
    self->site = site;
    self->state = State::warp;
    unsigned& waiting = lanes_waiting[self->warp];
    waiting |= 1u << self->lane;
    if ((waiting & mask) != mask) {
        yield();
        return self->result;
    }
    for (unsigned bits = mask; bits; bits &= bits - 1) {
        const Thread& other = lanes[__builtin_ctz(bits)];
        if (other.op != op || other.mask != mask)
            fault("divergence", site, 0, "%s with the mask %#x meets lane %u in %s with the mask %#x (line %d)", name_of(op),
                  mask, other.lane, name_of(other.op), other.mask, other.site.line);
    }
    complete(lanes, op, mask);
    waiting &= ~mask;
    for (unsigned bits = mask; bits; bits &= bits - 1) lanes[__builtin_ctz(bits)].state = State::ready;
    return self->result;
}

// ----------------------------------------------------------------------------------------------- the scheduler
enum class Order { forward, reverse, random };
static Order order;
static uint64_t random_state;

static uint64_t next_random() {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

static void arrange(std::vector<unsigned>& turns) {
    for (unsigned i = 0; i < turns.size(); ++i) turns[i] = order == Order::reverse ? unsigned(turns.size()) - 1 - i : i;
    if (order == Order::random)
        for (size_t i = turns.size(); i > 1; --i) std::swap(turns[i - 1], turns[next_random() % i]);
}

// No thread can go on. Either all are at one barrier, or some will never come.
static void release_barrier() {
    checks_report_uninitialised();
    const Thread* waiter = nullptr;
    uint64_t count = 0;
    for (Thread& thread : threads) {
        self = &thread;
        if (thread.state == State::warp) {
            for (unsigned bits = thread.mask; bits; bits &= bits - 1) {
                const Thread& other = threads[thread.warp * 32 + __builtin_ctz(bits)];
                if (other.state == State::done)
                    fault("divergence", thread.site, 0, "%s waits for lane %u, which has ended", name_of(thread.op), other.lane);
                if (other.state == State::barrier)
                    fault("divergence", thread.site, 0, "%s waits for lane %u, which waits in __syncthreads (line %d)",
                          name_of(thread.op), other.lane, other.site.line);
            }
            fault("divergence", thread.site, 0, "%s waits for lanes that wait elsewhere", name_of(thread.op));
        }
        if (thread.state != State::barrier) continue;
        if (!waiter) waiter = &thread;
        if (thread.site.line != waiter->site.line)
            fault("divergence", thread.site, 0, "thread (%u, %u, %u) waits at another __syncthreads (line %d)", waiter->index.x,
                  waiter->index.y, waiter->index.z, waiter->site.line);
        count += thread.value;
    }
    for (const Thread& thread : threads)
        if (thread.state == State::done) {
            self = const_cast<Thread*>(waiter);
            fault("divergence", waiter->site, 0, "__syncthreads waits for thread (%u, %u, %u), which has ended", thread.index.x,
                  thread.index.y, thread.index.z);
        }
    ++block.barriers;
    block.waiting = 0;
    for (Thread& thread : threads) {
        thread.state = State::ready;
        thread.result = count;
    }
}

static void run_block() {
    static std::vector<unsigned> turns(block.threads);
    static std::vector<unsigned> running(threads.size() / 32 + 1);
    block.barriers = block.waiting = block.done = 0;
    block.fenced = block.acquired = false;
    for (Region& region : regions)
        if (region.space == Space::shared) memset(region.begin, 0xff, region.size);  // all ones is a NaN
    checks_begin_block();
    std::fill(running.begin(), running.end(), 0);
    for (Thread& thread : threads) {
        // A little shift of each stack, or all of them would compete for the same few lines of the cache.
        char* top = stack_of(thread.number + 1) - thread.number % 61 * 64;
        thread.stack_pointer = prepare_stack(top, thread_main);
        thread.state = State::ready;
        memset(thread.seen, 0, sizeof thread.seen);
        thread.seen[thread.lane] = 1;
        ++running[thread.warp];
    }
    while (block.done < block.threads) {
        bool progress = false;
        arrange(turns);
        // Warp after warp, each several times in a row: its stacks are then still in the cache.
        for (size_t begin = 0; begin < turns.size(); begin += 32) {
            bool again = true;
            for (int round = 0; again && round < 64; ++round) {
                again = false;
                for (size_t i = begin; i < min(begin + 32, turns.size()); ++i) {
                    Thread& thread = threads[turns[i]];
                    if (thread.state != State::ready) continue;
                    again = progress = true;
                    self = &thread;
                    switch_stack(&scheduler_stack, thread.stack_pointer);
                    if (thread.state == State::done && --running[thread.warp] == 0) checks_end_warp(thread.warp);
                }
            }
        }
        if (!progress) release_barrier();
    }
    checks_report_uninitialised();
    self = nullptr;
}

static void run_launch() {
    uint64_t blocks = uint64_t(grid.x) * grid.y * grid.z;
    checks_begin_launch(uint32_t(blocks));
    make_stacks(block.threads);
    threads.resize(block.threads);
    for (unsigned i = 0; i < block.threads; ++i) {
        Thread& thread = threads[i];
        thread.number = i;
        thread.warp = i / 32;
        thread.lane = i % 32;
        thread.index = {i % block_shape.x, i / block_shape.x % block_shape.y, i / block_shape.x / block_shape.y};
    }
    // Random order walks the blocks with a stride that shares no factor with their number, so that each comes once.
    uint64_t stride = 1, start = 0;
    if (order == Order::random && blocks > 1) {
        start = next_random() % blocks;
        stride = next_random() % blocks | 1;
        auto divisor = [](uint64_t a, uint64_t b) { while (b) { uint64_t c = a % b; a = b; b = c; } return a; };
        while (divisor(stride, blocks) != 1) stride += 2;
    }
    for (uint64_t i = 0; i < blocks; ++i) {
        uint64_t linear = order == Order::reverse ? blocks - 1 - i : order == Order::random ? (start + i * stride) % blocks : i;
        block.serial = uint32_t(i + 1);
        block.index = {unsigned(linear % grid.x), unsigned(linear / grid.x % grid.y), unsigned(linear / grid.x / grid.y)};
        run_block();
    }
}

// ---------------------------------------------------------------------------------------- reading the launch
static int find_shared_memory(dl_phdr_info* info, size_t, void* result) {
    *(char**)result = (char*)info->dlpi_tls_data;
    return 1;  // the first is the program itself
}

static void add_region(const char* name, char* begin, size_t size, unsigned granule, Space space) {
    Region region = {};
    snprintf(region.name, sizeof region.name, "%s", name);
    region.begin = begin;
    region.size = size;
    region.granule = granule;
    region.space = space;
    regions.push_back(region);
}

static void read_launch(int memory, std::vector<void*>& slots) {
    static char line[4096];
    char word[16], name[512];
    char *base = nullptr, *shared = nullptr;
    dl_iterate_phdr(find_shared_memory, &shared);
    double limit = 60;
    while (fgets(line, sizeof line, stdin)) {
        unsigned long long a = 0, b = 0, c = 0;
        if (sscanf(line, "kernel %511s", name) == 1) {
            for (kernel = emulator_kernels; kernel->name && strcmp(kernel->name, name); ++kernel) {}
        } else if (sscanf(line, "grid %llu %llu %llu", &a, &b, &c) == 3) {
            grid = dim3(unsigned(a), unsigned(b), unsigned(c));
        } else if (sscanf(line, "block %llu %llu %llu", &a, &b, &c) == 3) {
            block_shape = dim3(unsigned(a), unsigned(b), unsigned(c));
            block.threads = unsigned(a * b * c);
        } else if (sscanf(line, "order %15s %llu", word, &a) == 2) {
            order = word[0] == 'f' ? Order::forward : word[1] == 'e' ? Order::reverse : Order::random;
            random_state = a * 2654435761u + 88172645463325252u;
        } else if (sscanf(line, "limit %lf", &limit) == 1) {
        } else if (sscanf(line, "checked %llu", &a) == 1) {
            checked = a;
        } else if (sscanf(line, "memory %llu %llu", &a, &b) == 2) {  // all arguments, with empty pages between them
            base = (char*)mmap((void*)a, b, PROT_NONE, MAP_SHARED | MAP_FIXED_NOREPLACE, memory, 0);
        } else if (sscanf(line, "array %llu %llu %llu %63s", &a, &b, &c, name) == 4) {
            char* page = base + (a & ~4095ull);
            mprotect(page, ((base + a + b - page) + 4095) & ~4095ull, PROT_READ | PROT_WRITE);
            add_region(name, base + a, b, unsigned(c), Space::global);
        } else if (sscanf(line, "dynamic %llu", &a) == 1) {
            mmap((void*)dynamic_shared, a ? a : 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
            add_region("dynamic_shared_memory", (char*)dynamic_shared, a, 2, Space::shared);
        } else if (sscanf(line, "shared %llu %llu %63s", &a, &b, name) == 3) {
            add_region(name, shared + a, b, 2, Space::shared);
        } else if (sscanf(line, "pointer %llu", &a) == 1) {
            slots.push_back(new void*((void*)a));
        } else if (sscanf(line, "value %llx", &a) == 1) {
            slots.push_back(new unsigned long long(a));
        }
    }
    catch_signals(limit);
}

}  // namespace emulator

int main(int, char** argv) {
    using namespace emulator;
    std::vector<void*> slots;
    read_launch(atoi(argv[1]), slots);
    arguments = slots.data();
#if defined(__SSE__)
    _mm_setcsr(_mm_getcsr() | 0x8040);  // subnormal float32 become zero, as with CuPy's -ftz=true
#endif
    run_launch();
    fflush(stdout);
    checks_report();
    fprintf(stderr, "done\n");
    fflush(stderr);
    _exit(0);
}
