# SPDX-License-Identifier: GPL-2.0-only
# The part of `desk` that runs in the guest; lull/real/files/driver.sh calls it.
# shellcheck shell=sh disable=SC2154

power=/sys/power
alarm=/sys/class/rtc/rtc0/wakealarm
delay=/sys/module/suspend/parameters/pm_test_delay
tracing=/sys/kernel/tracing
tasks='/proc/[0-9]*/task/[0-9]*/status'
hooks=/usr/lib/systemd/system-sleep
etc=/etc
kept=/srv/kept
mounts=/mnt

# When the machine's clock is to wake it: so many seconds from then.
ahead=

check() {
	how
	echo 0 >$tracing/tracing_on &&
		echo 1 >$tracing/events/power/suspend_resume/enable &&
		echo 'ret == -4' >$tracing/events/raw_syscalls/sys_exit/filter &&
		echo 1 >$tracing/events/raw_syscalls/sys_exit/enable ||
		fail "the kernel does not trace suspends and system calls"
	write_hook
	services
	ask_all
}

# To idle, down to the last phase of the devices, where pm_test turns back: from a whole
# one QEMU's clock wakes nobody. Without pm_test it is to RAM, and all the way.
how() {
	if [ -w $power/pm_test ]; then
		echo s2idle >$power/mem_sleep && echo platform >$power/pm_test &&
			echo 0 >$delay || fail "the kernel does not suspend to idle"
		return 0
	fi
	grep -qw mem $power/state && echo deep >$power/mem_sleep ||
		fail "the kernel does not suspend to RAM"
	[ -w $alarm ] || fail "there is no clock that wakes the machine"
	ahead=6
}

# systemd runs it last before it suspends, and first after that.
write_hook() {
	mkdir -p $hooks
	cat >$hooks/lull <<-END
		#!/bin/sh
		now() {
			grep -s -H -e ctxt_switches: -e ^VmSize: $tasks >$work/\$1
			:
		}
		case \$1 in
		pre)
			now before
			${ahead:+echo 0 >$alarm}
			echo 1 >$tracing/tracing_on
			${ahead:+echo +$ahead >$alarm}
			;;
		post)
			echo 0 >$tracing/tracing_on
			now after
			;;
		esac
	END
	chmod 755 $hooks/lull
}

services() {
	mkdir -p $kept $mounts/fuse $mounts/nfs
	echo "$kept 127.0.0.1(rw,fsid=0,no_root_squash,no_subtree_check)" >$etc/exports
	sed -i 's/^worker_processes.*/worker_processes 16;/' $etc/nginx/nginx.conf
	for unit in dbus opensmtpd nginx nfs-server; do
		systemctl start $unit || fail "$unit does not start" $unit
	done
	mount -t nfs4 -o vers=4.2 127.0.0.1:/ $mounts/nfs ||
		fail "NFS cannot be mounted" nfs-server
	start lull-fuse bindfs -f $kept $mounts/fuse
	until mountpoint -q $mounts/fuse; do wait_for "bindfs" lull-fuse; done
	tries=
	watched=$(systemctl show -p MainPID --value dbus)
	start lull-strace strace -qq -f -o "$work/strace" -p "$watched"
}

# start UNIT WORDS...: as a service, whose end is seen.
start() {
	name=$1
	shift
	systemd-run --quiet --unit="$name" "$@" || fail "$1 does not start" "$name"
}

switch() {
	features "$1"
}

prepare() {
	sleepers=$((p_sleepers / 5)) # a shell, tail, cat, ssh-agent, and sleep
	: >news
	for n in $(seq $sleepers); do
		: >"read.$n"
		start lull-tail-"$n" sh -c "tail -n 1 -f $work/news | cat >$work/read.$n"
		start lull-agent-"$n" ssh-agent -D -a "$work/agent.$n"
		start lull-sleep-"$n" sleep infinity
	done
	browser=$p_browser
	if [ "$browser" -gt 0 ]; then
		echo '<title>desk</title><p id=p>' >page.html
		start lull-browser -p "Environment=HOME=$work" chromium-headless-shell \
			--no-sandbox --disable-gpu --remote-debugging-port=9222 \
			"file://$work/page.html"
	fi
	ask_all
	sleep 5
}

finish() {
	ask_all
	ask_sleepers
	systemctl stop 'lull-tail-*' 'lull-agent-*' 'lull-sleep-*' lull-browser.service
	# Who ends with another status than 0 keeps its name until then.
	systemctl reset-failed
	browser=0
}

round() {
	sync
	echo >$tracing/trace
	rm -f before after
	seen=$(interrupted)
	done_=$(cat $power/suspend_stats/success)
	bad=$(cat $power/suspend_stats/fail)
	systemctl suspend >&2 || fail "systemctl suspend" systemd-suspend
	until [ "$(cat $power/suspend_stats/success)" -gt "$done_" ]; do
		[ "$(cat $power/suspend_stats/fail)" = "$bad" ] || fail \
			"the suspend failed: $(cat $power/suspend_stats/last_failed_step)" \
			systemd-suspend
		wait_for "a suspend" systemd-suspend
	done
	until [ "$(systemctl show -p ActiveState --value systemd-suspend)" = inactive ]; do
		wait_for "the end of a suspend" systemd-suspend
	done
	tries=
	[ -s before ] && [ -s after ] || fail "systemd has not run its hooks" systemd-suspend
	phases <$tracing/trace || fail "this is no trace of a suspend: $(tail -n 3 figures)"
	ran before after
	ask_all
	echo "eintr $(($(interrupted) - seen))"
}

