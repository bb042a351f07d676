# SPDX-License-Identifier: GPL-2.0-only
# What is wrong with a machine, one thing at a time, and what the collector sees of it:
# "== NAME" and a tar, packed and in base64, each. Beside it lie lull-probe and fuse.pl.
set -eu
probe=/tmp/lull-probe
cp lull-probe $probe
chmod 700 $probe
# Zombies count, too.
systemctl set-property --runtime lull-guest.service TasksMax=infinity
for mode in /sys/module/lull/parameters/*; do
	[ ! -w "$mode" ] || echo lull > "$mode"
done

# look NAME [OPTION...]
look() {
	name=$1
	shift
	$probe collect "$@" - > /tmp/seen.tar
	echo "== $name"
	gzip -1 < /tmp/seen.tar | base64
	echo "=="
}

# until_there COMMAND...: 300 s at most.
until_there() {
	tries=3000
	until "$@" > /dev/null 2>&1; do
		tries=$((tries - 1))
		[ $tries -gt 0 ] || { echo "never true: $*"; exit 1; }
		sleep 0.1
	done
}

# stuck PID FUNCTION: where it sleeps.
stuck() {
	until_there grep -q "$2" "/proc/$1/stack"
}

# write_to DEVICE: a block, on no way but that into its cache.
write_to() {
	dd if=/dev/zero of="/dev/$(ls "$1/block")" bs=4096 count=1 oflag=direct status=none
}

# Without pm_test there is only the whole way.
how=suspend
[ ! -e /sys/power/pm_test ] || how=devices
echo "how: $how"

look nothing

# Their parent says that it is ready when the last of them is dead.
perl -e '
	$0 = "hoarder";
	pipe(my $end, my $alive) or die;
	for (1 .. 5000) {
		my $pid = fork // die "fork: $!";
		exit 0 if !$pid;
	}
	close $alive;
	sysread $end, my $nothing, 1;
	open my $ready, ">", "/tmp/ready" or die;
	sleep;
' &
until_there test -e /tmp/ready
look zombies
kill -9 $!
until_there sh -c '! grep -q "^State:.Z" /proc/[0-9]*/status'

modprobe scsi_debug
disk=/sys/bus/pseudo/drivers/scsi_debug/adapter0
until_there sh -c "ls -d $disk/host*/target*/*/block/sd*"
udevadm settle
echo "slow: $(basename $disk/host*/target*/*:0)"
# To synchronise a cache that has something in it takes a 20th of that: 2 s.
write_to $disk/host*/target*/*:0
# Who looks at what was written would have to wait, and the freezer for who looks.
udevadm settle
echo 40 > /sys/bus/pseudo/drivers/scsi_debug/delay
look slow --measure $how --yes
# It takes no other while it is asked for anything.
until_there sh -c 'echo 1 > /sys/bus/pseudo/drivers/scsi_debug/delay'
modprobe -r scsi_debug

look suspended --measure freezer --measure suspend --yes

# At moments of all kinds; the watcher has put all back when the note is gone.
kills=0
while [ $how = devices ] && [ $kills -lt 40 ]; do
	what=freezer
	[ $((kills % 2)) = 0 ] || what=devices
	$probe collect --measure $what --times 100 --yes /tmp/killed.$kills > /dev/null 2>&1 &
	sleep "0.$(printf %02d $((kills * 37 % 100)))"
	kill -9 $!
	wait $! || true
	until_there test ! -e /var/lib/lull/doctor.note
	grep -q '\[none\]' /sys/power/pm_test
	[ "$(cat /sys/module/suspend/parameters/pm_test_delay)" = 5 ]
	[ ! -e /sys/kernel/tracing/instances/lull-doctor ]
	kills=$((kills + 1))
done
echo "kills: $kills"

mkdir -p /mnt/fuse /mnt/nfs
perl fuse.pl /mnt/fuse &
daemon=$!
until_there grep -q fuse.stopfs /proc/mounts
until_there test -e /tmp/served
kill -STOP $daemon
stat /mnt/fuse/file > /dev/null 2>&1 &
reader=$!
stuck $reader fuse
look fuse
kill -9 $daemon
wait $reader || true
umount -l /mnt/fuse || true

mkdir -p /srv/kept
echo "/srv/kept 127.0.0.1(rw,fsid=0,no_root_squash,no_subtree_check)" > /etc/exports
systemctl start nfs-server
mount -t nfs4 -o vers=4.2,hard,timeo=50 127.0.0.1:/ /mnt/nfs
rpc.nfsd 0
stat /mnt/nfs/file > /dev/null 2>&1 &
reader=$!
stuck $reader rpc
look nfs
kill -9 $reader
wait $reader || true
umount -f -l /mnt/nfs

# The disk that QEMU lets fail: what is in its cache cannot be written.
broken=$(echo /sys/bus/scsi/devices/*:5:0)
echo "broken: $(basename "$broken")"
write_to "$broken"
look aborting --measure $how --yes
echo mem > /sys/power/state || true
look aborted
