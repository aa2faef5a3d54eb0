# make test is what CI runs. Every target sets up what it needs: a machine with
# Go is enough. A redis-server on PATH makes the comparisons with it run too.

GO        ?= go
VERSION   ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
FUZZTIME  ?= 20s
SOAK      ?= 1000000
BENCHFLAGS ?=
RUNFLAGS  ?=
JOBS      ?= 10000

# The race detector needs a C compiler on Linux. Without one the tests still
# run, and say so.
RACE := $(shell command -v $$($(GO) env CC) >/dev/null 2>&1 && echo -race)

# SQLite, as Go, is not watched: what it allocates is outside of Go's memory,
# which is all that the detector looks at, and yet it would be told of every
# access, which takes four fifths of the time. Everything that calls SQLite is
# watched, and so are its mutexes. It is a variable of the environment so that
# what the tests build is built alike.
UNWATCHED = GOFLAGS="$(shell $(GO) env GOFLAGS) -gcflags=modernc.org/...=-race=false"

STATICCHECK = $(GO) tool -modfile=$(CURDIR)/tools/go.mod staticcheck

.PHONY: run build test quick lint unit e2e jobs bench fuzz soak update clean

# run starts a server on Redis's port, on a file in this directory.
run:
	$(GO) run ./cmd/firn serve $(RUNFLAGS)

build:
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '-s -w -X main.version=$(VERSION)' -o bin/firn ./cmd/firn

test: lint unit

# quick is for between two changes: every package, in less than a minute. The
# race detector, staticcheck and the long way of what is short here are left to
# make test.
quick:
	$(GO) vet ./...
	$(IN_MEMORY) $(GO) test -short -vet=off -timeout=5m ./...

# IN_MEMORY puts the tests' files into memory, where there is a directory with
# room that programs may run in. The tests open a thousand stores, and a disk
# takes some 10 ms to make one.
IN_MEMORY = $(if $(MEMORY),TMPDIR=$(MEMORY) GOTMPDIR=$(BUILDS))
BUILDS := $(or $(GOTMPDIR),$(TMPDIR),/tmp)
MEMORY = $(shell awk '$$2 == "/dev/shm" && $$4 !~ /noexec/' /proc/mounts 2>/dev/null | grep -q . && \
	df -Pk /dev/shm | awk 'NR == 2 && $$4 > 2000000 { print $$6 }')

lint:
	@unformatted=$$(gofmt -l .); test -z "$$unformatted" || { echo "gofmt would change:"; echo "$$unformatted"; exit 1; }
	$(GO) vet ./...
	$(STATICCHECK) ./...

unit:
	@test -n "$(RACE)" || echo "no C compiler: the tests run without the race detector"
	$(IN_MEMORY) $(UNWATCHED) $(GO) test $(RACE) -vet=off -shuffle=on -timeout=20m ./...
	$(if $(RACE),$(GO) test -run InBoundedMemory ./cmd/firn)

# e2e drives a real server with the clients that people use. They live in a
# module of their own, so that embedders never see them. Most of the software waits
# most of the time, so four run at once.
e2e:
	cd e2e && $(GO) vet ./... && $(GO) test -count=1 -parallel 4 ./...

# jobs measures how long BullMQ takes for JOBS jobs on Redis and on Firn, and
# fails when the ratio is above its bar. The machine must be calm.
jobs:
	cd e2e && FIRN_JOBS=$(JOBS) $(GO) test -count=1 -v -run TestBullMQSpeed .

# bench compares with redis-server and rewrites docs/benchmarks.md.
# BENCHFLAGS='-only throughput -rounds 1' makes it short.
bench:
	$(GO) run ./bench $(BENCHFLAGS)

fuzz:
	@$(GO) test -list '^Fuzz' ./... | grep -q '^Fuzz' || { echo "there is no fuzz target"; exit 1; }
	@set -e; for pkg in $$($(GO) list ./...); do \
		for target in $$($(GO) test -list '^Fuzz' $$pkg | grep '^Fuzz' || true); do \
			echo "$$pkg $$target"; \
			$(GO) test -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZTIME) $$pkg; \
		done; \
	done

# soak runs the random tests, those with Random or Soak in their name, for SOAK
# steps each; elsewhere they are short.
soak:
	@$(GO) test -list 'Random|Soak' ./... | grep -q '^Test' || { echo "there is no random test"; exit 1; }
	FIRN_SOAK=$(SOAK) $(GO) test -count=1 -timeout=0 -run 'Random|Soak' ./...

# update rewrites the checked-in outputs of scripts: read the diff before you commit.
update:
	UPDATE=1 $(GO) test -count=1 ./...

clean:
	rm -rf bin
	$(GO) clean -testcache
