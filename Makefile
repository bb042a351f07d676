# SPDX-License-Identifier: GPL-2.0-only
# The ways in; the work itself is done by .venv/bin/lull and scripts/.

# What a proof is of, and what narrows or widens it.
BASE = 6.12
FEATURE =
SEEDS =
MINUTES = 60
# Each question has a file of its own, to be compared with its last answer.
empty =
of = $(subst $(empty) ,,$(addprefix -,$(filter-out 6.12,$(BASE)) $(sort $(1))))
# The default is not said, so that ARGS may name a base.
ON = $(if $(filter-out 6.12,$(BASE)),--base $(BASE))

# The lab starts makes of its own, which must not inherit this one's flags.
ENV = env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL

.PHONY: help setup setup-tests run test proof packages soak clean

help:
	@echo "make run     set up what is missing, build the kernel, run all"
	@echo "             features (quick); the answer on one screen, and a page"
	@echo "make test    every statement at a size that shows it, and all that"
	@echo "             boots nothing; what has passed is remembered:"
	@echo "             ARGS=--fresh forgets, ARGS='-m \"not vm\"' boots nothing"
	@echo "make proof   all at full size, and every figure; leaves proof.json,"
	@echo "             of another base proof-BASE.json, of a feature"
	@echo "             proof-FEATURE.json."
	@echo "             SEEDS=3: so many boots of what is random, and of figures"
	@echo "make packages  Debian's packages with Lull, for hours; they are"
	@echo "             installed as README says, and real programs run with them"
	@echo "make soak    new seeds for MINUTES=60; lull proofs has the counts"
	@echo "make setup   only the set-up; the command is then .venv/bin/lull"
	@echo "make clean   remove .venv and the tools' caches (not the kernels)"
	@echo "BASE=7.3     run, test, proof, packages and soak are of that kernel"
	@echo "FEATURE=attach  run, test, proof and soak are of that feature"

setup:
	@scripts/setup

setup-tests:
	@scripts/setup --tests

run: setup
	@$(ENV) .venv/bin/lull run $(FEATURE) --quick $(ON) $(addprefix --seeds ,$(SEEDS)) $(ARGS)

test: setup-tests
	@$(ENV) scripts/test $(ON) $(addprefix --seeds ,$(SEEDS)) $(addprefix --feature ,$(FEATURE)) \
		$(ARGS)

proof: setup-tests
	@$(ENV) scripts/test --size proof --proof proof$(call of,$(FEATURE)).json --base $(BASE) \
		$(addprefix --seeds ,$(SEEDS)) $(addprefix --feature ,$(FEATURE)) $(ARGS)

packages: setup-tests
	@$(ENV) scripts/test --packages --proof packages$(call of).json --base $(BASE) \
		$(ARGS)

soak: setup
	@$(ENV) .venv/bin/lull soak --minutes $(MINUTES) --base $(BASE) \
		$(FEATURE)

clean:
	rm -rf .venv .mypy_cache .pytest_cache .ruff_cache .hypothesis
