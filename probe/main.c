// SPDX-License-Identifier: GPL-2.0-only
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "init.h"
#include "job.h"
#include "knob.h"
#include "lull.h"
#include "out.h"
#include "perturb.h"
#include "util.h"
#include "workload.h"

#define PROBE_VERSION 1
#define INIT_JOB "/job"

static struct {
	const char *job;
	const char *output;
	bool suspends;
	bool init;
} options;

static unsigned int samples_written;
static unsigned int bad_checks;

static const char usage_text[] =
	"usage: lull-probe --job FILE [--output FILE] [--i-know-this-suspends]\n"
	"       lull-probe --list | --help\n"
	"\n"
	"Runs the workloads of a job and writes what it measured, one JSON object\n"
	"a line. Needs root. Puts back every setting it changes.\n"
	"\n"
	"  --job FILE       the job; - is standard input\n"
	"  --output FILE    where results go, instead of standard output\n"
	"  --list           the workloads with their parameters and defaults\n"
	"  --i-know-this-suspends\n"
	"                   allow writing to /sys/power/state: processes freeze for\n"
	"                   some milliseconds at a time\n"
	"  --help           this text\n"
	"\n"
	"Exit status: 0 done, 1 a check failed, 2 the job or an option is wrong,\n"
	"4 this machine lacks something, 125 anything else.\n";

int may_suspend(void)
{
	if (options.init || options.suspends)
		return 0;
	fail(STATUS_USAGE, "/sys/power/state", "this workload suspends the machine it runs on");
	return fail_hint("add --i-know-this-suspends if that is wanted here");
}

int report_check(const struct job_case *c, const char *name, bool ok, const char *text)
{
	bad_checks += !ok;
	out_begin("check");
	out_int("case", c->id);
	out_str("name", name);
	out_bool("ok", ok);
	out_str("text", text);
	return out_end();
}

unsigned int report_bad(void)
{
	return bad_checks;
}

static void report_problem(void)
{
	fprintf(stderr, "probe: %s\n", problem.what);
	if (problem.hint[0])
		fprintf(stderr, "probe: hint: %s\n", problem.hint);
	out_begin("error");
	out_str("what", problem.what);
	out_str("where", problem.where);
	out_str("hint", problem.hint);
	out_bool("unmet", problem.status == STATUS_UNMET);
	out_end();
}

static void hello_features(void)
{
	const char *last = "";
	struct modes modes;

	out_object("features");
	/* Workloads of one feature are linked together, so no name comes twice. */
	for_each_workload(w) {
		if (!strcmp(last, (*w)->feature))
			continue;
		last = (*w)->feature;
		lull_workload_modes(*w, &modes);
		out_array(last);
		for (unsigned int i = 0; i < modes.n; i++)
			out_str(NULL, modes.names[i]);
		out_close();
	}
	out_close();
}

static int hello(void)
{
	static const char clock[] =
		"/sys/devices/system/clocksource/clocksource0/current_clocksource";
	char source[64] = "";
	struct utsname uts;

	uname(&uts);
	read_file(clock, source, sizeof(source));
	source[strcspn(source, "\n")] = '\0';
	out_begin("hello");
	out_int("probe", PROBE_VERSION);
	out_str("kernel", uts.release);
	out_int("cpus", (uint64_t)sysconf(_SC_NPROCESSORS_ONLN));
	out_str("clocksource", source);
	hello_features();
	return out_end();
}

/* Whether this kernel can do what a word of the order asks for. */
static bool knows(const struct job_case *c, const char *word)
{
	if (job_steps(c, word))
		return lull_has_steps(c->feature);
	return lull_workload_has_mode(c->workload, word);
}

static int switch_to(const struct job_case *c, const char *word)
{
	const char *steps = job_steps(c, word);

	if (steps)
		return lull_switch_steps(c->feature, steps);
	return lull_workload_switch(c->workload, word);
}

