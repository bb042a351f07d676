/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the freezer, and the waits that it may freeze in place, call of Lull's
 * feature `thaw`.
 *
 * The freezer's hooks sit in kernel/freezer.c and kernel/power/process.c. Each
 * is nothing where the option is off, and a static branch not taken where the
 * mode is "stock" and nobody is frozen in another. The waits only carry one bit
 * more in the state they sleep in, whatever the mode: nobody looks at it but
 * the freezer.
 */
#ifndef _LINUX_LULL_THAW_H
#define _LINUX_LULL_THAW_H

#include <linux/fs.h>
#include <linux/jump_label.h>
#include <linux/lull_debug.h>
#include <linux/sched.h>
#include <linux/socket.h>
#include <linux/uio.h>
#include <linux/wait.h>

struct sk_buff;
struct sk_buff_head;
struct sock;

/*
 * TASK_FREEZABLE_PM, of linux/sched.h, beside TASK_INTERRUPTIBLE in a task's
 * state: the wait holds no lock, bears a spurious wakeup, and may be frozen in
 * place by the PM freezer. Unlike TASK_FREEZABLE it says nothing about a v1
 * cgroup's: while others run, an exclusive waiter that cannot must not be the
 * one who gets the wakeup.
 */

/* Safeguards that a test kernel can switch off, to see their tests fail. */
LULL_SAFEGUARDS(THAW, thaw, {
	LULL_THAW_SETTLE,	/* FZ8: the walk sees who came before it */
	LULL_THAW_REASONS,	/* FZ9: thaw nobody who has a reason left */
	/* FZ9: out of the queue, if a cgroup remains; FZ8: who exits goes */
	LULL_THAW_LEAVE,
	LULL_THAW_FLAG,		/* FZ9: who leaves its wait does not get to user mode */
	LULL_THAW_PM_ONLY,	/* FZ8: no cgroup freezes such a wait in place */
	LULL_THAW_SAVED,	/* FZ10: a wakeup meanwhile is remembered */
	LULL_THAW_VICTIM,	/* FZ11: a victim of the OOM killer may die */
	LULL_THAW_USER,	/* FZ12: only calls that hold no lock */
	LULL_THAW_TRACED,	/* who traces a switch is not told of the bit */
});

/*
 * What the mode "lull" consists of; nobody is thawed who has another reason to be
 * frozen, with either or none. They may change while tasks are frozen, as modes may.
 */
LULL_STEPS(THAW, thaw, {
	LULL_THAW_BY_REST,	/* PM freezes in place in more waits */
	LULL_THAW_BY_WALK,	/* no lock for who is not frozen, nor the list's */
});

#ifdef CONFIG_LULL_THAW

/* On in the mode "lull", and in "wake_all", which CONFIG_LULL_COMPARE adds. */
DECLARE_STATIC_KEY_FALSE(lull_thaw_on);
DECLARE_STATIC_KEY_FALSE(lull_thaw_all);

bool __lull_thaw_may_rest(struct task_struct *p);
bool __lull_thaw_may_thaw(struct task_struct *p);
void __lull_thaw_forget(struct task_struct *p);
void __lull_thaw_restored(void);
void lull_thaw_wake(struct task_struct *p);
bool lull_thaw_walk(void);

/*
 * In __set_task_frozen(), under freezer_lock and @p's pi_lock: may it be
 * frozen in the state it sleeps in?
 */
static inline bool lull_thaw_may_rest(struct task_struct *p, unsigned int state)
{
	return static_branch_unlikely(&lull_thaw_on) &&
	       lull_thaw_by(LULL_THAW_BY_REST) &&
	       (state & TASK_FREEZABLE_PM) && __lull_thaw_may_rest(p);
}

/*
 * Is it frozen in place by TASK_FREEZABLE_PM? Nobody else has both bits. Under
 * freezer_lock; then it stays so, asleep, and only its saved_state may change.
 */
static inline bool lull_thaw_rests(struct task_struct *p)
{
	return !(~READ_ONCE(p->__state) & (TASK_FROZEN | TASK_FREEZABLE_PM));
}

/*
 * In __thaw_task(), under freezer_lock, for a task that is frozen: false where
 * another reason to be frozen remains. Whom the mode "lull" has frozen in place
 * is asked for when that mode has been left, too: in its wait it looks for no
 * reason itself.
 */
static inline bool lull_thaw_may_thaw(struct task_struct *p)
{
	if (static_branch_unlikely(&lull_thaw_on) || lull_thaw_rests(p))
		return __lull_thaw_may_thaw(p);
	return true;
}

