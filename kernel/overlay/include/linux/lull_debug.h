/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What test kernels choose by name: safeguards to do without, and points to
 * wait at; and what kernels to measure with do: steps to go by. A feature has one
 * list of each in a header; it makes the enum, the names in debugfs and the test.
 * Without CONFIG_LULL_DEBUG, and CONFIG_LULL_COMPARE, nothing remains but the enum.
 */
#ifndef _LINUX_LULL_DEBUG_H
#define _LINUX_LULL_DEBUG_H

#include <linux/bits.h>
#include <linux/compiler.h>
#include <linux/types.h>

struct dentry;

/**
 * struct lull_choice - what somebody has chosen from a list
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

/**
 * LULL_STEPS - declare what the mode "lull" of a feature consists of
 * @_FEATURE: its name in upper case; the enumerators: LULL_<FEATURE>_BY_<NAME>
 * @_feature: its name
 * @...: the enumerators, in braces
 *
 * Gives enum lull_<feature>_step, and lull_<feature>_by(), which is true but
 * where somebody measures what the step brings: with CONFIG_LULL_COMPARE it is a
 * word read. What is done without a step has to be as right as with it. The steps
 * chosen are in force from the next lull_<feature>_take_steps() on, which
 * switch_mode() calls: so they change where a mode may change, and not between. A
 * .c file that only CONFIG_LULL_COMPARE has says LULL_DEFINE_STEPS().
 */
#define LULL_STEPS(_FEATURE, _feature, ...)				\
	enum lull_##_feature##_step __VA_ARGS__;			\
	static const char lull_##_feature##_step_list[] __maybe_unused = \
		#__VA_ARGS__;						\
	extern struct lull_choice lull_##_feature##_step_choice;	\
	extern u32 lull_##_feature##_steps;				\
	static inline bool						\
	lull_##_feature##_by(enum lull_##_feature##_step step)		\
	{								\
		return !IS_ENABLED(CONFIG_LULL_COMPARE) ||		\
		       !IS_ENABLED(CONFIG_LULL_##_FEATURE) ||		\
		       READ_ONCE(lull_##_feature##_steps) & BIT(step);	\
	}								\
	static inline void lull_##_feature##_take_steps(void)		\
	{								\
		if (IS_ENABLED(CONFIG_LULL_COMPARE) &&			\
		    IS_ENABLED(CONFIG_LULL_##_FEATURE))			\
			WRITE_ONCE(lull_##_feature##_steps,		\
				   READ_ONCE(lull_##_feature##_step_choice.chosen)); \
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

/**
 * LULL_DEFINE_STEPS - define what LULL_STEPS() declares
 * @_FEATURE: the feature's name in upper case
 * @_feature: its name
 *
 * All of them are chosen, and in force. lull_choice_file() wants
 * lull_<feature>_step_choice.
 */
#define LULL_DEFINE_STEPS(_FEATURE, _feature)				\
	u32 lull_##_feature##_steps __read_mostly = U32_MAX;		\
	struct lull_choice lull_##_feature##_step_choice = {		\
		.list = lull_##_feature##_step_list,			\
		.prefix = "LULL_" #_FEATURE "_BY_",			\
		.chosen = U32_MAX,					\
	}

#define LULL_DEFINE_CHOICE(_enum, _prefix)				\
	struct lull_choice _enum##_choice = {				\
		.list = _enum##_list,					\
		.prefix = _prefix,					\
	}

#endif /* _LINUX_LULL_DEBUG_H */