/* Before anything runs: a typing error is not found after ten minutes. */
static int check_modes(const struct job *job)
{
	for (unsigned int i = 0; i < job->ncases; i++) {
		const struct job_case *c = &job->cases[i];
		char where[256];

		for (unsigned int k = 0; k < c->norder; k++) {
			if (knows(c, c->order[k]))
				continue;
			snprintf(where, sizeof(where), "%s:%u", job->name, c->order_line);
			return fail(STATUS_USAGE, where,
				    "line %u: this kernel has no mode '%s' of feature '%s'",
				    c->order_line, c->order[k], c->feature);
		}
	}
	return 0;
}

static int report_case(const struct job_case *c)
{
	out_begin("case");
	out_int("case", c->id);
	out_str("feature", c->feature);
	out_str("workload", c->workload->name);
	out_object("params");
	for (unsigned int i = 0; i < c->nparams; i++)
		out_auto(c->params[i].name, c->params[i].value);
	out_close();
	return out_end();
}

static void out_metrics(const char *key, const struct metric *m, unsigned int n)
{
	out_object(key);
	for (; n; n--, m++)
		out_num(m->name, m->sum / m->n);
	out_close();
}

static int report_sample(const struct job_case *c, unsigned int i, const char *mode,
			 const struct sample *s)
{
	samples_written++;
	out_begin("sample");
	out_int("case", c->id);
	out_int("i", i);
	out_str("mode", mode);
	if (s->nparams)
		out_metrics("params", s->params, s->nparams);
	out_metrics("metrics", s->metrics, s->nmetrics);
	return out_end();
}

static int run_round(const struct job_case *c, const char *mode, struct sample *s)
{
	memset(s, 0, sizeof(*s));
	if (check_interrupted() < 0 || switch_to(c, mode) < 0)
		return -1;
	return c->workload->round(c, mode, s) < 0 ? -1 : check_interrupted();
}

static int run_rounds(const struct job_case *c)
{
	unsigned int steps = c->workload->steps ? c->workload->steps(c) : 1;
	unsigned int i = 0;
	struct sample s;

	for (unsigned int step = 0; step < steps; step++) {
		if (c->workload->step && c->workload->step(c, step) < 0)
			return -1;
		for (unsigned int k = 0; !step && k < c->warmup; k++) {
			if (run_round(c, c->order[0], &s) < 0)
				return -1;
		}
		for (unsigned int k = 0; k < c->norder; k++, i++) {
			if (run_round(c, c->order[k], &s) < 0 ||
			    report_sample(c, i, c->order[k], &s) < 0)
				return -1;
		}
	}
	return 0;
}

static int set_up(const struct job_case *c)
{
	uint64_t begin = now_ns();
	char text[128];

	if (c->workload->setup(c) < 0)
		return -1;
	snprintf(text, sizeof(text), "case %u: set up in %llu ms", c->id,
		 (unsigned long long)(now_ns() - begin) / 1000000);
	out_begin("note");
	out_str("text", text);
	return out_end();
}

static int run_case(const struct job *job, const struct job_case *c)
{
	unsigned int mark = knob_mark();
	int ret;

	perturb_seed(job->seed, c->id);
	perturb_layout();
	ret = report_case(c);
	if (!ret)
		ret = set_up(c);
	if (!ret)
		ret = run_rounds(c);
	/* The machine of our own ends with the job, faster than we tidy it up. */
	if (!(options.init && c == &job->cases[job->ncases - 1]))
		c->workload->teardown();
	perturb_layout_end();
	if (knob_restore(mark) < 0)
		ret = -1;
	return ret;
}

static int check_root(void)
{
	if (geteuid() == 0)
		return 0;
	fail(STATUS_LACKING, "probe", "this needs root");
	return fail_hint("run it with sudo");
}

static int run_job(void)
{
	struct job job;

	/* The job first: whether it is right can be asked by anybody. */
	if (job_read(&job, options.job) < 0 || check_root() < 0)
		return -1;
	if (hello() < 0 || check_modes(&job) < 0)
		return -1;
	for (unsigned int i = 0; i < job.ncases; i++) {
		if (run_case(&job, &job.cases[i]) < 0)
			return -1;
	}
	return 0;
}

