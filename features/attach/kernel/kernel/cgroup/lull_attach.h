/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A write to cgroup.procs, cgroup.threads or tasks in the modes of Lull's
 * feature `attach` that lock only the thread groups that move. Included by
 * cgroup.c; v1's files come here, too.
 */
#include <linux/cpu.h>
#include <linux/ctype.h>
#include <linux/lull_attach.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#ifdef CONFIG_LULL_ATTACH

/*
 * How many PIDs one write takes: all of them move in one hold of cgroup_mutex,
 * and none of them forks or exits meanwhile.
 */
#define ATTACH_PIDS_MAX 64
/* How often a write looks a PID up before it locks out everybody, as stock. */
#define ATTACH_TRIES_MAX 3

/* cgroup.c makes its own trace points, and with them these. */
#include <trace/events/lull_attach.h>

/* One of the processes, or threads, that a write names. */
struct attach_target {
	char *end;			/* of its PID in the text */
	pid_t pid;			/* as written; 0 is the writer */
	struct pid *leads;		/* @pid, if it is @task's own */
	bool there;			/* nothing to do */
	bool locked;			/* its thread group is */
	struct task_struct *task;	/* a reference; the leader, if all move */
};

struct attach_write {
	struct kernfs_open_file *of;
	struct cgroup *dst;
	bool threadgroup;
	bool again;			/* a PID had become another task's */
	bool more;			/* the text has more PIDs than it takes */
	unsigned int locked;		/* how many of them, in the end */
	unsigned int nr;
	struct attach_target *targets;
};

#define for_each_target(t, w)						\
	for (t = (w)->targets; t < (w)->targets + (w)->nr; t++)

static struct lull_attach_group *group_of(struct attach_target *t)
{
	return &t->task->signal->lull_attach;
}

/**
 * __lull_attach_joins - can a task join another's cgroups without any lock?
 * @from: the other
 * @tsk: the task
 *
 * Who is in here neither forks nor execs nor exits, and cgroup_mutex keeps
 * other writers away. @from has to be in its cgroups: who is being made is in
 * none yet.
 */
bool __lull_attach_joins(struct task_struct *from, struct task_struct *tsk)
{
	lockdep_assert_held(&cgroup_mutex);
	if (tsk != current || list_empty_careful(&from->cg_list))
		return false;
	lull_attach_count(LULL_ATTACH_ALONE);
	return true;
}

/* Those that one write takes, of which there is one or more. */
static unsigned int count_words(const char *text, bool *more)
{
	bool capped = lull_attach_guarded(LULL_ATTACH_CAP);
	unsigned int nr = 0;

	*more = false;
	for (text = skip_spaces(text); *text; text = skip_spaces(text)) {
		if (capped && nr == ATTACH_PIDS_MAX) {
			*more = true;
			break;
		}
		nr++;
		while (*text && !isspace(*text))
			text++;
	}
	return nr;
}

/* In place; the first word must be a PID as stock takes it. */
static int parse_word(char *text, struct attach_target *t)
{
	char *end, ended_by;
	int ret;

	text = skip_spaces(text);
	for (end = text; *end && !isspace(*end); end++)
		;
	ended_by = *end;
	*end = '\0';
	ret = kstrtoint(text, 0, &t->pid);
	*end = ended_by;
	t->end = end;
	return ret || t->pid < 0 ? -EINVAL : 0;
}

static int parse_words(char *text, struct attach_write *w)
{
	struct attach_target *t;
	int ret;

	for_each_target(t, w) {
		ret = parse_word(text, t);
		if (ret)
			return ret;
		text = t->end;
	}
	return 0;
}

/*
 * Under RCU. What its PID is comes first: where another thread's exec takes the PID over
 * before the task is read, the task is that thread.
 */
static struct task_struct *look_up(struct attach_target *t, bool threadgroup)
{
	struct pid *pid = t->pid ? find_vpid(t->pid) : task_pid(current);
	struct task_struct *tsk = pid_task(pid, PIDTYPE_PID);
	struct task_struct *leader;

	t->leads = NULL;
	if (!tsk)
		return NULL;
	leader = threadgroup ? READ_ONCE(tsk->group_leader) : tsk;
	if (leader == tsk)
		t->leads = pid;
	return leader;
}

