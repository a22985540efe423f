# Deed's tasks. `make help` lists them; .ci/run calls the same ones.

GO          ?= go
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
GOFUMPT     := mvdan.cc/gofumpt@v0.12.0
GOVULNCHECK := golang.org/x/vuln/cmd/govulncheck@v1.9.0

# The date is the commit's, so that one commit gives one binary. All three are
# empty outside a repository, and the binary then says "devel".
VERSION := $(shell git describe --tags --always --dirty 2>/dev/null)
COMMIT  := $(shell git rev-parse --verify -q HEAD 2>/dev/null)
DATE    := $(shell git log -1 --format=%cI 2>/dev/null)
LDFLAGS := -s -w -X main.version=$(VERSION) -X main.commit=$(COMMIT) -X main.date=$(DATE)

FUZZTIME     ?= 30s
TEST_TIMEOUT ?= 30m

# How often each torture kills in make dose. make test has 20, make soak 10,000.
KILL_POINTS ?= 300

# Databases spend so long under the race detector that only make race does it.
SLOW := /internal/(journal|store/.*|settlement|demo)$$

.DEFAULT_GOAL := help
.PHONY: help build demo test dose race bench lint fmt vuln fuzz soak parts clean

help: ## list the targets
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  make \1	\2/p' Makefile | expand -t 16

build: ## build the static binary bin/deed
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '$(LDFLAGS)' -o bin/deed$(shell $(GO) env GOEXE) ./cmd/deed

demo: build ## an agent at work, its record, and what really happened
	./bin/deed demo

test: parts ## run every test, nearly all with the race detector; gets what it needs first
	$(GO) vet ./...
	@.ci/parts --have-npm || { \
		echo 'make test: WITHOUT npm: real npm servers are NOT tested in this run' >&2; \
		export DEED_TEST_WITHOUT_NPM=1; }; \
	$(GO) test -race -p 1 -timeout $(TEST_TIMEOUT) $$($(GO) list ./client/... ./recorder/... ./cmd/... ./internal/... | grep -v -E '$(SLOW)') && \
	$(GO) test -p 2 -timeout $(TEST_TIMEOUT) $$($(GO) list ./internal/... | grep -E '$(SLOW)') && \
	$(GO) test -p 1 -timeout $(TEST_TIMEOUT) ./test/...

dose: parts ## kill servers at KILL_POINTS (300) points on each database, and at each step
	DEED_KILL_POINTS=$(KILL_POINTS) $(GO) test -count 1 -timeout 40m -parallel 3 -v -run '^TestNothingIsLostOrDoubled' ./test/server

race: ## run the slow packages with the race detector too, which takes long
	$(GO) test -race -p 1 -timeout 60m $$($(GO) list ./internal/... | grep -E '$(SLOW)')

parts: ## get what the tests need, or say what to install
	@.ci/parts

bench: build ## measure against a bare copier, side by side (BENCH='-runs 5' passes flags)
	$(GO) run ./test/bench -deed bin/deed $(BENCH)

lint: ## go vet, staticcheck and gofumpt
	$(GO) vet ./...
	$(GO) run $(STATICCHECK) ./...
	@$(GO) run $(GOFUMPT) -l . | { \
		if read -r first; then echo "not formatted, run make fmt:"; echo "$$first"; cat; exit 1; fi; }

fmt: ## format the code with gofumpt
	$(GO) run $(GOFUMPT) -w .

vuln: ## look for known vulnerabilities (asks vuln.go.dev)
	$(GO) run $(GOVULNCHECK) ./...

fuzz: ## run every fuzz target for FUZZTIME (30s) each
	@set -e; for package in $$($(GO) list ./...); do \
		for target in $$($(GO) test -list '^Fuzz' $$package | grep '^Fuzz' || true); do \
			echo "$$package $$target $(FUZZTIME)"; \
			$(GO) test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 3s $$package; \
		done; \
	done

soak: build ## run the long doses (hours)
	DEED_KILL_POINTS=10000 DEED_LONG_LINE_MIB=16384 $(GO) test -count 1 -timeout 26h ./...
	$(MAKE) fuzz FUZZTIME=30m
	$(MAKE) bench BENCH='-runs 5'

clean: ## remove what the other targets made
	rm -rf bin test/npm/node_modules
