# SPDX-License-Identifier: GPL-2.0-only
# What the guest runs for a scenario: the job beside it, case by case, a round at a
# time. What it says are the lines of docs/contracts.md, but for the last, which
# lull-guest says. scenario.sh beside it has what is the scenario's own:
#
#   check         whether all is there, and what stays for all of the boot
#   prepare       before the rounds of a case; its parameters are in $p_NAME. Where
#                 the kernel has not what the case needs it says `lacks WHAT`
#   switch MODE   puts the machine into a mode, whatever it was in
#   round         prints `METRIC VALUE` lines
#   finish        after the rounds of a case
#
# Each may say `fail WHAT [UNIT]`, which names what is wrong and ends the job.
here=$PWD
work=$(mktemp -d) && cd "$work" || exit 1
log=$work/log
exec 3>&1 4<"$here/plan" >"$log" 2>&1

given=

# What is being done, for who names it.
at() {
	where=$1
	echo "$1" >where
}
at start

# As the inside of a JSON string.
quote() {
	LC_ALL=C sed 's/[^ -~]/?/g; s/["\\]/\\&/g' |
		awk '{ printf "%s%s", (NR > 1 ? "\\n" : ""), $0 }'
}

fail() {
	words=$({
		printf '%s\n' "$1"
		tail -n 5 "$log"
		echo "the journal's last lines${2:+ of $2}:"
		journalctl --no-pager -q -n 8 -o short ${2:+-u "$2"}
	} 2>&1 | quote)
	printf '{"t":"error","where":"%s","what":"%s"}\n' "$where" "$words" >&3
	exit 1
}

# What hangs is named, too, while the machine can still say so: the host would only see
# that nothing comes any more.
read -r limit <"$here/limit"
(
	sleep "$limit" 3>&-
	read -r where <where
	(fail "it has not ended after $limit s")
	kill -TERM $$
) &
watch=$!
trap 'kill $watch' EXIT

# The case is left out, and the others go on.
lacks() {
	printf '{"t":"left","case":%d,"why":"%s"}\n' "$case" "$(echo "$1" | quote)" >&3
	left=1
}

# A feature into a mode. Without Lull all are in stock.
feature() {
	file=/sys/module/lull/parameters/$1
	if [ ! -e "$file" ]; then
		[ "$2" = stock ] || fail "this kernel has no $1, which is to be in $2"
		return 0
	fi
	echo "$2" >"$file"
	[ "$(cat "$file")" = "$2" ] || fail "$1 is not in $2 but in $(cat "$file")"
}

features() {
	for one in attach devices freeze thaw zfree; do feature $one "$1"; done
}

# The machine has to be the one that the figures are said to be of.
same() {
	read -r release <"$here/release"
	now=$(uname -r)
	[ "$now" = "$release" ] || fail "the guest's kernel is $now, not $release"
	while read -r name version; do
		now=$(dpkg-query -W -f '${Version}' "$name" 2>/dev/null)
		[ "$now" = "$version" ] || fail \
			"the guest's image is another one: $name is ${now:-not there}, not $version"
	done <"$here/versions"
}

# The figures of a round as a sample.
sample() {
	awk '$2 !~ /^[0-9.eE+-]+$/ || NF != 2 { exit 1 }' figures ||
		fail "no figures: $(head -n 3 figures)"
	[ -s figures ] || fail "no figures"
	printf '{"t":"sample","case":%d,"i":%d,"mode":"%s","metrics":{%s}}\n' \
		"$case" "$i" "$mode" \
		"$(awk '{ printf "%s\"%s\":%s", (NR > 1 ? "," : ""), $1, $2 }' figures)" >&3
}

rounds() {
	at "case $case"
	left=0
	prepare
	[ $left = 0 ] || return 0
	first=$1
	while [ "$warmup" -gt 0 ]; do
		at "case $case, mode $first, before the first round"
		switch "$first"
		round >figures
		warmup=$((warmup - 1))
	done
	i=0
	for mode; do
		at "case $case, round $i, mode $mode"
		switch "$mode"
		round >figures
		sample
		i=$((i + 1))
	done
	at "case $case, after its rounds"
	switch stock
	finish
}

# shellcheck source=/dev/null
. "$here/scenario.sh"
printf '{"t":"hello","kernel":"%s","cpus":%d,"clocksource":"%s"}\n' "$(uname -r)" \
	"$(nproc)" \
	"$(cat /sys/devices/system/clocksource/clocksource0/current_clocksource)" >&3
same
# What Debian does once a day is not to be in a round.
systemctl stop '*.timer'
check
while read -r word rest <&4; do
	# shellcheck disable=SC2086
	set -- $rest
	case $word in
	case)
		case=$1 params=
		# Those of the case before are none of this one's.
		# shellcheck disable=SC2086
		unset $given
		given=
		printf '{"t":"case","case":%d,"feature":"%s","workload":"%s"' "$@" >case
		;;
	param)
		eval "p_$1=\$2"
		given="$given p_$1"
		case $2 in
		*[!0-9]*) value=\"$2\" ;;
		*) value=$2 ;;
		esac
		params=$params${params:+,}\"$1\":$value
		;;
	warmup) warmup=$1 ;;
	order) order=$rest ;;
	end)
		printf '%s,"params":{%s}}\n' "$(cat case)" "$params" >&3
		# shellcheck disable=SC2086
		rounds $order
		;;
	esac
done
