module watchtap.test/first

go 1.24.0