static enum status finish(void)
{
	bool ok = !problem.status && !bad_checks;

	if (problem.status)
		report_problem();
	out_begin("done");
	out_int("samples", samples_written);
	out_bool("ok", ok);
	if (out_end() < 0 && ok)
		return STATUS_FAILED;
	if (problem.status)
		return problem.status;
	return ok ? STATUS_OK : STATUS_CHECK_FAILED;
}

static void list_workloads(void)
{
	for_each_workload(w) {
		printf("%s %s", (*w)->feature, (*w)->name);
		for (const struct workload_param *p = (*w)->params; p && p->name; p++)
			printf(" %s=%s", p->name, p->value);
		printf("\n    %s\n", (*w)->text);
		if (!(*w)->switches)
			continue;
		printf("    switches");
		for (const char *const *name = (*w)->switches; *name; name++)
			printf(" %s", *name);
		printf("\n");
	}
}

/* For the tests: standard input as one JSON object, by way of out.c. */
static enum status selftest_json(void)
{
	char *text = read_whole("/dev/stdin");

	if (!text)
		return STATUS_FAILED;
	out_begin("note");
	out_str("text", text);
	out_auto("auto", text);
	free(text);
	return out_end() < 0 ? STATUS_FAILED : STATUS_OK;
}

static void usage_error(void)
{
	fprintf(stderr, "Try 'lull-probe --help'.\n");
	exit(STATUS_USAGE);
}

static void parse_options(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "job", required_argument, NULL, 'j' },
		{ "output", required_argument, NULL, 'o' },
		{ "list", no_argument, NULL, 'l' },
		{ "help", no_argument, NULL, 'h' },
		{ "i-know-this-suspends", no_argument, NULL, 's' },
		{ "selftest-json", no_argument, NULL, 'J' },
		{ 0 },
	};
	int opt;

	while ((opt = getopt_long(argc, argv, "hj:o:l", longs, NULL)) >= 0) {
		switch (opt) {
		case 'j':
			options.job = optarg;
			break;
		case 'o':
			options.output = optarg;
			break;
		case 's':
			options.suspends = true;
			break;
		case 'l':
			list_workloads();
			exit(STATUS_OK);
		case 'h':
			fputs(usage_text, stdout);
			exit(STATUS_OK);
		case 'J':
			exit(selftest_json());
		default:
			usage_error();
		}
	}
	if (optind < argc) {
		fprintf(stderr, "lull-probe: '%s' is not an option\n", argv[optind]);
		usage_error();
	}
	if (!options.job) {
		fprintf(stderr, "lull-probe: no --job given\n");
		usage_error();
	}
}

static void open_output(void)
{
	int fd;

	if (!options.output)
		return;
	fd = open(options.output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (fd < 0) {
		fprintf(stderr, "lull-probe: cannot write %s: %s\n", options.output,
			strerror(errno));
		exit(STATUS_USAGE);
	}
	out_open(fd);
}

static void start_as_init(void)
{
	int fd;

	options.init = true;
	options.job = INIT_JOB;
	init_start();
	fd = init_results();
	/* Without the port the console still tells a reader what happened. */
	if (fd >= 0)
		out_open(fd);
	else
		fprintf(stderr, "probe: no virtio port lull.results\n");
}

int main(int argc, char **argv)
{
	const struct applet *applet = applet_find(argc, argv);
	enum status status;

	if (applet)
		return applet->run(argc, argv);

	/* The kernel hands words of its command line to init: not for us. */
	if (init_is_us()) {
		start_as_init();
	} else {
		parse_options(argc, argv);
		open_output();
	}
	/* Orphans of a workload are ours to reap, also when we are not init. */
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	catch_interrupts();
	if (run_job() < 0 && !problem.status)
		fail(STATUS_FAILED, "probe", "failed without a reason: a bug of the probe");
	/* Cases restored theirs; this is for what was touched outside of one. */
	knob_restore(0);
	status = finish();
	if (options.init)
		init_power_off();
	return status;
}
