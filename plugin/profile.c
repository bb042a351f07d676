// SPDX-License-Identifier: GPL-2.0-only
/*
 * The profile instrument: a TCG plugin that counts, between two marks in the
 * workload, the instructions and the locked read-modify-writes that are
 * executed in each function of the guest's kernel, by all virtual CPUs.
 *
 *	-plugin profile.so,symbols=System.map,begin=0x401234,end=0x401240,out=FILE
 *
 * The marks are addresses of functions in the probe, which is not relocatable.
 * FILE gets a line "windows N", then "instructions locked name" for each
 * function with a count. What is no kernel code counts as [user].
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "qemu_api.h"

EXPORT int qemu_plugin_version = QEMU_API;

#define KERNEL_START 0xffff800000000000ull
#define X86_INSN_MAX 15

struct count {
	uint64_t insns, locked;
};

/* Sorted by address; the first two stand for what has no symbol. */
enum { USER, OTHER, FIRST_SYMBOL };

static struct symbol {
	uint64_t address;
	char *name;
} *symbols;
static size_t nsymbols;

static uint64_t mark_begin, mark_end;
static const char *out_path;

/* Counted in all windows that have ended; and when the open one began. */
static struct count *totals, *base;
static unsigned int windows;
static bool open_window;

/*
 * In one array for all virtual CPUs: the insn clock runs them in one thread,
 * one after the other, so that no two of them count at a time.
 */
static struct count *counts;

#if QEMU_API < 2
static void count_insn(struct qemu_plugin_insn *insn, struct count *count, bool locked)
{
	qemu_plugin_register_vcpu_insn_exec_inline(insn, QEMU_PLUGIN_INLINE_ADD_U64,
						   &count->insns, 1);
	if (locked)
		qemu_plugin_register_vcpu_insn_exec_inline(insn, QEMU_PLUGIN_INLINE_ADD_U64,
							   &count->locked, 1);
}
#else
static void insn_executed(unsigned int vcpu, void *arg)
{
	struct count *count = arg;

	(void)vcpu;
	count->insns++;
}

static void locked_executed(unsigned int vcpu, void *arg)
{
	struct count *count = arg;

	insn_executed(vcpu, arg);
	count->locked++;
}

/*
 * By a call, though a counter on a scoreboard would need none: QEMU 10.0 and
 * newer break the guest with one where several virtual CPUs share a thread.
 * There the CPU's number is a constant of the translated code, and finding the
 * counter multiplies the constant itself with the size of a CPU's counters. In
 * code translated for CPU 1, each later 1 is then another number.
 */
static void count_insn(struct qemu_plugin_insn *insn, struct count *count, bool locked)
{
	qemu_plugin_register_vcpu_insn_exec_cb(insn, locked ? locked_executed : insn_executed,
					       QEMU_PLUGIN_CB_NO_REGS, count);
}
#endif

static void window_begins(unsigned int vcpu, void *arg)
{
	(void)vcpu;
	(void)arg;
	memcpy(base, counts, nsymbols * sizeof(*base));
	open_window = true;
}

static void window_ends(unsigned int vcpu, void *arg)
{
	(void)vcpu;
	(void)arg;
	if (!open_window)
		return;
	for (size_t i = 0; i < nsymbols; i++) {
		totals[i].insns += counts[i].insns - base[i].insns;
		totals[i].locked += counts[i].locked - base[i].locked;
	}
	open_window = false;
	windows++;
}

