// Command probes asks one HTTPS server once. The linker keeps what the probes look for: crypto/tls and HTTP/2.
package main

import (
	"io"
	"net/http"
	"os"
)

func main() {
	response, err := http.Get(os.Args[1])
	if err != nil {
		os.Exit(1)
	}
	defer response.Body.Close()
	io.Copy(os.Stdout, response.Body)
}