static void put_targets(struct attach_write *w)
{
	struct attach_target *t;

	for_each_target(t, w) {
		if (t->task)
			put_task_struct(t->task);
		t->task = NULL;
	}
}

static int find_targets(struct attach_write *w)
{
	struct attach_target *t;
	int ret = 0;

	rcu_read_lock();
	for_each_target(t, w) {
		struct task_struct *tsk = look_up(t, w->threadgroup);

		if (!tsk) {
			ret = -ESRCH;
			break;
		}
		/* As stock: a kthread that must stay where it is. */
		if (tsk->no_cgroup_migration || (tsk->flags & PF_NO_SETAFFINITY)) {
			ret = -EINVAL;
			break;
		}
		t->task = get_task_struct(tsk);
		t->there = false;
	}
	rcu_read_unlock();
	return ret;
}

/*
 * Most name a leader by its own PID, and it needs no look from the PID to the task: who
 * has that struct pid and leads its group is who would be found. A task that is reaped
 * has none. Any other PID is another thread's, or was: it is looked up again.
 */
static bool is_still_meant(struct attach_write *w, struct attach_target *t)
{
	struct pid *pid = t->leads;

	if (pid && READ_ONCE(t->task->thread_pid) == pid)
		return !w->threadgroup || thread_group_leader(t->task);
	return look_up(t, w->threadgroup) == t->task;
}

/*
 * Between the lookup and the lock, exec by another thread may have made that one
 * the leader, and the PID's; or the task was reaped, and the PID is free.
 */
static bool still_the_same(struct attach_write *w)
{
	struct attach_target *t;
	bool same = true;

	rcu_read_lock();
	for_each_target(t, w) {
		if (lull_attach_guarded(LULL_ATTACH_LEADER))
			same &= is_still_meant(w, t);
		else
			t->there |= !pid_alive(t->task);
	}
	rcu_read_unlock();
	return same;
}

/*
 * Stock's checks, with the credentials that the file was opened with. The task
 * has to be in its cgroup: locked, or found there.
 */
static int may_attach(struct attach_write *w, struct task_struct *task)
{
	const struct cred *cred = w->of->file->f_cred, *tcred, *saved;
	struct cgroup_file_ctx *ctx = w->of->priv;
	struct cgroup *src;
	int ret = 0;

	if (!cgroup_on_dfl(w->dst)) {
		tcred = get_task_cred(task);
		if (!uid_eq(cred->euid, GLOBAL_ROOT_UID) &&
		    !uid_eq(cred->euid, tcred->uid) &&
		    !uid_eq(cred->euid, tcred->suid))
			ret = -EACCES;
		put_cred(tcred);
		return ret;
	}

	spin_lock_irq(&css_set_lock);
	src = task_cgroup_from_root(task, &cgrp_dfl_root);
	spin_unlock_irq(&css_set_lock);
	saved = override_creds(cred);
	ret = cgroup_attach_permissions(src, w->dst,
					w->of->file->f_path.dentry->d_sb,
					w->threadgroup, ctx->ns);
	revert_creds(saved);
	return ret;
}

/* Under css_set_lock. */
static bool task_is_there(struct task_struct *tsk, struct cgroup *dst)
{
	lull_attach_count(LULL_ATTACH_LOOKED);
	/* As in a migration: who exits is not moved. */
	if (tsk->flags & PF_EXITING)
		return true;
	/* Being made: its css_set is not the one that it is going to have. */
	if (list_empty(&tsk->cg_list) && lull_attach_guarded(LULL_ATTACH_LINKED))
		return false;
	return task_cgroup_from_root(tsk, dst->root) == dst;
}

/*
 * Most are not there, which needs no lock to see: who is found elsewhere, or
 * nowhere, is locked and moved, and nobody is hurt if that was needless. Under
 * RCU.
 */
static bool is_elsewhere(struct task_struct *task, struct cgroup *dst)
{
	return cgroup_on_dfl(dst) && !(READ_ONCE(task->flags) & PF_EXITING) &&
	       task_dfl_cgroup(task) != dst;
}

/*
 * Are all threads where they are to go? They stay there until cgroup_mutex is
 * dropped: migration needs it, and new threads come to where one of them is.
 * They may come and go meanwhile, and the leader may change: hence no walk that
 * ends where it has begun. The first one that is not there is the answer.
 */
