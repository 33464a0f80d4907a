// What runtime.cpp (who runs when) and checks.cpp (who may touch what) share.
#pragma once
#include <stdio.h>
#include <string.h>
#include <algorithm>
#include <vector>
#include "cuda.h"  // last: its macros would disturb the library's headers

namespace emulator {

// Where in the kernel: an address of the program, which lies below this bit, or a line with this bit.
constexpr uint32_t is_a_line = 0x80000000;

// A moment in a launch: who did something, and what that thread had synchronised with by then.
struct Stamp {
    uint32_t pc, block, barrier, clock;  // block 0: never; barrier: block barriers passed; clock: warp barriers passed
    uint16_t thread;
    uint8_t bytes, atomic;  // which bytes of the cell; whether it was an atomic operation
};

struct Access {  // one thread's load or store, kept until its warp ends, then counted with its neighbours'
    uint64_t address;
    uint32_t pc;
    uint8_t size, region;
    bool write;
};

enum class State { ready, barrier, warp, done };

struct Thread {
    void* stack_pointer;
    uint3 index;
    unsigned number, lane, warp;
    State state;
    Site site;  // where it waits
    WarpOp op;
    unsigned mask;
    uint64_t value, result;
    int source;
    uint32_t seen[32];  // the clock of each lane of its warp that it has synchronised with; its own at its own lane
    std::vector<Access> accesses;
};

struct Block {
    uint3 index;
    uint32_t serial;  // from 1, in the order of running
    uint32_t barriers;
    bool fenced, acquired;
    unsigned threads, waiting, done;
};

enum class Space { global, shared };

struct Cell { Stamp write, read[2]; };

struct Region {  // memory that a kernel may touch: an argument, a shared array, the file's __device__ variables
    char name[64];
    char* begin;
    size_t size;
    unsigned granule;  // bytes watched together
    Space space;
    Cell* cells;       // one per granule (checked build)
    uint8_t* written;  // one per byte: holds a value since the block began (shared memory, checked build)
    bool holds(uint64_t address, size_t bytes) const {
        return address >= uint64_t(begin) && address + bytes <= uint64_t(begin) + size;
    }
};

extern Block block;
extern Thread* self;  // the running thread
extern std::vector<Thread> threads;
extern std::vector<Region> regions;
extern char *stacks_begin, *stacks_end;
bool own_stack(uint64_t address);

// Reports and ends the process. In the text, @hex stands for the line of that address.
[[noreturn]] void fault(const char* kind, Site site, uint32_t pc, const char* format, ...)
    __attribute__((format(printf, 4, 5)));

// checks.cpp
void checks_begin_launch(uint32_t blocks);
void checks_begin_block();
void checks_end_warp(unsigned warp);
void checks_report_uninitialised();
void checks_report();
extern uint32_t last_access;  // the address of the last load or store (checked build)
extern bool checked;  // was the kernel compiled with the checks' hooks?

}  // namespace emulator
