module watchtap.test/reflector

go 1.24.0