static bool all_threads_are_there(struct task_struct *task, struct cgroup *dst)
{
	struct task_struct *tsk;

	for_each_thread(task, tsk)
		if (!task_is_there(tsk, dst))
			return false;
	return true;
}

static bool is_there(struct attach_write *w, struct task_struct *task)
{
	bool there = false;

	rcu_read_lock();
	if (!is_elsewhere(task, w->dst)) {
		spin_lock_irq(&css_set_lock);
		there = w->threadgroup ? all_threads_are_there(task, w->dst) :
					 task_is_there(task, w->dst);
		spin_unlock_irq(&css_set_lock);
	}
	rcu_read_unlock();
	return there;
}

/* What has nothing to do; permissions are stock's all the same. */
static int skip_those_there(struct attach_write *w)
{
	struct attach_target *t;
	int ret = 0;

	for_each_target(t, w) {
		t->there = lull_attach_less() &&
			   lull_attach_by(LULL_ATTACH_BY_THERE) &&
			   is_there(w, t->task);
		if (!t->there)
			continue;
		ret = may_attach(w, t->task);
		if (ret)
			break;
		lull_attach_count(LULL_ATTACH_THERE);
	}
	return ret;
}

/* Stock's own case: a thread that moves itself alone does nothing else meanwhile. */
static bool needs_no_lock(struct attach_write *w, struct attach_target *t)
{
	return !t->pid &&
	       (!w->threadgroup || !lull_attach_guarded(LULL_ATTACH_SINGLE));
}

static void lock_groups(struct attach_write *w)
{
	struct attach_target *t;

	/* Before the groups' locks, as in cgroup_attach_lock(). */
	cpus_read_lock();
	lull_attach_round_begin();
	for_each_target(t, w) {
		t->locked = !t->there && !needs_no_lock(w, t);
		if (!t->locked)
			continue;
		w->locked++;
		lull_attach_group_lock(group_of(t));
	}
}

static void unlock_groups(struct attach_write *w)
{
	struct attach_target *t;

	for_each_target(t, w)
		if (t->locked)
			lull_attach_group_unlock(group_of(t));
	lull_attach_round_end();
	cpus_read_unlock();
}

static int move_target(struct attach_write *w, struct attach_target *t)
{
	if (!t->there)
		return cgroup_attach_task(w->dst, t->task, w->threadgroup);
	/* Stock's event is the same, whether there was something to do or not. */
	TRACE_CGROUP_PATH(attach_task, w->dst, t->task, w->threadgroup);
	return 0;
}

/* 0, an error if none was moved, else how much of the text is done. */
static ssize_t move_targets(struct attach_write *w, const char *text)
{
	const char *done = text;
	struct attach_target *t;
	int ret;

	for_each_target(t, w) {
		if (!t->there) {
			ret = may_attach(w, t->task);
			if (ret)
				return ret;
		}
	}
	for_each_target(t, w) {
		if (w->nr > 1)
			cond_resched();
		ret = move_target(w, t);
		if (ret)
			return done == text ? ret : done - text;
		done = t->end;
	}
	return w->more ? done - text : 0;
}

static bool all_are_there(struct attach_write *w)
{
	struct attach_target *t;

	for_each_target(t, w)
		if (!t->there)
			return false;
	return true;
}

static void after_migration(void)
{
	struct cgroup_subsys *ss;
	int ssid;

	for_each_subsys(ss, ssid)
		if (ss->post_attach)
			ss->post_attach();
}

/* Lock the groups of those that were found, and move them if they still are it. */
static ssize_t move_locked(struct attach_write *w, const char *text)
{
	bool puts_late = lull_attach_guarded(LULL_ATTACH_PUT);
	ssize_t ret = 0;

	lull_attach_pause(LULL_ATTACH_AT_LOCK);
	lock_groups(w);
	w->again = !still_the_same(w);
	if (!w->again)
		ret = move_targets(w, text);
	if (!puts_late)
		put_task_struct(w->targets->task);
	lull_attach_pause(LULL_ATTACH_AT_UNLOCK);
	unlock_groups(w);
	if (!puts_late)
		w->targets->task = NULL;
	return ret;
}

