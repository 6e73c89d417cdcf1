// Command late speaks HTTP/2 to an API server on one connection: it lists and watches config maps, says "watching", and at each further line of stdin asks
// once more. Its arguments are the server's address, its certificate authority, a token, and whose HTTP/2 it uses: "net/http" or "x/net", or "rotated": net/http on a
// connection that is wrapped as client-go's rotation of certificates does it. With "closing" it speaks HTTP/1.1 instead, at each further line on a connection of its own,
// which it uses while it closes it, and says its address after "asked". With "foreign" it is "x/net", and encodes fields of nobody in the midst of each block. A fifth argument is the address of another server, which it asks before each request of these lines; the authorities are then of both.
package main

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"os"
	"runtime"
	"strings"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

const configMaps = "/api/v1/namespaces/default/configmaps"

type client struct {
	http         *http.Client
	host, bearer string
	// other is asked besides, unless it is empty.
	other string
	// isForeign says that fields of nobody are encoded besides.
	isForeign bool
}

func main() {
	if err := run(os.Args[1], os.Args[2], os.Args[3], os.Args[4]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(host, authority, token, library string) error {
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM([]byte(authority))
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, ForceAttemptHTTP2: library != "x/net" && library != "foreign"}
	if library == "rotated" {
		transport.DialContext = dialClosable
	}
	if library == "closing" {
		return askClosing(host, roots)
	}
	if library == "x/net" || library == "foreign" {
		if err := http2.ConfigureTransport(transport); err != nil {
			return err
		}
	}
	c := &client{http: &http.Client{Transport: transport}, host: host, bearer: "Bearer " + token, isForeign: library == "foreign"}
	if err := c.list("limit=500"); err != nil {
		return err
	}
	former, err := c.watch("labelSelector=round")
	if err != nil {
		return err
	}
	if len(os.Args) > 5 {
		c.other = os.Args[5]
	}
	fmt.Println("watching")
	lines := bufio.NewScanner(os.Stdin)
	for round := 1; lines.Scan(); round++ {
		if err := c.ask(round, former); err != nil {
			return err
		}
		fmt.Println("asked")
	}
	return nil
}

// closableConn is what k8s.io/client-go/util/connrotation hands out.
type closableConn struct {
	onClose func()
	net.Conn
}

func dialClosable(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	closable := &closableConn{Conn: conn}
	closable.onClose = func() { closable.Conn = nil }
	return closable, nil
}

// slowlyClosed closes its connection when it may.
type slowlyClosed struct {
	net.Conn
	asked, may chan struct{}
}

func (c *slowlyClosed) Close() error {
	close(c.asked)
	<-c.may
	return c.Conn.Close()
}

func askClosing(host string, roots *x509.CertPool) error {
	fmt.Println("watching")
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		address, err := useWhileClosing(host, roots)
		if err != nil {
			return err
		}
		// The next connection may have the memory of this one.
		runtime.GC()
		fmt.Println("asked", address)
	}
	return nil
}

// useWhileClosing reads what is left of a TLS record, and tries to write, between the beginning of Close and the end of the socket. It
// returns the address of the connection in memory.
func useWhileClosing(host string, roots *x509.CertPool) (string, error) {
	socket, err := net.Dial("tcp", host)
	if err != nil {
		return "", err
	}
	name, _, err := net.SplitHostPort(host)
	if err != nil {
		return "", err
	}
	slow := &slowlyClosed{Conn: socket, asked: make(chan struct{}), may: make(chan struct{})}
	conn := tls.Client(slow, &tls.Config{RootCAs: roots, ServerName: name})
	if _, err := fmt.Fprintf(conn, "GET /version HTTP/1.1\r\nHost: %s\r\n\r\n", host); err != nil {
		return "", err
	}
	if _, err := conn.Read(make([]byte, 1)); err != nil {
		return "", err
	}
	closed := make(chan error)
	go func() { closed <- conn.Close() }()
	<-slow.asked
	if length, err := conn.Read(make([]byte, 1)); length != 1 {
		return "", fmt.Errorf("nothing was left to read: %w", err)
	}
	if _, err := conn.Write([]byte("late")); err == nil {
		return "", errors.New("it could be written")
	}
	close(slow.may)
	return fmt.Sprintf("%p", conn), <-closed
}

// ask lists, begins a watch, makes a config map, and reads its event on both watches.
func (c *client) ask(round int, former *bufio.Reader) error {
	if err := c.list(fmt.Sprintf("limit=%d", round)); err != nil {
		return err
	}
	watch, err := c.watch(fmt.Sprintf("labelSelector=round%%3D%d", round))
	if err != nil {
		return err
	}
	name := fmt.Sprintf("late-%d-%d", os.Getpid(), round)
	object := fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":%q,"labels":{"round":"%d"}}}`, name, round)
	if _, err := c.do("POST", configMaps, strings.NewReader(object)); err != nil {
		return err
	}
	for _, events := range []*bufio.Reader{former, watch} {
		if event, err := events.ReadString('\n'); err != nil || !strings.Contains(event, name) {
			return errors.Join(fmt.Errorf("no event of %s: %q", name, event), err)
		}
	}
	return nil
}

func (c *client) list(query string) error {
	body, err := c.do("GET", configMaps+"?"+query, nil)
	if err == nil {
		_, err = io.Copy(io.Discard, body)
	}
	return err
}

// watch follows from now on.
func (c *client) watch(query string) (*bufio.Reader, error) {
	body, err := c.do("GET", configMaps+"?watch=true&resourceVersion="+url.QueryEscape(c.revision())+"&"+query, nil)
	if err != nil {
		return nil, err
	}
	return bufio.NewReader(body), nil
}

// revision is the present one, read from a list that holds nothing.
func (c *client) revision() string {
	body, err := c.do("GET", configMaps+"?labelSelector=none", nil)
	if err != nil {
		return ""
	}
	list, _ := io.ReadAll(body)
	_, rest, _ := strings.Cut(string(list), `"resourceVersion":"`)
	revision, _, _ := strings.Cut(rest, `"`)
	return revision
}

func (c *client) askOther() error {
	request, err := http.NewRequest("GET", "https://"+c.other+"/elsewhere", nil)
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer of-another-server")
	response, err := c.http.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	_, err = io.Copy(io.Discard, response.Body)
	return err
}

// encodeForeign is called by the goroutine that encodes a block, behind each of its fields.
func encodeForeign(string, []string) {
	_ = hpack.NewEncoder(io.Discard).WriteField(hpack.HeaderField{Name: "user-agent", Value: "foreign/v1"})
}

func (c *client) do(method, path string, body io.Reader) (io.Reader, error) {
	request, err := http.NewRequest(method, "https://"+c.host+path, body)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", c.bearer)
	request.Header.Set("User-Agent", "late/v1")
	request.Header.Set("Accept", "application/json")
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	if c.other != "" {
		if err := c.askOther(); err != nil {
			return nil, err
		}
	}
	if c.isForeign {
		request = request.WithContext(httptrace.WithClientTrace(request.Context(), &httptrace.ClientTrace{WroteHeaderField: encodeForeign}))
	}
	response, err := c.http.Do(request)
	if err != nil {
		return nil, err
	}
	if response.ProtoMajor != 2 || response.StatusCode >= 300 {
		return nil, fmt.Errorf("%s %s: %s %s", method, path, response.Proto, response.Status)
	}
	return response.Body, nil
}
