# SPDX-License-Identifier: GPL-2.0-only
"""``python -m lull``."""

from lull.cli import main

if __name__ == "__main__":
    main()