/* In __restore_freezer_state(), under @p's pi_lock, before it looks. */
static inline void lull_thaw_forget(struct task_struct *p)
{
	if (IS_ENABLED(CONFIG_LULL_COMPARE) &&
	    static_branch_unlikely(&lull_thaw_all))
		__lull_thaw_forget(p);
}

/* There, where it put @p back to sleep. */
static inline void lull_thaw_restored(void)
{
	if (static_branch_unlikely(&lull_thaw_on))
		__lull_thaw_restored();
}

/* In __schedule(), for who traces it: the state of the task that goes to sleep. */
static inline unsigned long lull_thaw_traced(unsigned long state)
{
	if (!lull_thaw_guarded(LULL_THAW_TRACED))
		return state;
	return state & ~TASK_FREEZABLE_PM;
}

#else /* !CONFIG_LULL_THAW */

static inline bool lull_thaw_may_rest(struct task_struct *p, unsigned int state)
{
	return false;
}

static inline bool lull_thaw_may_thaw(struct task_struct *p)
{
	return true;
}

static inline void lull_thaw_forget(struct task_struct *p) { }
static inline void lull_thaw_restored(void) { }
static inline unsigned long lull_thaw_traced(unsigned long state)
{
	return state;
}

static inline void lull_thaw_wake(struct task_struct *p)
{
	wake_up_state(p, TASK_FROZEN);
}

static inline bool lull_thaw_walk(void)
{
	return false;
}

#endif /* CONFIG_LULL_THAW */

/* What test kernels hold and spoil. */
#if defined(CONFIG_LULL_THAW) && defined(CONFIG_LULL_DEBUG)
void lull_thaw_debug_saved(struct task_struct *p);
void lull_thaw_debug_restore(struct task_struct *p);
void lull_thaw_debug_hold(void);
void lull_thaw_debug_begin(void);
#else
static inline void lull_thaw_debug_saved(struct task_struct *p) { }
static inline void lull_thaw_debug_restore(struct task_struct *p) { }
static inline void lull_thaw_debug_hold(void) { }
static inline void lull_thaw_debug_begin(void) { }
#endif

/*
 * Whether a read or a write comes straight from a system call that does just
 * that. splice() from a socket holds the mutex of the pipe it fills, and its
 * iterator is not user space's. io_submit() holds a reference that
 * io_destroy() waits for uninterruptibly, and its kiocb is not synchronous.
 */
static inline bool lull_thaw_direct(struct kiocb *iocb,
				    const struct iov_iter *iter)
{
	return (user_backed_iter(iter) && (!iocb || is_sync_kiocb(iocb))) ||
	       !lull_thaw_guarded(LULL_THAW_USER);
}

/* The state in which a read or a write of a file sleeps. */
static inline unsigned int lull_thaw_rw_state(struct kiocb *iocb,
					      const struct iov_iter *iter)
{
	if (TASK_FREEZABLE_PM && lull_thaw_direct(iocb, iter))
		return TASK_INTERRUPTIBLE | TASK_FREEZABLE_PM;
	return TASK_INTERRUPTIBLE;
}

/* The same where a message is received. */
static inline unsigned int lull_thaw_msg_state(const struct msghdr *msg)
{
	return lull_thaw_rw_state(msg->msg_iocb, &msg->msg_iter);
}

/*
 * skb_recv_datagram(), __skb_wait_for_more_packets() and sk_wait_data() in such
 * a state, which have callers that hold locks; net/core/{datagram,sock}.c.
 */
struct sk_buff *skb_recv_in_state(struct sock *sk, unsigned int flags, int *err,
				  unsigned int state);
int skb_wait_in_state(struct sock *sk, struct sk_buff_head *queue, int *err,
		      long *timeo_p, const struct sk_buff *skb,
		      unsigned int state);
int sk_wait_data_in_state(struct sock *sk, long *timeo,
			  const struct sk_buff *skb, unsigned int state);

/* wait_event_interruptible_exclusive() in such a state, decided once. */
#define lull_thaw_wait_exclusive(wq, condition, state)			\
({									\
	int __err = 0;							\
	might_sleep();							\
	if (!(condition)) {						\
		unsigned int __state = state;				\
									\
		__err = ___wait_event(wq, condition, __state, 1, 0,	\
				      schedule());			\
	}								\
	__err;								\
})

#endif /* _LINUX_LULL_THAW_H */