static ssize_t try_write(struct attach_write *w, const char *text)
{
	ssize_t ret;

	w->again = false;
	w->locked = 0;
	ret = find_targets(w);
	if (!ret) {
		ret = skip_those_there(w);
		if (!ret && all_are_there(w))
			ret = move_targets(w, text);
		else if (!ret)
			ret = move_locked(w, text);
		/* As on stock once there is a task, whatever came of it. */
		if (!w->again)
			after_migration();
	}
	/* Only now: the locks are in what a reference keeps. */
	put_targets(w);
	return ret;
}

/* As under this lock on stock: the count that is returned leaves the others out. */
static void take_one(struct attach_write *w)
{
	if (w->nr == 1 || !lull_attach_guarded(LULL_ATTACH_CAP))
		return;
	w->nr = 1;
	w->more = true;
}

/*
 * Stock's way: who forks, execs or exits is inside of the read side of this lock,
 * and what is looked up under it stays what it is. Programs that execute as fast
 * as they can would otherwise keep a writer here, and all others out.
 */
static ssize_t write_excluding_all(struct attach_write *w, const char *text)
{
	bool found;
	ssize_t ret;

	take_one(w);
	w->again = false;
	w->locked = 0;
	cgroup_attach_lock(true);
	ret = find_targets(w);
	found = !ret;
	if (found)
		ret = move_targets(w, text);
	cgroup_attach_unlock(true);
	if (found)
		after_migration();
	put_targets(w);
	return ret;
}

/*
 * On v1 the memory controller keeps the state of one move from can_attach() to
 * post_attach(), which runs without locks.
 */
static int take_many(struct attach_write *w, char *text)
{
	int ret;

	if (!lull_attach_less() || !lull_attach_by(LULL_ATTACH_BY_MANY) ||
	    !cgroup_on_dfl(w->dst))
		return -EINVAL;
	w->nr = count_words(text, &w->more);
	w->targets = kvcalloc(w->nr, sizeof(*w->targets), GFP_KERNEL);
	if (!w->targets)
		return -ENOMEM;
	ret = parse_words(text, w);
	if (ret)
		kvfree(w->targets);
	else
		lull_attach_count(LULL_ATTACH_BATCHES);
	return ret;
}

/**
 * lull_attach_write - move what a write to a cgroup's file names
 * @of: the file
 * @dst: its cgroup; cgroup_mutex is held
 * @buf: one PID; in the mode "lull", on v2, any number of them, with space
 *	between, of which the first ATTACH_PIDS_MAX are taken; one, where all who
 *	fork have to be kept out
 * @threadgroup: whole processes, not single threads
 *
 * All that are taken are looked up, locked and checked before the first is moved.
 * If a controller then refuses one, those before it have moved, and the short
 * count says so, as it does of those that were not taken.
 *
 * Return: 0 when all of it is done, an error when nothing is, else how many
 * bytes of @buf are.
 */
ssize_t lull_attach_write(struct kernfs_open_file *of, struct cgroup *dst,
			  char *buf, bool threadgroup)
{
	struct attach_target one = { };
	struct attach_write w = {
		.of = of,
		.dst = dst,
		.threadgroup = threadgroup,
		.nr = 1,
		.targets = &one,
	};
	unsigned int tries, max;
	ssize_t ret;

	lockdep_assert_held(&cgroup_mutex);
	ret = parse_word(buf, &one);
	if (ret)
		return ret;
	if (*skip_spaces(one.end)) {
		ret = take_many(&w, buf);
		if (ret)
			return ret;
	}

	ret = try_write(&w, buf);
	/* A test of a test looks more often, but comes to an end, too. */
	max = lull_attach_guarded(LULL_ATTACH_TRIES) ? ATTACH_TRIES_MAX :
						       10 * ATTACH_TRIES_MAX;
	for (tries = 1; w.again; tries++) {
		lull_attach_count(LULL_ATTACH_AGAIN);
		if (tries < max)
			ret = try_write(&w, buf);
		else
			ret = write_excluding_all(&w, buf);
	}

	trace_attach_write(cgroup_id(dst), w.nr, w.locked, ret);
	if (w.targets != &one)
		kvfree(w.targets);
	return ret;
}

#endif /* CONFIG_LULL_ATTACH */
