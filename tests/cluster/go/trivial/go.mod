module watchtap.test/trivial

go 1.24.0
