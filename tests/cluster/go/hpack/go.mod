module watchtap.test/hpack

go 1.24.0

require golang.org/x/net v0.47.0
