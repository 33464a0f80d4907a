// The checked build: the compiler is asked for the hooks of its thread, bounds and alignment sanitizers, and the hooks are
// ours. Every load and store of a kernel comes here first; nothing in the kernel's source changes.
#include <stdlib.h>
#include <sys/mman.h>
#include "runtime.h"

extern "C" char __data_start, _end;  // from the linker: where the file's own variables lie

namespace emulator {

bool checked;
uint32_t last_access;
void let_others_run();
static std::vector<uint8_t> published;  // per block: its stores were made visible by a fence and an atomic

// --------------------------------------------------------------------------------------------------------- where
static void watch(Region& region) {
    size_t cells = region.size / region.granule + 2;
    auto reserve = [](size_t bytes) {
        return mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    };
    region.cells = (Cell*)reserve(cells * sizeof(Cell));
    if (region.space == Space::shared) region.written = (uint8_t*)reserve(region.size + 1);
}

void checks_begin_launch(uint32_t blocks) {
    if (!checked) return;
    Region variables = {};
    snprintf(variables.name, sizeof variables.name, "a __device__ variable");
    variables.begin = &__data_start;
    variables.size = size_t(&_end - &__data_start);
    variables.granule = 4;
    regions.push_back(variables);
    for (Region& region : regions) watch(region);
    published.assign(blocks + 1, 0);
}

void checks_begin_block() {
    if (!checked) return;
    for (Region& region : regions)
        if (region.written) memset(region.written, 0, region.size);
}

static Region* find_region(uint64_t address, size_t size) {
    static Region* last = nullptr;
    if (last && last->holds(address, size)) return last;
    for (Region& region : regions)
        if (region.holds(address, size)) return last = &region;
    return nullptr;
}

[[noreturn]] static void out_of_bounds(uint64_t address, size_t size, bool write, uint32_t pc) {
    const char* what = write ? "writes" : "reads";
    if (address >= uint64_t(stacks_begin) && address < uint64_t(stacks_end))
        fault("out of bounds", {0, 0}, pc, "%s %zu bytes of another thread's local memory", what, size);
    const Region* nearest = nullptr;
    uint64_t least = ~uint64_t(0);
    for (const Region& region : regions) {
        uint64_t begin = uint64_t(region.begin), end = begin + region.size;
        uint64_t distance = address < begin ? begin - address : address >= end ? address - end : 0;
        if (distance < least) least = distance, nearest = &region;
    }
    if (!nearest || least > (1u << 30))
        fault("out of bounds", {0, 0}, pc, "%s %zu bytes at %#llx, which is in no argument of the launch", what, size,
              (unsigned long long)address);
    fault("out of bounds", {0, 0}, pc, "%s %zu bytes at byte %lld of `%s`, which has %zu bytes", what, size,
          (long long)(address - uint64_t(nearest->begin)), nearest->name, nearest->size);
}

// ---------------------------------------------------------------------------------------------------------- when
// Did `before` surely happen before what the running thread does now?
static bool ordered(const Stamp& before, Space space) {
    if (before.block == 0) return true;
    if (before.block != block.serial)
        return space == Space::shared || (published[before.block] && block.acquired);
    if (before.thread == self->number || before.barrier < block.barriers) return true;
    return before.thread / 32u == self->warp && self->seen[before.thread % 32] >= before.clock;
}

[[noreturn]] static void race(const Region& region, uint64_t address, const Stamp& before, const char* did, bool write, uint32_t pc) {
    const Thread& other = threads[before.thread];
    bool same_block = before.block == block.serial;
    fault("race", {0, 0}, pc, "%s byte %lld of `%s`, which thread (%u, %u, %u) of %s block %s at @%x; nothing orders the two",
          write ? "writes" : "reads", (long long)(address - uint64_t(region.begin)), region.name, other.index.x, other.index.y,
          other.index.z, same_block ? "the same" : "another", did, before.pc);
}

static void check_races(Region& region, uint64_t address, size_t size, bool write, bool atomic, uint32_t pc) {
    uint64_t offset = address - uint64_t(region.begin), granule = region.granule;
    Stamp now = {pc, block.serial, block.barriers, self->seen[self->lane], uint16_t(self->number), 0, atomic};
    for (uint64_t cell_begin = offset / granule * granule; cell_begin < offset + size; cell_begin += granule) {
        unsigned first = unsigned(cell_begin < offset ? offset - cell_begin : 0);
        unsigned last = unsigned(std::min(granule, offset + size - cell_begin));
        now.bytes = uint8_t((1u << last) - (1u << first));
        Cell& cell = region.cells[cell_begin / granule];
        const Stamp& writer = cell.write;
        if ((writer.bytes & now.bytes) && !(writer.atomic && atomic) && !ordered(writer, region.space))
            race(region, address, writer, "wrote", write, pc);
        if (write) {
            for (const Stamp& reader : cell.read)
                if ((reader.bytes & now.bytes) && !ordered(reader, region.space))
                    race(region, address, reader, "read", write, pc);
            cell.write = now;
        } else if (ordered(cell.read[0], region.space)) {
            cell.read[0] = now;
        } else if (ordered(cell.read[1], region.space) || cell.read[0].thread / 32 == cell.read[1].thread / 32) {
            cell.read[1] = now;  // of two unordered readers at least one races with any later writer
        }
    }
}

// ------------------------------------------------------------------------------------------------- each access
// The first read of shared memory that holds nothing yet. Reported at the next barrier: if a thread writes there
// before it, a barrier is missing, and that is the better thing to say.
struct Unwritten { Thread* thread; const Region* region; uint64_t address; uint32_t pc; };
static Unwritten unwritten;

constexpr uint64_t most_logged = 1 << 26;  // accesses of threads that have not ended: a gigabyte
static uint64_t logged;
static bool counted = true;

static void touch(uint64_t address, size_t size, bool write, bool atomic, uint32_t pc) {
    if (!self || own_stack(address)) return;
    last_access = pc;
    Region* region = find_region(address, size);
    if (!region) out_of_bounds(address, size, write, pc);
    if (region->written) {
        uint8_t* written = region->written + (address - uint64_t(region->begin));
        if (write) memset(written, 1, size);
        else if (!unwritten.thread && memchr(written, 0, size)) unwritten = {self, region, address, pc};
    }
    check_races(*region, address, size, write, atomic, pc);
    if (size <= 16 && logged < most_logged) {
        self->accesses.push_back({address, pc, uint8_t(size), uint8_t(region - regions.data()), write});
        ++logged;
    }
}

void checks_report_uninitialised() {
    if (!unwritten.thread) return;
    Unwritten found = unwritten;
    unwritten.thread = nullptr;
    self = found.thread;
    fault("uninitialised", {0, 0}, found.pc, "reads byte %lld of `%s`, which nothing has written in this block",
          (long long)(found.address - uint64_t(found.region->begin)), found.region->name);
}

void touch_atomic(void* address, size_t size, Site site) {
    let_others_run();
    if (!checked) return;
    if (uint64_t(address) % size)
        fault("misaligned", site, 0, "an atomic operation on %zu bytes at an address that is no multiple of %zu", size, size);
    if (block.fenced) published[block.serial] = 1;
    block.acquired = true;
    touch(uint64_t(address), size, true, true, uint32_t(site.line) | is_a_line);
}

// --------------------------------------------------------------------------------- what moved through the memory
// The accesses of a warp's lanes at one instruction, in the same turn of their loops, are one request. Global memory
// answers it in sectors of 32 bytes; shared memory in passes over 32 banks of 4 bytes. There is no cache here: the
// counts rank access patterns, they predict no time.
struct Traffic {
    uint32_t pc;
    uint8_t region;
    bool write;
    uint64_t requests, bytes, sectors, passes, extra_passes;
    std::vector<uint64_t> addresses[32];
    uint8_t size;
};
static std::vector<Traffic> traffic;

static Traffic& traffic_of(const Access& access) {
    static std::vector<uint32_t> table(4096);  // open addressing: index + 1 into traffic
    uint32_t key = (access.pc * 2654435761u >> 7) + access.region * 31u + access.write;
    for (uint32_t slot = key % 4096;; slot = (slot + 1) % 4096) {
        if (!table[slot]) {
            traffic.emplace_back();
            traffic.back().pc = access.pc;
            traffic.back().region = access.region;
            traffic.back().write = access.write;
            traffic.back().size = access.size;
            table[slot] = uint32_t(traffic.size());
        }
        Traffic& entry = traffic[table[slot] - 1];
        if (entry.pc == access.pc && entry.region == access.region && entry.write == access.write) return entry;
    }
}

static unsigned distinct(uint64_t* values, unsigned count) {
    std::sort(values, values + count);
    return unsigned(std::unique(values, values + count) - values);
}

static void count_request(Traffic& entry, const uint64_t* addresses, unsigned lanes) {
    uint64_t units[64];
    unsigned count = 0;
    entry.requests += 1;
    entry.bytes += uint64_t(lanes) * entry.size;
    if (regions[entry.region].space == Space::global) {
        for (unsigned i = 0; i < lanes; ++i) {
            uint64_t first = addresses[i] / 32, last = (addresses[i] + entry.size - 1) / 32;
            if (count == 0 || units[count - 1] != first) units[count++] = first;
            if (last != first) units[count++] = last;
        }
        entry.sectors += distinct(units, count);
        return;
    }
    unsigned together = 32 / std::max(1, entry.size / 4);  // 8-byte accesses go by half warps, 16-byte ones by quarters
    for (unsigned begin = 0; begin < lanes; begin += together) {
        unsigned per_bank[32] = {}, worst = 1;
        count = 0;
        for (unsigned i = begin; i < std::min(lanes, begin + together); ++i)
            for (unsigned word = 0; word * 4 < entry.size; ++word) units[count++] = addresses[i] / 4 + word;
        count = distinct(units, count);  // lanes that want the same word share it
        for (unsigned i = 0; i < count; ++i) worst = std::max(worst, ++per_bank[units[i] % 32]);
        entry.passes += worst;
        entry.extra_passes += worst - 1;
    }
}

void checks_end_warp(unsigned warp) {
    if (!checked) return;
    for (unsigned lane = 0; lane < 32 && warp * 32 + lane < threads.size(); ++lane) {
        std::vector<Access>& accesses = threads[warp * 32 + lane].accesses;
        for (const Access& access : accesses) {
            Traffic& entry = traffic_of(access);
            entry.addresses[lane].push_back(access.address);
        }
        if (logged >= most_logged) counted = false;
        logged -= accesses.size();
        accesses.clear();
    }
    for (Traffic& entry : traffic) {
        size_t turns = 0;
        for (const auto& addresses : entry.addresses) turns = std::max(turns, addresses.size());
        for (size_t turn = 0; turn < turns; ++turn) {
            uint64_t together[32];
            unsigned lanes = 0;
            for (const auto& addresses : entry.addresses)
                if (turn < addresses.size()) together[lanes++] = addresses[turn];
            count_request(entry, together, lanes);
        }
        for (auto& addresses : entry.addresses) addresses.clear();
    }
}

void checks_report() {
    if (!counted) fprintf(stderr, "uncounted\n");
    for (const Traffic& entry : traffic)
        fprintf(stderr, "traffic %x %d %d %llu %llu %llu %llu %s\n", entry.pc, entry.write, regions[entry.region].space == Space::shared,
                (unsigned long long)entry.requests, (unsigned long long)entry.bytes, (unsigned long long)entry.sectors,
                (unsigned long long)entry.extra_passes, regions[entry.region].name);
}

}  // namespace emulator

