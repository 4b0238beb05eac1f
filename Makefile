# Each target is a command you could type.
VERSION := $(patsubst v%,%,$(shell git describe --tags --match 'v[0-9]*' 2>/dev/null || echo 0.0.0-alpha$$(git rev-list --count HEAD 2>/dev/null || echo 0)))
COMMIT  := $(shell git rev-parse HEAD 2>/dev/null)
DATE    := $(shell git log -1 --format=%cI 2>/dev/null)
LDFLAGS := -s -w -X main.version=$(VERSION) -X main.commit=$(COMMIT) -X main.date=$(DATE)
GO      := CGO_ENABLED=0 go

LONG    := ./tools/sandbox ./commands/program/acceptance/... ./tools/shell/script ./commands/program/attack # tested first, lest they are waited for alone
UNLISTED := $(addprefix ./commands/program/,testdata/bench/... testdata/bench-listener testdata/bench-terminal testdata/evals testdata/proof testdata/real testdata/mutate acceptance/testdata/pipes) ./settings/testdata/keys # what ./... leaves out
GOTEST  := go test
RACED   := # packages whose tests run under the race detector, which needs a C compiler
TESTFLAGS := -tags helper -ldflags '-s -w' -shuffle=on -p 3 -parallel 6 -timeout 30m
HELPER   = tools/sandbox/helper_$(shell go env GOOS)_$(shell go env GOARCH).bin

.PHONY: build install uninstall dist dist-test test check security bench bench-listener bench-terminal proof evals demo real cover fuzz soak soak-day mutate lines clean

build: ## one static binary, ./gemline; it holds the one that starts commands
	$(GO) build -trimpath -buildvcs=false -ldflags '-s -w' -o $(HELPER) ./tools/sandbox/helper
	$(GO) build -trimpath -tags helper -ldflags '$(LDFLAGS)' -o gemline .
	@mkdir -p bin && $(GO) run -trimpath ./commands/program/release -licences >bin/licences || rm -f bin/licences # for install, which has no Go under sudo

gemline:
	$(MAKE) --no-print-directory build

install: gemline ## what is built, below PREFIX, which is /usr/local; make uninstall removes it
	commands/program/release/install

uninstall: ## what make install wrote
	commands/program/release/install uninstall

URL     :=
SYSTEMS :=
dist: ## a release in dist/, the same bytes for each who makes it; URL= of the project for Homebrew, SYSTEMS=linux/amd64,... for some
	CGO_ENABLED=0 go run -trimpath ./commands/program/release -version '$(VERSION)' -commit '$(COMMIT)' -date '$(DATE)' $(if $(URL),-url '$(URL)') $(if $(SYSTEMS),-only '$(SYSTEMS)') dist

ROOT := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/gemline-tests/root
dist-test: ## a release, of which each package is installed, used and removed; and the same bytes once more, from another directory
	@command -v rpm && command -v bsdtar || { echo "make dist-test needs rpm and bsdtar: apt-get install rpm libarchive-tools"; exit 1; }
	$(MAKE) --no-print-directory dist
	[ -d $(ROOT) ] || { debootstrap --variant=minbase stable $(ROOT).new && mv $(ROOT).new $(ROOT); } || echo "no Debian without debootstrap and root: busybox instead"
	GEMLINE_DIST=$(CURDIR)/dist GEMLINE_ROOT=$$([ ! -d $(ROOT) ] || echo $(ROOT)) go test -count=1 -v ./commands/program/release
	again=$$(mktemp -d) && trap 'chmod -R u+w $$again; rm -rf $$again' EXIT && git clone -q . $$again/clone && \
	  GOCACHE=$$again/cache $(MAKE) --no-print-directory -C $$again/clone dist SYSTEMS='$(SYSTEMS)' URL='$(URL)' VERSION='$(VERSION)' && \
	  cmp dist/SHA256SUMS $$again/clone/dist/SHA256SUMS

test: ## everything that needs only Go and git, of the program as it is built for users but for the day
	@echo "about ten minutes on two cores; needs Go $(shell sed -n 's/^go //p' go.mod) or newer, and git"
	@$(MAKE) --no-print-directory build
	$(GO) build -trimpath -tags helper -ldflags '-s -w' -o bin/gemline ./commands/program/acceptance/testprogram
	GEMLINE_BUILT=$(CURDIR)/bin/gemline CGO_ENABLED=0 $(GOTEST) -trimpath $(TESTFLAGS) $(LONG) ./commands/program/testdata/evals $(filter-out $(RACED),$(shell go list ./...))
	$(if $(RACED),CGO_ENABLED=1 $(GOTEST) -race $(TESTFLAGS) $(RACED))

check: ## what a change must pass
	test -z "$$(gofmt -s -l .)" || { gofmt -s -d .; exit 1; }
	$(GO) vet -trimpath ./... $(UNLISTED)
	staticcheck ./... $(UNLISTED)
	go mod tidy -diff

security: ## attack the program, and count what it withstood
	@SOAK=1 go test -count=1 -timeout 30m -v ./commands/program/attack >attack.log || { grep -E '^(cases|own|network|yolo|auto_edit|auto|sh|denied):|^ *--- FAIL|_test.go:' attack.log; exit 1; }
	@grep -E '^(cases|own|network|yolo|auto_edit|auto|sh|denied):|^ *--- SKIP' attack.log; rm attack.log

