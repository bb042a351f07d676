# SPDX-License-Identifier: GPL-2.0-only
# The three ways in; the work itself is done by .venv/bin/lull and scripts/.

.PHONY: help setup run test clean

help:
	@echo "make run     set up what is missing, build the kernels, run all"
	@echo "             features (quick), print the table"
	@echo "make test    set up what is missing, run every test;"
	@echo "             ARGS='-m \"not vm\"' leaves out those that boot"
	@echo "make setup   only the set-up; the command is then .venv/bin/lull"
	@echo "make clean   remove .venv and the tools' caches (not the kernels)"

setup:
	@scripts/setup

# The lab starts makes of its own, which must not inherit this one's flags.
run: setup
	@env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL .venv/bin/lull run --quick $(ARGS)

test: setup
	@env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL scripts/test $(ARGS)

clean:
	rm -rf .venv .mypy_cache .pytest_cache .ruff_cache .hypothesis
