module watchtap.test/helm

go 1.26.0