# wait_for WHAT UNIT: a bit, of a minute in all.
wait_for() {
	tries=$((${tries:-300} - 1))
	[ $tries -gt 0 ] || fail "$1 is still waited for" "$2"
	sleep 0.2
}

# Calls of the watched daemon that have returned EINTR so far.
interrupted() {
	grep -c '= -1 EINTR' strace || :
}

# The phases of the trace, in ns. The sleep is from syscore_suspend to syscore_resume,
# in which the kernel reads the machine's clock: in QEMU that takes up to a second.
phases() {
	awk '
	/ sys_exit: .* = -4$/ { eintr++ }
	NF > 4 && $(NF - 2) == "suspend_resume:" {
		at = $(NF - 3) + 0
		name = $(NF - 1)
		sub(/\[.*/, "", name)
		if ($NF == "begin") {
			begun[name] = at
		} else if (name in begun) {
			took[name] = at - begun[name]
			ended[name] = at
		}
	}
	function ns(name, time) { printf "%s %.0f\n", name, time * 1e9 }
	function add(name) {
		if (!(name in took))
			missing = 1
		return took[name]
	}
	END {
		freeze = add("freeze_processes")
		down = add("dpm_suspend") + add("dpm_suspend_late") + add("dpm_suspend_noirq")
		up = add("dpm_resume_noirq") + add("dpm_resume_early") + add("dpm_resume")
		thaw = add("thaw_processes")
		if ("syscore_suspend" in begun) {
			add("syscore_suspend")
			add("syscore_resume")
			slept = ended["syscore_resume"] - begun["syscore_suspend"]
		}
		if (missing)
			exit 1
		ns("whole", ended["thaw_processes"] - begun["freeze_processes"] - slept)
		ns("freeze_processes", freeze)
		ns("suspend", down)
		ns("resume", up)
		if ("CPU_OFF" in took)
			ns("cpus", took["CPU_OFF"] + took["CPU_ON"])
		ns("thaw_processes", thaw)
		print "eintr_all", eintr + 0
	}'
}

# ran BEFORE AFTER: tasks of user space, that is with memory, which were there all the
# time, those of them whose count of switches has moved, and by how much.
ran() {
	awk -F: '
	FNR == 1 { file++ }
	$2 == "VmSize" { user[$1] = 1; next }
	file == 1 { was[$1] += $3; next }
	{ is[$1] += $3 }
	END {
		for (task in is) {
			if (!(task in was) || !(task in user))
				continue
			tasks++
			if (is[task] != was[task])
				ran++
			switches += is[task] - was[task]
		}
		print "tasks", tasks + 0
		print "ran", ran + 0
		print "switches", switches + 0
	}' "$1" "$2"
}

# Each service is asked a question; who does not answer is named.
ask_all() {
	busctl --quiet call org.freedesktop.DBus /org/freedesktop/DBus \
		org.freedesktop.DBus GetId || no_answer dbus
	loginctl --no-legend list-sessions >/dev/null || no_answer systemd-logind
	ask 25 '' ^220 || no_answer opensmtpd
	ask 80 'GET / HTTP/1.0\r\n\r\n' '200 OK' || no_answer nginx
	asked=$((${asked:-0} + 1))
	echo $asked >$mounts/fuse/fuse && [ "$(cat $kept/fuse)" = $asked ] ||
		no_answer bindfs lull-fuse
	echo $asked >$mounts/nfs/nfs && [ "$(cat $mounts/nfs/nfs)" = $asked ] ||
		no_answer nfs-server
	[ "${browser:-0}" = 0 ] ||
		ask 9222 'GET /json/version HTTP/1.1\r\nHost: localhost\r\n\r\n' Browser ||
		no_answer chromium-headless-shell lull-browser
	[ "$(systemctl is-active lull-strace)" = active ] ||
		fail "strace has ended" lull-strace
}

no_answer() {
	fail "$1 does not answer" "${2:-$1}"
}

# ask PORT WORDS PATTERN: whether an answer comes, a while after it was started, too.
ask() {
	again=150
	until timeout 60 bash -c 'exec 2>/dev/null 5<>/dev/tcp/127.0.0.1/"$0" &&
		printf "$1" >&5 && grep -q -m 1 "$2" <&5' "$@"; do
		again=$((again - 1))
		[ $again -gt 0 ] || return 1
		sleep 0.2
	done
}

# Every one of the sleepers does what it is there for.
ask_sleepers() {
	echo "so it is" >>news
	for n in $(seq $sleepers); do
		until grep -q "so it is" "read.$n"; do
			wait_for "a line by tail and cat" "lull-tail-$n"
		done
		tries=
		SSH_AUTH_SOCK=$work/agent.$n ssh-add -l >/dev/null && status=0 || status=$?
		[ $status = 1 ] || fail "ssh-agent does not answer" "lull-agent-$n"
		[ "$(systemctl is-active "lull-sleep-$n")" = active ] ||
			fail "sleep has ended" "lull-sleep-$n"
	done
}
