# `make test` is everything that a change must pass; the other targets are its
# steps. Go is enough: what needs another tool is skipped with a reason, unless
# AGENTLS_REQUIRE_TOOLS=1 says that the tools must be there.

GO ?= go
# Packages tested at a time: the race detector needs memory.
PARALLEL ?= 2

# Packages that stand on jsonrpc2, which under this tag overwrites a message's
# memory after its handler returned.
POISONED = ./cmd/... ./editors/... ./lspserver/...

.PHONY: test format vet staticcheck modules generated cross poison race bench

# The order is cheap first; the last lines are the full test run's.
test: format vet staticcheck modules generated cross poison race

format:
	@echo '==> gofmt'
	@files=$$(find . -name '*.go' -not -path '*/testdata/*' -not -path '*/node_modules/*' | xargs gofmt -l); \
	if [ -n "$$files" ]; then echo "not formatted, run gofmt -w on:"; echo "$$files"; exit 1; fi

vet:
	@echo '==> go vet'
	@$(GO) vet ./...

staticcheck:
	@echo '==> staticcheck'
	@$(GO) tool staticcheck ./...

modules:
	@echo '==> go mod verify, go mod tidy'
	@$(GO) mod verify
	@$(GO) mod tidy -diff

# Compares the generated files with what the generators write now, so that the
# rest of the tree may be as dirty as it likes.
generated:
	@echo '==> go generate'
	@list() { grep -rlE --exclude-dir=.git --exclude-dir=node_modules --exclude-dir=testdata \
	    '^(//|#|--|<!--) Code generated .* DO NOT EDIT' . | LC_ALL=C sort | xargs cksum; }; \
	before=$$(list); $(GO) generate ./... || exit 1; after=$$(list); \
	if [ "$$before" != "$$after" ]; then \
	  echo 'generated files were not up to date; they are now, commit them:'; \
	  printf '%s\n%s\n' "$$before" "$$after" | sort | uniq -u | cut -d' ' -f3- | sort -u; exit 1; fi

cross:
	@for target in darwin/arm64 windows/amd64; do \
	  echo "==> go build for $$target"; \
	  CGO_ENABLED=0 GOOS=$${target%/*} GOARCH=$${target#*/} $(GO) build ./... || exit 1; done

poison:
	@echo '==> go test -tags jsonrpc2poison'
	@$(GO) test -p $(PARALLEL) -tags jsonrpc2poison $(POISONED)

# The race detector needs a C compiler.
race:
	@race=-race; \
	if [ "$$($(GO) env CGO_ENABLED)" != 1 ]; then \
	  if [ "$$AGENTLS_REQUIRE_TOOLS" = 1 ]; then echo 'no C compiler, which go test -race needs'; exit 1; fi; \
	  race=; echo 'no C compiler: testing without the race detector'; fi; \
	echo "==> go test $$race"; \
	$(GO) test -p $(PARALLEL) $$race ./...

bench:
	$(GO) test -p 1 -run '^$$' -bench . -benchmem ./...
