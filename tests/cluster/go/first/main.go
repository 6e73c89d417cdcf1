// Command first sends requests to an API server soon after its start, on one connection. Its arguments are the server's address, its certificate authority, a
// token, the time of its start in nanoseconds since 1970, how long it waits before the first request, the number of requests, and a name. Each request is for a
// namespace with this name, the number of the request from 0, and the microseconds since its start.
package main

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"time"
)

func main() {
	if err := run(os.Args[1], os.Args[2], os.Args[3], os.Args[4:]); err != nil {
		fmt.Fprintln(os.Stderr, "first:", err)
		os.Exit(1)
	}
}

func run(host, authority, token string, arguments []string) error {
	started, err := strconv.ParseInt(arguments[0], 10, 64)
	if err != nil {
		return err
	}
	wait, err := time.ParseDuration(arguments[1])
	if err != nil {
		return err
	}
	times, err := strconv.Atoi(arguments[2])
	if err != nil {
		return err
	}
	time.Sleep(time.Until(time.Unix(0, started).Add(wait)))
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM([]byte(authority))
	client := http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}}
	for number := range times {
		after := time.Since(time.Unix(0, started)).Microseconds()
		url := fmt.Sprintf("https://%s/api/v1/namespaces/%s-%d-%d/configmaps", host, arguments[3], number, after)
		request, err := http.NewRequest(http.MethodGet, url, nil)
		if err != nil {
			return err
		}
		request.Header.Set("Authorization", "Bearer "+token)
		response, err := client.Do(request)
		if err != nil {
			return err
		}
		if _, err := io.Copy(io.Discard, response.Body); err != nil {
			return err
		}
		response.Body.Close()
	}
	return nil
}
