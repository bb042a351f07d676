# SPDX-License-Identifier: GPL-2.0-only
# The part of `containers` that runs in the guest; lull/real/files/driver.sh calls it.
# shellcheck shell=sh disable=SC2154

tracing=/sys/kernel/tracing
cgroups=/sys/fs/cgroup
expedited=/sys/kernel/rcu_expedited
mounts=/proc/mounts

check() {
	mkdir -p bundle/rootfs
	for place in dev proc sys; do mkdir -p bundle/rootfs/$place; done
	cp "$here/first" bundle/rootfs/first
	cp "$here/config.json" bundle/config.json
	# Nothing else is traced, so that nothing else is slowed down.
	echo cgroup_procs_write >$tracing/set_ftrace_filter &&
		echo 0 >$tracing/tracing_on &&
		echo function_graph >$tracing/current_tracer &&
		echo 8192 >$tracing/buffer_size_kb ||
		fail "the kernel does not trace cgroup_procs_write"
}

switch() {
	case $1 in
	lull) features lull ;;
	threadgroup) features stock && feature attach threadgroup ;;
	*) features stock ;;
	esac
	case $1 in
	favordynmods) dynmods favordynmods ;;
	*) dynmods nsdelegate ;;
	esac
	case $1 in
	expedited) echo 1 >$expedited ;;
	*) echo 0 >$expedited ;;
	esac
}

# A remount that names the source, too, takes away what it does not name.
dynmods() {
	mount -o "remount,nosuid,nodev,noexec,nsdelegate,memory_recursiveprot,$1" \
		cgroup2 $cgroups
	now=$(awk -v at=$cgroups '$2 == at && $3 == "cgroup2" { print $4 }' $mounts)
	case $1,$now in
	favordynmods,*favordynmods*) ;;
	favordynmods,* | *favordynmods*) fail "cgroup2 is mounted $now, not $1" ;;
	esac
}

prepare() {
	command -v "$p_runtime" >/dev/null || fail "there is no $p_runtime"
	case $p_runtime,$p_manager in
	crun,systemd | crun,cgroupfs) options="--cgroup-manager=$p_manager" ;;
	runc,systemd) options=--systemd-cgroup ;;
	runc,cgroupfs) options= ;;
	*) fail "no such runtime and manager: $p_runtime $p_manager" ;;
	esac
}

round() {
	settle
	serial=$((${serial:-0} + 1))
	echo >$tracing/trace
	echo 1 >$tracing/tracing_on
	# shellcheck disable=SC2086
	"$here/swarm" "$p_at" "$p_total" "$p_neighbours" 600 "lull-$serial" \
		"$p_runtime" $options run --bundle bundle ||
		fail "a container of $p_runtime did not run"
	echo 0 >$tracing/tracing_on
	writes <$tracing/trace
}

# How long each write took: the only calls that are traced, in microseconds. There may
# be none, of who is born where it belongs (CLONE_INTO_CGROUP).
writes() {
	awk '/ us +\|/ && /(cgroup_procs_write|}) *;?/ {
		for (i = 2; i <= NF; i++)
			if ($i == "us")
				printf "%.0f\n", $(i - 1) * 1000
	}' | sort -n | awk -v total="$p_total" '
	{ took[NR] = $1 }
	function place(share) {
		share *= NR
		return share > int(share) ? int(share) + 1 : share
	}
	END {
		print "writes", NR / total
		if (NR == 0)
			exit
		print "write_p50", took[place(0.5)]
		print "write_p99", took[place(0.99)]
		print "write_max", took[NR]
	}'
}

# systemd forgets a scope some time after its last process.
settle() {
	tries=100
	while systemctl list-units --all --plain --no-legend '*lull-*.scope' | grep -q .; do
		tries=$((tries - 1))
		[ $tries -gt 0 ] || fail "scopes of containers are left over"
		sleep 0.2
	done
	sleep 0.5
}

finish() {
	:
}
