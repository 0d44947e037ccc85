# SPDX-License-Identifier: Apache-2.0
# Meson and ninja do the work; this is the short front to them. `make help` lists the targets.

BUILD = build
SEED = 1
STEPS = 1000000
BENCHES = bench-fgd bench-steady bench-jct bench-philly bench-queues bench-backfill

.PHONY: all help deps build demo test soak lint format bench clean $(BENCHES)

all: ## build build/berth (installs nothing)
	@scripts/deps.sh --check build
	@$(MAKE) --no-print-directory build

help: ## this list
	@sed -n 's/^\([a-z -]*\):.*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 20
	@for b in $(BENCHES); do echo "  make $$b"; done

deps: ## install what building, testing and linting need
	@scripts/deps.sh build test lint
	@scripts/venv.sh

build: $(BUILD)/build.ninja
	@ninja -C $(BUILD) --quiet berth

$(BUILD)/build.ninja:
	@meson setup $(BUILD) >/dev/null || { cat $(BUILD)/meson-logs/meson-log.txt; exit 1; }

demo: ## the openb trace and a Philly week, beside the published numbers
	@scripts/deps.sh build
	@$(MAKE) --no-print-directory build
	@scripts/demo.sh

test: ## all tests, with both compilers and with sanitizers
	@scripts/deps.sh build test
	@scripts/venv.sh || true
	@scripts/test.sh

soak: ## a million steps of random worlds; SEED=, STEPS= for others
	@scripts/deps.sh build test
	@scripts/soak.sh $(SEED) $(STEPS)

lint: ## format, spelling, shell and sizes
	@scripts/deps.sh lint
	@scripts/lint.sh

format: ## put all C files into the house format
	@scripts/deps.sh lint
	@scripts/lint.sh --format

bench: ## placements a second at 1k, 10k and 100k nodes
	@scripts/deps.sh build
	@$(MAKE) --no-print-directory build
	@$(BUILD)/berth bench

$(BENCHES):
	@scripts/deps.sh build
	@$(MAKE) --no-print-directory build
	@scripts/$@.sh

clean: ## remove everything built
	rm -rf $(BUILD) $(BUILD)-*
