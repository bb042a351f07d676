// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "task.h"
#include "util.h"

char task_state(pid_t pid)
{
	char path[64], text[1024], *paren;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	if (read_file(path, text, sizeof(text)) <= 0)
		return 0;
	/* The name before it may itself have spaces and brackets. */
	paren = strrchr(text, ')');
	return paren && paren[1] == ' ' ? paren[2] : 0;
}

uint64_t task_sleeps(pid_t pid)
{
	static const char key[] = "\nvoluntary_ctxt_switches:";
	char path[64], text[4096], *at;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	if (read_file(path, text, sizeof(text)) <= 0)
		return 0;
	at = strstr(text, key);
	return at ? strtoull(at + strlen(key), NULL, 10) : 0;
}

bool task_comes_to(pid_t pid, const char *letters, unsigned int ms)
{
	for (unsigned int i = 0; i < ms && check_interrupted() >= 0; i++) {
		char state = task_state(pid);

		if (state && strchr(letters, state))
			return true;
		sleep_ms(1);
	}
	return false;
}

bool task_ends(pid_t *pid, unsigned int ms)
{
	for (unsigned int i = 0; *pid > 0 && i < ms && check_interrupted() >= 0; i++) {
		if (waitpid(*pid, NULL, WNOHANG))
			*pid = 0;
		else
			sleep_ms(1);
	}
	return *pid <= 0;
}
