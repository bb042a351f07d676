# SPDX-License-Identifier: GPL-2.0-only
# The part of `kill` that runs in the guest; lull/real/files/driver.sh calls it.
# shellcheck shell=sh disable=SC2154

zram=/sys/block/zram0
zswap=/sys/module/zswap/parameters
meminfo=/proc/meminfo
socket=/run/lull-redis.sock
cgroups=/sys/fs/cgroup/system.slice

check() {
	[ -r /proc/pressure/memory ] || fail "the kernel has no PSI"
	modprobe zram && [ -d $zram ] || fail "the kernel has no zram"
	echo 512M >$zram/disksize && mkswap /dev/zram0 && swapon /dev/zram0 ||
		fail "there is no swap in zram"
	# Each page by itself, as for any swap in memory.
	echo 0 >/proc/sys/vm/page-cluster
}

switch() {
	case $1 in
	lull) features lull ;;
	*) features stock && feature zfree "$1" ;;
	esac
}

# Where pages go, and which file says how many are there.
prepare() {
	stat=$zram/mm_stat
	[ "${p_zswap:-0}" = 1 ] || return 0
	if [ ! -e $zswap/enabled ]; then
		lacks "the kernel has no zswap"
		return 0
	fi
	# What it is filled with has to fit, and what is in zsmalloc is as in zram.
	echo 50 >$zswap/max_pool_percent && echo zsmalloc >$zswap/zpool &&
		echo Y >$zswap/enabled || fail "zswap cannot be set up"
	stat=$meminfo
}

round() {
	serial=$((${serial:-0} + 1))
	unit=lull-redis-$serial.service
	base=$(stored)
	rm -f $socket
	systemd-run --quiet --unit="$unit" redis-server --port 0 --unixsocket $socket \
		--save "" --appendonly no --daemonize no ||
		fail "redis-server does not start" "$unit"
	answers
	"$here/fill" $socket new "$p_keys" "$p_keys" 4000 $serial ||
		fail "redis-server does not take its values" "$unit"
	swap_out
	for again in $(seq "$p_rounds"); do
		"$here/fill" $socket again "$p_keys" $((p_keys / 2)) 4000 "$serial$again" ||
			fail "redis-server does not take new values" "$unit"
		swap_out
	done
	alive
	"$here/killed" "$(systemctl show -p MainPID --value "$unit")" $stat \
		"$base" 120 || fail "redis-server was not killed" "$unit"
	systemctl reset-failed "$unit"
}

stored() {
	case $stat in
	$meminfo) awk '$1 == "Zswapped:" { print $2 * 1024 }' $stat ;;
	*) awk '{ print $1 }' $stat ;;
	esac
}

alive() {
	[ "$(systemctl is-active "$unit")" = active ] ||
		fail "redis-server has died" "$unit"
}

answers() {
	tries=300
	until [ -S $socket ]; do
		alive
		tries=$((tries - 1))
		[ $tries -gt 0 ] || fail "redis-server does not answer" "$unit"
		sleep 0.1
	done
}

# So much of it into swap; a bit more or less is all one can ask for.
swap_out() {
	tries=40
	while :; do
		alive
		here_=$(cat "$cgroups/$unit/memory.current")
		there=$(cat "$cgroups/$unit/memory.swap.current")
		more=$(((here_ + there) / 100 * p_share - there))
		[ $more -gt $(((here_ + there) / 100)) ] || return 0
		tries=$((tries - 1))
		[ $tries -gt 0 ] || fail "only $there bytes are in swap, $here_ are not" "$unit"
		# It says EAGAIN where it has found less.
		echo $more >"$cgroups/$unit/memory.reclaim" || :
	done
}

finish() {
	[ "${p_zswap:-0}" = 0 ] || echo N >$zswap/enabled
}
