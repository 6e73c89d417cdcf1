package main

import (
	"crypto/tls"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"time"
)

// answers are the bodies that the bench has written for this server, by the file's name.
type answers struct {
	list, small, version []byte
	// eventHead and eventTail are the text of an event before and after its time.
	eventHead, eventTail string
	itemBytes            int
	eventsPerSecond      int
}

// serve prints its port on standard output, and serves until standard input ends.
func serve(arguments []string) error {
	flags := flag.NewFlagSet("server", flag.ExitOnError)
	name := flags.String("http", "", "h1 or h2")
	certificate := flags.String("certificate", "", "file")
	key := flags.String("key", "", "file")
	folder := flags.String("bodies", "", "folder with the bodies")
	itemBytes := flags.Int("item-bytes", 0, "length of an item of the list")
	rate := flags.Int("events-per-second", 0, "events of the watch")
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	protocols, err := protocols(*name)
	if err != nil {
		return err
	}
	answers, err := read(*folder)
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	answers.itemBytes, answers.eventsPerSecond = max(1, *itemBytes), *rate
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
	config := tlsConfig(*name)
	if config.Certificates, err = loaded(*certificate, *key); err != nil {
		return err
	}
	server := &http.Server{Handler: answers, Protocols: protocols}
	go func() {
		io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	return server.Serve(&encrypted{listener, config})
}

// encrypted accepts TLS connections; their handshakes happen at the first read.
type encrypted struct {
	net.Listener
	config *tls.Config
}

func (listener *encrypted) Accept() (net.Conn, error) {
	accepted, err := listener.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return connection{tls.Server(accepted, listener.config)}, nil
}

func loaded(certificate, key string) ([]tls.Certificate, error) {
	pair, err := tls.LoadX509KeyPair(certificate, key)
	return []tls.Certificate{pair}, err
}

func read(folder string) (*answers, error) {
	answers := &answers{}
	for name, into := range map[string]*[]byte{"list": &answers.list, "small": &answers.small, "version": &answers.version} {
		body, err := os.ReadFile(folder + "/" + name)
		if err != nil {
			return nil, err
		}
		*into = body
	}
	event, err := os.ReadFile(folder + "/event")
	if err != nil {
		return nil, err
	}
	head, tail, found := strings.Cut(string(event), strings.Repeat("0", stampDigits))
	if !found {
		return nil, fmt.Errorf("no place for the time in %s", event)
	}
	answers.eventHead, answers.eventTail = head, tail
	return answers, nil
}

func (answers *answers) ServeHTTP(writer http.ResponseWriter, request *http.Request) {
	header := writer.Header()
	header.Set("Content-Type", "application/json")
	header.Set("Audit-Id", "3b1c7c0e-5a55-4a0e-9d3c-9a0c1f2e3d4c")
	header.Set("Cache-Control", "no-cache, private")
	header.Set("X-Kubernetes-Pf-Flowschema-Uid", "0c6e3b8e-1d4f-4a3b-9a55-3c1d5e7f9a0b")
	header.Set("X-Kubernetes-Pf-Prioritylevel-Uid", "5f4dcc3b-5aa7-65d6-1d83-27deb882cf99")
	switch {
	case request.URL.Query().Get("watch") == "true":
		answers.watch(writer, request)
	case request.URL.Path == "/version":
		writer.Write(answers.version)
	case strings.HasSuffix(request.URL.Path, "/configmaps/settings"):
		writer.Write(answers.small)
	default:
		// Without a length, and item by item, as kube-apiserver from 1.33 on writes a list (k8s.io/apimachinery v0.34,
		// pkg/runtime/serializer/json/collections.go). So TLS records have the size of an item, or 4 KiB of small ones.
		for rest := answers.list; len(rest) > 0; {
			length := min(answers.itemBytes, len(rest))
			if _, err := writer.Write(rest[:length]); err != nil {
				return
			}
			rest = rest[length:]
		}
	}
}

// watch sends events in bursts of one millisecond, and flushes each, as kube-apiserver does.
func (answers *answers) watch(writer http.ResponseWriter, request *http.Request) {
	flusher := writer.(http.Flusher)
	begun, sent := time.Now(), 0
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for {
		due := answers.eventsPerSecond * int(time.Since(begun).Milliseconds()) / 1000
		for ; sent < due; sent++ {
			_, err := fmt.Fprintf(writer, "%s%0*d%s", answers.eventHead, stampDigits, time.Now().UnixNano(), answers.eventTail)
			if err != nil {
				return
			}
			flusher.Flush()
		}
		select {
		case <-tick.C:
		case <-request.Context().Done():
			return
		}
	}
}
