// Command bench is the API server and the client of the forwarding bench with net/http, as kube-apiserver and client-go use it. The
// bench builds it with the standard library alone (tests/bench/src/forward/go_program.rs) and starts it as `server` or `client`.
package main

import (
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"os"
)

func main() {
	if err := run(os.Args); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(arguments []string) error {
	if len(arguments) < 2 {
		return fmt.Errorf("usage: %s server|client FLAGS", arguments[0])
	}
	switch arguments[1] {
	case "server":
		return serve(arguments[2:])
	case "client":
		return load(arguments[2:])
	default:
		return fmt.Errorf("unknown command %q", arguments[1])
	}
}

// protocols returns the one version of HTTP that client and server speak, for connections whose TLS net/http does not see.
//
// Some of the proxies negotiate no protocol by ALPN. net/http would then speak HTTP/1.1, so client and server set up TLS themselves,
// and HTTP/2 begins with prior knowledge.
func protocols(name string) (*http.Protocols, error) {
	protocols := new(http.Protocols)
	switch name {
	case "h1":
		protocols.SetHTTP1(true)
	case "h2":
		protocols.SetUnencryptedHTTP2(true)
	default:
		return nil, fmt.Errorf("unknown protocol %q", name)
	}
	return protocols, nil
}

// tlsConfig is TLS 1.3 with X25519. Of the ciphers, which cannot be chosen in Go, both ends prefer AES-128-GCM.
func tlsConfig(protocol string) *tls.Config {
	alpn := map[string]string{"h1": "http/1.1", "h2": "h2"}[protocol]
	return &tls.Config{MinVersion: tls.VersionTLS13, CurvePreferences: []tls.CurveID{tls.X25519}, NextProtos: []string{alpn}}
}

// connection is a TLS connection in which net/http sees none.
type connection struct{ net.Conn }