bench: build ## speed, as ratios against ordinary tools in the same run; PART=hooks and the like for one part
	$(GO) run ./commands/program/testdata/bench ./gemline $(PART)

bench-listener: build ## what a listener hears of eleven tasks: lines, characters, seconds; takes two minutes
	$(GO) run ./commands/program/testdata/bench-listener ./gemline

bench-terminal: build ## what a question costs a terminal, to the byte; takes four minutes
	$(GO) run ./commands/program/testdata/bench-terminal ./gemline

AGENTS := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/gemline-tests/agents
proof: build ## what a start and a turn of gemline and of other agents cost, and which attacks they withstand; installs them from npm, which takes long the first time
	mkdir -p $(AGENTS)
	for p in @google/gemini-cli opencode-ai @openai/codex @anthropic-ai/claude-code; do \
	  [ -d $(AGENTS)/node_modules/$$p ] || npm install --prefix $(AGENTS) --no-fund --no-audit --silent $$p || echo "$$p can't be installed here"; done
	$(GO) run ./commands/program/testdata/proof ./gemline $(AGENTS)

evals: build ## does a model do tasks well? MODEL=… N=5 JSON=FILE TASKS="…", BENCH=DIR of Terminal-Bench; without a model, are the tasks sound?
	$(GO) run ./commands/program/testdata/evals -n $(or $(N),1) $(if $(MODEL),-m '$(MODEL)') $(if $(JSON),-json '$(JSON)') $(if $(BENCH),-C '$(BENCH)') ./gemline $(TASKS)

demo: build ## a recorded conversation does real work, without any key
	$(GO) run ./docs/demo ./gemline

real: build ## fifteen requests to the real server, with the key in GEMINI_API_KEY; two minutes, a few cents
	$(GO) run ./commands/program/testdata/real ./gemline real-recording

cover: ## line coverage by package
	go test -coverprofile=cover.out ./... && go tool cover -func=cover.out | tail -1

FUZZTIME ?= 10s
# Before Go 1.27, fuzzing may fail because its time is over: go.dev/issue/75804.
fuzz: ## every fuzz target for FUZZTIME
	@go list ./... | while read p; do \
	  for f in $$(go test -list '^Fuzz' $$p | grep '^Fuzz'); do \
	    echo "$$p $$f"; said=$$(go test -run '^$$' -fuzz "^$$f$$" -fuzztime $(FUZZTIME) $$p 2>&1); failed=$$?; echo "$$said"; \
	    [ $$failed = 0 ] || { echo "$$said" | grep -qx ' *context deadline exceeded' && ! echo "$$said" | grep -q 'Failing input written'; } || exit 1; \
	  done; done

SOAK := SOAK=1 go test -count=1 -timeout 3h -v
soak: ## the random tests in full, from new seeds; each says in a line what it tried
	$(SOAK) -run 'Hidden|Random|Bounds' ./repl/output
	$(SOAK) -run 'Against|TestQuote' ./tools/shell/script
	$(SOAK) -run Properties ./engine/policy
	$(SOAK) -run 'TestAgainstModel|TestIgnoreAsGit' ./tools/workspace
	$(SOAK) -run TestRaces ./tools/files
	$(SOAK) -run TestUndoRandom ./tools/checkpoint
	$(SOAK) -run TestLookEvery ./tools/command
	$(SOAK) -run TestRace ./engine/disk
	$(SOAK) -run TestParseAgainstGit ./tools/gitconfig
	$(SOAK) -tags helper -run 'TestPodman|TestKernelSuite|TestClones' ./tools/sandbox
	$(SOAK) -run 'TestRandomKeys|TestConnectionLost|TestSpoofingTheStart' ./commands/program/acceptance/terminal
	$(SOAK) -run 'TestUntrustedClone|TestPlanModeWritesThePlanAlone' ./commands/program/acceptance/safety
	$(SOAK) -run TestRandomRuns ./commands/program/front
	$(SOAK) -tags helper -run TestExtensionsOverHTTP ./commands/program/acceptance/servers
	$(SOAK) -tags helper -run TestFailingWrites ./commands/program/acceptance/pipes
	$(SOAK) ./commands/program/attack
	$(SOAK) -run 'TestKilled|TestTroubleOfTheServer|TestEveryEndHasItsRecord' ./commands/program/acceptance/...

soak-day: ## all of it, fuzz targets, faults and attacks in turn for HOURS=24; the corpus stays
	commands/program/release/soak-day

mutate: ## small mistakes in the code that decides and shows: the tests have to notice nine of ten
	go run ./commands/program/testdata/mutate ./repl/output ./engine/policy ./tools/shell/program ./tools/shell/script

lines: ## lines of code that ship: of the packages of the binary, without blanks and comments
	@$(GO) list -deps -tags helper -f '{{with .Module}}{{if eq .Path "gemline"}}{{range $$.GoFiles}}{{$$.Dir}}/{{.}} {{end}}{{end}}{{end}}' . | \
	  xargs grep -hvcE '^[[:space:]]*(//|$$)' | awk '{n += $$1} END {print n}'

clean:
	rm -rf gemline bin dist cover.out real-recording tools/sandbox/*.bin
