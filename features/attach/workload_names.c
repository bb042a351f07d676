// SPDX-License-Identifier: GPL-2.0-only
#include "inject.h"

INJECT_NAMES(attach);