// ---------------------------------------------------------------------- the hooks that -fsanitize=thread calls
using namespace emulator;
#define CALLER uint32_t(uintptr_t(__builtin_return_address(0)))
#define HOOKS(size)                                                                                             \
    void __tsan_read##size(void* p) { touch(uint64_t(p), size, false, false, CALLER); }                         \
    void __tsan_write##size(void* p) { touch(uint64_t(p), size, true, false, CALLER); }                         \
    void __tsan_volatile_read##size(void* p) { touch(uint64_t(p), size, false, false, CALLER); }                \
    void __tsan_volatile_write##size(void* p) { touch(uint64_t(p), size, true, false, CALLER); }                \
    void __tsan_unaligned_read##size(void* p) { touch(uint64_t(p), size, false, false, CALLER); }               \
    void __tsan_unaligned_write##size(void* p) { touch(uint64_t(p), size, true, false, CALLER); }
extern "C" {
HOOKS(1)
HOOKS(2)
HOOKS(4)
HOOKS(8)
HOOKS(16)
void __tsan_read_range(void* p, size_t size) { touch(uint64_t(p), size, false, false, CALLER); }
void __tsan_write_range(void* p, size_t size) { touch(uint64_t(p), size, true, false, CALLER); }
void* __tsan_memcpy(void* to, const void* from, size_t size) {
    touch(uint64_t(from), size, false, false, CALLER);
    touch(uint64_t(to), size, true, false, CALLER);
    return memcpy(to, from, size);
}
void* __tsan_memset(void* to, int value, size_t size) {
    touch(uint64_t(to), size, true, false, CALLER);
    return memset(to, value, size);
}
void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit(void*) {}
void __tsan_vptr_update(void**, void*) {}

// ------------------------------------------------------------------ and those of -fsanitize=bounds,alignment
struct SourceLocation { const char* file; uint32_t line, column; };
struct TypeName { uint16_t kind, info; char name[1]; };
struct OutOfBounds { SourceLocation where; TypeName *array, *index; };
struct TypeMismatch { SourceLocation where; TypeName* type; uint8_t log_alignment, kind; };

void __ubsan_handle_out_of_bounds(OutOfBounds* data, void* index) {
    if (self) fault("out of bounds", {data->where.file, int(data->where.line)}, 0, "index %lld of an array of type %s",
                    (long long)index, data->array->name);
}
void __ubsan_handle_type_mismatch_v1(TypeMismatch* data, void* address) {
    if (self && address) fault("misaligned", {data->where.file, int(data->where.line)}, 0,
                    "%s is read or written at an address that is no multiple of %u", data->type->name, 1u << data->log_alignment);
}
}
