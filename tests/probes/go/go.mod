// The least release whose programs can be probed; every later toolchain builds it, too.
module watchtap.test/probes

go 1.18
