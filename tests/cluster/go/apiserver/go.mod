// Not read: each minor has a module file of its own, v1.<minor>.mod, taken with -modfile. Go wants this file to exist.
module watchtap.test/apiserver

go 1.24.0
