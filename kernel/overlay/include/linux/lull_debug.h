/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What test kernels choose by name: safeguards to do without, and points to
 * wait at. A feature has one list of either in a header; it makes the enum, the
 * names in debugfs and the test. Without CONFIG_LULL_DEBUG nothing remains but
 * the enum.
 */
#ifndef _LINUX_LULL_DEBUG_H
#define _LINUX_LULL_DEBUG_H

#include <linux/bits.h>
#include <linux/compiler.h>
#include <linux/types.h>

struct dentry;

/**
 * struct lull_choice - what a test has chosen from a list
 * @list: the enumerators, as the preprocessor gives them: "{ A, B, }"
 * @prefix: what all of them begin with, and their names lack
 * @chosen: a bit for each; there are no more of them
 */
struct lull_choice {
	const char *list;
	const char *prefix;
	u32 chosen;
};

void lull_choice_file(const char *name, struct dentry *dir,
		      struct lull_choice *choice);

/**
 * LULL_SAFEGUARDS - declare what a test kernel can do without
 * @_FEATURE: its name in upper case; the enumerators are LULL_<FEATURE>_<NAME>
 * @_feature: its name
 * @...: the enumerators, in braces
 *
 * Gives enum lull_<feature>_safeguard, and lull_<feature>_guarded(), which is
 * true but in a test of a test. A .c file that only test kernels have says
 * LULL_DEFINE_SAFEGUARDS().
 */
#define LULL_SAFEGUARDS(_FEATURE, _feature, ...)			\
	LULL_CHOICES(_FEATURE, lull_##_feature##_safeguard,		\
		     #__VA_ARGS__, __VA_ARGS__);			\
	static inline bool						\
	lull_##_feature##_guarded(enum lull_##_feature##_safeguard guard) \
	{								\
		return !lull_##_feature##_safeguard_is_chosen(guard);	\
	}								\
	struct lull_choice

/**
 * LULL_POINTS - declare where a test kernel can be made to wait
 * @_FEATURE: its name in upper case; the enumerators: LULL_<FEATURE>_AT_<NAME>
 * @_feature: its name
 * @...: the enumerators, in braces
 *
 * Gives enum lull_<feature>_point, and lull_<feature>_pauses_at(). A .c file
 * that only test kernels have says LULL_DEFINE_POINTS().
 */
#define LULL_POINTS(_FEATURE, _feature, ...)				\
	LULL_CHOICES(_FEATURE, lull_##_feature##_point,			\
		     #__VA_ARGS__, __VA_ARGS__);			\
	static inline bool						\
	lull_##_feature##_pauses_at(enum lull_##_feature##_point point)	\
	{								\
		return lull_##_feature##_point_is_chosen(point);	\
	}								\
	struct lull_choice

/* The last words take the semicolon. What is extern may be compiled out. */
#define LULL_CHOICES(_FEATURE, _enum, _text, ...)			\
	enum _enum __VA_ARGS__;						\
	static const char _enum##_list[] __maybe_unused = _text;	\
	extern struct lull_choice _enum##_choice;			\
	static inline bool _enum##_is_chosen(enum _enum which)		\
	{								\
		return IS_ENABLED(CONFIG_LULL_DEBUG) &&			\
		       IS_ENABLED(CONFIG_LULL_##_FEATURE) &&		\
		       READ_ONCE(_enum##_choice.chosen) & BIT(which);	\
	}								\
	struct lull_choice

/**
 * LULL_DEFINE_SAFEGUARDS - define what LULL_SAFEGUARDS() declares
 * @_FEATURE: the feature's name in upper case
 * @_feature: its name
 *
 * lull_choice_file() wants lull_<feature>_safeguard_choice.
 */
#define LULL_DEFINE_SAFEGUARDS(_FEATURE, _feature)			\
	LULL_DEFINE_CHOICE(lull_##_feature##_safeguard,			\
			   "LULL_" #_FEATURE "_")

/**
 * LULL_DEFINE_POINTS - define what LULL_POINTS() declares
 * @_FEATURE: the feature's name in upper case
 * @_feature: its name
 *
 * lull_choice_file() wants lull_<feature>_point_choice.
 */
#define LULL_DEFINE_POINTS(_FEATURE, _feature)				\
	LULL_DEFINE_CHOICE(lull_##_feature##_point,			\
			   "LULL_" #_FEATURE "_AT_")

#define LULL_DEFINE_CHOICE(_enum, _prefix)				\
	struct lull_choice _enum##_choice = {				\
		.list = _enum##_list,					\
		.prefix = _prefix,					\
	}

#endif /* _LINUX_LULL_DEBUG_H */
