// SPDX-License-Identifier: GPL-2.0-only
/*
 * Gives a Redis, by its socket, something to hold: COUNT values of SIZE bytes each,
 * which compress to about a half. With `again`, COUNT of the keys that are there,
 * drawn from SEED, get new values of half to one and a half of SIZE: what was
 * together is not any more.
 *
 *   fill SOCKET new|again KEYS COUNT SIZE SEED
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "measure.h"

#define BATCH 64		/* commands that are under way at once */
#define MOST (1 << 20)
/* Between its bind() and its listen() the socket is there and nobody answers. */
#define LISTENS_S 30
#define LOOK_US 10000

static uint64_t state;

static uint64_t draw(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

static void give(int to, const char *bytes, size_t count)
{
	while (count) {
		ssize_t done = write(to, bytes, count);

		if (done < 0)
			give_up("redis: write: %s", strerror(errno));
		bytes += done;
		count -= (size_t)done;
	}
}

/* Each command has the same answer. */
static void take(int from, unsigned int answers)
{
	static const char good[] = "+OK\r\n";
	size_t want = answers * (sizeof(good) - 1), have = 0;
	char said[BATCH * (sizeof(good) - 1)];

	while (have < want) {
		ssize_t done = read(from, said + have, want - have);

		if (done <= 0)
			give_up("redis: %s", done ? strerror(errno) : "it has gone");
		have += (size_t)done;
		if (said[0] != '+')
			give_up("redis: %.*s", (int)strcspn(said, "\r\n"), said);
	}
}

static void set(int to, uint64_t key, size_t size)
{
	static char text[MOST + 128];
	char name[32];
	size_t i, at;

	snprintf(name, sizeof(name), "key:%08" PRIu64, key);
	at = (size_t)sprintf(text, "*3\r\n$3\r\nSET\r\n$%zu\r\n%s\r\n$%zu\r\n",
			     strlen(name), name, size);
	for (i = 0; i < size; i++)
		text[at + i] = "as it was "[i % 10];
	for (i = 0; i + 16 <= size; i += 32) {
		uint64_t words[2] = { draw(), draw() };

		memcpy(text + at + i, words, sizeof(words));
	}
	memcpy(text + at + size, "\r\n", 2);
	give(to, text, at + size + 2);
}

static int open_to(const struct sockaddr_un *there)
{
	int redis = socket(AF_UNIX, SOCK_STREAM, 0);

	for (unsigned int looks = 0; redis >= 0; looks++) {
		if (!connect(redis, (const struct sockaddr *)there, sizeof(*there)))
			return redis;
		if (errno != ECONNREFUSED || looks == LISTENS_S * (1000000 / LOOK_US))
			break;
		usleep(LOOK_US);
	}
	give_up("redis does not answer: %s", strerror(errno));
}

int main(int argc, char **argv)
{
	struct sockaddr_un there = { .sun_family = AF_UNIX };
	uint64_t keys, count, size, i;
	int redis, again;

	if (argc != 7)
		give_up("fill SOCKET new|again KEYS COUNT SIZE SEED");
	again = !strcmp(argv[2], "again");
	keys = number(argv[3], "KEYS");
	count = number(argv[4], "COUNT");
	size = number(argv[5], "SIZE");
	state = number(argv[6], "SEED") * 0x9e3779b97f4a7c15ull + 1;
	if (!keys || !size || size > MOST / 2 || strlen(argv[1]) >= sizeof(there.sun_path))
		give_up("too much");
	strcpy(there.sun_path, argv[1]);
	redis = open_to(&there);
	for (i = 0; i < count; i++) {
		if (again)
			set(redis, draw() % keys, size / 2 + draw() % size);
		else
			set(redis, i % keys, size);
		if ((i + 1) % BATCH == 0)
			take(redis, BATCH);
	}
	take(redis, (unsigned int)(count % BATCH));
	return 0;
}
