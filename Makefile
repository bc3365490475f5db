# Targets for people and for .ci/run. Everything works in a fresh clone with Go and make.

GO ?= go
FUZZTIME ?= 20s
BENCH ?= .
SIZES ?= 200,1000
GATE ?=

.PHONY: build man pictures test check golden fuzz bench gate crash test-agents release-state

build: ## the program at bin/ufbuild
	CGO_ENABLED=0 $(GO) build -tags grpcnotrace -o bin/ufbuild ./cmd/ufbuild

man: ## the manual pages at bin/man/man1; MANPATH=bin/man: man ufbuild-build
	$(GO) test ./cmd/ufbuild -run TestManPages -count 1 -man $(CURDIR)/bin/man/man1

pictures: ## the pictures of docs/pictures, with Chromium and tmux; look at each before it is committed
	$(GO) test ./cmd/ufbuild/internal/web -run TestBrowserPictures -pictures $(CURDIR)/docs/pictures -count 1 -v

test: ## every test
	$(GO) test -timeout 30m ./...

check: ## formatting, vet, the policy and the tests
	@bad=$$(gofmt -l $$(git ls-files '*.go')); if [ -n "$$bad" ]; then echo "gofmt -w $$bad"; exit 1; fi
	$(GO) vet ./...
	$(GO) test ./cmd/ufbuild -run 'TestPolicy' -count 1
	$(GO) test -timeout 30m ./...

golden: ## write golden files and reference pages anew; "git diff" shows what changed
	@for dir in $$(git grep -l 'flag.Bool("update"' -- '*_test.go' | xargs -n 1 dirname | sort -u); do \
	  $(GO) test ./$$dir -skip 'Crash|Incremental' -update || exit 1; \
	done

fuzz: ## every fuzzer for FUZZTIME; an input that is made smaller for a minute would be all of it
	@for file in $$(git grep -l '^func Fuzz' -- '*_test.go'); do \
	  for name in $$(sed -n 's/^func \(Fuzz[A-Za-z0-9_]*\)(.*/\1/p' $$file); do \
	    echo "$$name in $$(dirname $$file)"; \
	    $(GO) test ./$$(dirname $$file) -run '^$$' -fuzz "^$$name\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 100x || exit 1; \
	  done; \
	done

bench: ## the table of docs/benchmarks.md, SIZES=200,1000 tasks, and benchmarks of packages; BENCH=Name chooses
	$(GO) test ./cmd/ufbuild -run TestBenchmarkTable -table -sizes $(SIZES) -count 1 -timeout 4h -v
	$(GO) test ./... -run '^$$' -bench '$(BENCH)' -benchmem

gate: ## instruction counts of five cases against the recorded ones; needs valgrind; GATE=-update records
	$(GO) test ./cmd/ufbuild -run 'TestInstructionCounts' -gate $(GATE) -count 1 -v

crash: ## the tests of docs/reliability.md in full; the usual tests run a part of them
	$(GO) test ./cmd/ufbuild -run 'TestCrash|Signal|Grace|Killed|Limits|Prefix|Damaged|Half|Full|ReadOnly|Removed|Input|Second|Dead' \
	  -points 0 -kills 1000 -scribbles 10000 -together 60s -chaos 100 -count 1 -timeout 60m -v
	$(GO) test ./cache/... ./executor/local ./executor/place -run 'Crash|Kill|Torn|Flipped|NoSpace|Damage|Mends' -count 1 -v

AGENTS_DIR ?= /tmp/ufbuild-agents
AGENTS ?= @anthropic-ai/claude-code @openai/codex @google/gemini-cli opencode-ai

test-agents: ## the adapters with the real programs from npm, against a model server on loopback
	mkdir -p $(AGENTS_DIR)
	npm install --no-audit --no-fund --prefix $(AGENTS_DIR) $(AGENTS)
	$(GO) test ./cmd/ufbuild -run TestRealAgents -agents $(AGENTS_DIR) -count 1 -timeout 30m -v

release-state: ## keep a campaign and a store as VERSION leaves them, once a release; later versions must build them
	@test -n "$(VERSION)" || { echo "usage: make release-state VERSION=0.1.0"; exit 1; }
	$(GO) test ./cmd/ufbuild -run TestStateOfEveryRelease -write-release '$(VERSION)' -count 1
