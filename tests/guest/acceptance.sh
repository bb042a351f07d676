# SPDX-License-Identifier: GPL-2.0-only
# README's "On your machine", after the reboot: look, switch, suspend, resume, look.
set -e
uname -r
lull status freeze
sed -i 's/^LULL_FREEZE=.*/LULL_FREEZE=lull/' /etc/default/lull
systemctl restart lull.service
rtcwake -m mem -s 20
lull status freeze
lull set freeze stock
lull status freeze | grep mode:
