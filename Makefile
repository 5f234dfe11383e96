# Everything runs from the project's own .venv; versions are those of constraints.txt.
#   make demo                 set up what is missing, then train, evaluate and report
#   make test                 set up what is missing, then run all tests
#   make install EXTRAS=a,b   the set-up alone, with optional parts (EXTRAS=alfworld)
#   make lint                 ruff and mypy
#   make serve                Prefect server, work pool and worker (Ctrl-C ends all three)
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
EXTRAS ?=
# For another build of PyTorch: make install TORCH_INDEX=https://download.pytorch.org/whl/cpu
TORCH_INDEX ?=
RUN ?= demo
SET ?=

comma := ,
STAMP := $(VENV)/.installed$(if $(EXTRAS),-$(subst $(comma),-,$(EXTRAS)))
TORCH := $(shell grep -E '^torch==' constraints.txt)
UV := $(shell grep -E '^uv==' constraints.txt)
INSTALL = $(BIN)/uv pip install --quiet --python $(BIN)/python -c constraints.txt \
  --compile-bytecode -e ".[dev$(if $(EXTRAS),$(comma)$(EXTRAS))]"
# The extra alfworld holds C++ and C source. Offline, uv takes the wheels that it built before;
# online it builds them anew where the registry sets no expiry.
ENGINE := $(filter alfworld,$(subst $(comma), ,$(EXTRAS)))

.DELETE_ON_ERROR:
.PHONY: install demo test lint serve

install: $(STAMP)
	@echo "==> installed in $(VENV); try: $(BIN)/trajevolve doctor"

$(VENV)/.torch: constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "error: $(PYTHON) is older than 3.11; give one with make PYTHON=python3.11"; exit 1; }
	@echo "==> creating $(VENV) with $$($(PYTHON) --version)"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "==> installing $(TORCH) and $(UV) with pip (the largest download)"
	@$(BIN)/python -m pip install --quiet $(if $(TORCH_INDEX),--extra-index-url $(TORCH_INDEX)) \
	  "$(TORCH)" "$(UV)"
	@touch $@

$(STAMP): $(VENV)/.torch pyproject.toml setup.py constraints.txt
	@echo "==> installing TrajEvolve and the pinned packages with uv$(if $(EXTRAS), (extras: $(EXTRAS)))"
	@$(if $(ENGINE),$(INSTALL) --offline 2>/dev/null ||) $(INSTALL)
	@touch $@

demo: $(STAMP)
	@echo "==> training on generated rooms: runs/$(RUN) (the same command again resumes)"
	$(BIN)/trajevolve train --config params.yaml --run $(RUN) $(foreach s,$(SET),--set $(s))
	@echo "==> tables and curves"
	$(BIN)/trajevolve report $(RUN)

test: $(STAMP)
	@echo "==> all tests, the slow ones too (quick ones alone: $(BIN)/pytest)"
	$(BIN)/pytest -m '' --numprocesses 2 --dist loadfile

lint: $(STAMP)
	@echo "==> style, format and types"
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

serve: $(STAMP)
	@echo "==> Prefect server, pool and worker (Ctrl-C ends all three)"
	$(BIN)/python -m trajevolve_flows.serve