/* The function that an address is in: the last symbol that is not above it. */
static size_t function_of(uint64_t address)
{
	size_t low = FIRST_SYMBOL, high = nsymbols;

	if (address < KERNEL_START)
		return USER;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (symbols[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low == FIRST_SYMBOL ? OTHER : low - 1;
}

static bool is_prefix(uint8_t byte)
{
	switch (byte) {
	case 0x26: case 0x2e: case 0x36: case 0x3e: case 0x64: case 0x65:
	case 0x66: case 0x67: case 0xf0: case 0xf2: case 0xf3:
		return true;
	}
	return (byte & 0xf0) == 0x40;	/* REX */
}

/* A lock prefix, or xchg with memory, which has one by nature. */
static bool is_locked(const uint8_t *code, size_t size)
{
	size_t i;

	for (i = 0; i < size && is_prefix(code[i]); i++) {
		if (code[i] == 0xf0)
			return true;
	}
	return i + 1 < size && (code[i] == 0x86 || code[i] == 0x87) && code[i + 1] < 0xc0;
}

static bool insn_is_locked(const struct qemu_plugin_insn *insn)
{
	size_t size = qemu_plugin_insn_size(insn);
#if QEMU_API < 3
	return is_locked(qemu_plugin_insn_data(insn), size);
#else
	uint8_t code[X86_INSN_MAX + 1];

	size = qemu_plugin_insn_data(insn, code, size < sizeof(code) ? size : sizeof(code));
	return is_locked(code, size);
#endif
}

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	(void)id;
	for (size_t i = 0; i < qemu_plugin_tb_n_insns(tb); i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		uint64_t address = qemu_plugin_insn_vaddr(insn);

		if (address == mark_begin)
			qemu_plugin_register_vcpu_insn_exec_cb(insn, window_begins,
							       QEMU_PLUGIN_CB_NO_REGS, NULL);
		else if (address == mark_end)
			qemu_plugin_register_vcpu_insn_exec_cb(insn, window_ends,
							       QEMU_PLUGIN_CB_NO_REGS, NULL);
		/*
		 * By instruction and not by block: one that faults ends its
		 * block early, and the rest of it is not executed.
		 */
		count_insn(insn, &counts[function_of(address)], insn_is_locked(insn));
	}
}

static void write_out(qemu_plugin_id_t id, void *arg)
{
	FILE *file = fopen(out_path, "w");

	(void)id;
	(void)arg;
	if (!file) {
		fprintf(stderr, "profile: %s: %s\n", out_path, strerror(errno));
		return;
	}
	fprintf(file, "windows %u\n", windows);
	for (size_t i = 0; i < nsymbols; i++) {
		if (totals[i].insns)
			fprintf(file, "%llu %llu %s\n", (unsigned long long)totals[i].insns,
				(unsigned long long)totals[i].locked, symbols[i].name);
	}
	/* The lab takes a file without it for one that is cut short. */
	fprintf(file, "end\n");
	fclose(file);
}

static void add_symbol(uint64_t address, const char *name)
{
	static size_t room;

	if (nsymbols == room) {
		room = room ? 2 * room : 4096;
		symbols = realloc(symbols, room * sizeof(*symbols));
		if (!symbols)
			abort();
	}
	symbols[nsymbols].address = address;
	symbols[nsymbols].name = strdup(name);
	if (!symbols[nsymbols++].name)
		abort();
}

/* System.map is sorted by address: "ffffffff81000000 T _stext". */
static bool read_symbols(const char *path)
{
	unsigned long long address;
	char type, name[256], line[512];
	FILE *file = fopen(path, "r");

	if (!file)
		return false;
	add_symbol(0, "[user]");
	add_symbol(0, "[other]");
	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%llx %c %255s", &address, &type, name) != 3 ||
		    !strchr("tTwW", type))
			continue;
		/* Of several names for a place, the first. */
		if (symbols[nsymbols - 1].address != address)
			add_symbol(address, name);
	}
	fclose(file);
	return nsymbols > FIRST_SYMBOL;
}

static int refuse(const char *what, const char *which)
{
	fprintf(stderr, "profile: %s: %s\n", which, what);
	return -1;
}

EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info *info, int argc,
			       char **argv)
{
	const char *symbols_path = NULL;

	if (strcmp(info->target_name, "x86_64"))
		return refuse("this knows the locked instructions of x86_64 alone",
			      info->target_name);
	for (int i = 0; i < argc; i++) {
		char *value = strchr(argv[i], '=');

		if (!value)
			return refuse("no name=value", argv[i]);
		*value++ = '\0';
		if (!strcmp(argv[i], "symbols"))
			symbols_path = value;
		else if (!strcmp(argv[i], "begin"))
			mark_begin = strtoull(value, NULL, 0);
		else if (!strcmp(argv[i], "end"))
			mark_end = strtoull(value, NULL, 0);
		else if (!strcmp(argv[i], "out"))
			out_path = strdup(value);
		else
			return refuse("unknown", argv[i]);
	}
	if (!symbols_path || !mark_begin || !mark_end || !out_path)
		return refuse("all four are needed", "symbols, begin, end, out");
	if (!read_symbols(symbols_path))
		return refuse("no symbols of functions in it", symbols_path);

	counts = calloc(nsymbols, sizeof(*counts));
	totals = calloc(nsymbols, sizeof(*totals));
	base = calloc(nsymbols, sizeof(*base));
	if (!counts || !totals || !base)
		return refuse("no memory", symbols_path);
	qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
	qemu_plugin_register_atexit_cb(id, write_out, NULL);
	return 0;
}
