# SPDX-License-Identifier: GPL-2.0-only
# fuse.pl MOUNTPOINT: a FUSE daemon that answers INIT, and then nobody: just enough of
# include/uapi/linux/fuse.h for a mount to be there.
use strict;
$0 = "stopfs";
$^F = 100;	# mount inherits the file
open(my $fuse, "+<", "/dev/fuse") or die "/dev/fuse: $!";
my $options = "fd=" . fileno($fuse) . ",rootmode=40000,user_id=0,group_id=0";
system("mount", "-i", "-t", "fuse.stopfs", "-o", $options, "stopfs", $ARGV[0]) == 0 or die;
while (sysread($fuse, my $request, 1 << 17)) {
	my (undef, $opcode, $unique) = unpack("L2 Q", $request);
	next if $opcode != 26;
	# struct fuse_init_out of minor 31: version, readahead, flags, queues, size...
	my $body = pack("L4 S2 L2 S2 L8", 7, 31, 0, 0, 8, 6, 4096, 1, (0) x 10);
	syswrite($fuse, pack("L l Q", 16 + length($body), 0, $unique) . $body);
	open(my $served, ">", "/tmp/served") or die;
}
