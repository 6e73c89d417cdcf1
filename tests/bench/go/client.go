package main

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// stampDigits is the length of an event's time, in nanoseconds since 1970.
const stampDigits = 19

// patience is the limit of one request, for a loaded machine too.
const patience = time.Minute

// served is the data that the clients received; the bench reads it as JSON.
type served struct {
	Bytes      int64 `json:"bytes"`
	Operations int64 `json:"operations"`
	// Elapsed is the time from the first request to the last byte, in nanoseconds.
	Elapsed int64 `json:"elapsed"`
	// P99 is the 99th percentile of the latencies in nanoseconds, or 0 for fewer than 100 of them.
	P99       int64 `json:"p99"`
	latencies []time.Duration
}

// settings are the flags of the load.
type settings struct {
	address, protocol, kind, path, warmUp, eventHead string
	clients, each                                    int
	limit                                            time.Duration
}

// load warms its connections up and prints "ready". After a line on standard input it runs the load and prints what was served.
func load(arguments []string) error {
	var settings settings
	flags := flag.NewFlagSet("client", flag.ExitOnError)
	flags.StringVar(&settings.address, "address", "", "host and port of the server")
	flags.StringVar(&settings.protocol, "http", "", "h1 or h2")
	flags.StringVar(&settings.kind, "load", "", "lists, gets, events or connections")
	flags.StringVar(&settings.path, "path", "", "what is requested")
	flags.StringVar(&settings.warmUp, "warm-up", "", "what is requested first on each connection")
	flags.StringVar(&settings.eventHead, "event-head", "", "the text of an event before its time")
	flags.IntVar(&settings.clients, "clients", 1, "clients at the same time")
	flags.IntVar(&settings.each, "each", 1, "lists of each client")
	flags.DurationVar(&settings.limit, "limit", 0, "duration of all other loads")
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	clients, err := settings.connect()
	if err != nil {
		return err
	}
	fmt.Println("ready")
	if _, err := bufio.NewReader(os.Stdin).ReadString('\n'); err != nil {
		return err
	}
	sum, err := settings.together(clients)
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(sum)
}

// connect returns a client for each load. Each has its own connection; small GETs of HTTP/2 are streams of one.
func (settings *settings) connect() ([]*http.Client, error) {
	clients := make([]*http.Client, settings.clients)
	for number := range clients {
		if number > 0 && settings.kind == "gets" && settings.protocol == "h2" {
			clients[number] = clients[0]
			continue
		}
		protocols, err := protocols(settings.protocol)
		if err != nil {
			return nil, err
		}
		config := tlsConfig(settings.protocol)
		// Proxies have different certificates, and the cost of the client's check is not measured.
		config.InsecureSkipVerify = true
		dialer := &tls.Dialer{Config: config}
		dial := func(context context.Context, network, address string) (net.Conn, error) {
			dialed, err := dialer.DialContext(context, network, address)
			if err != nil {
				return nil, err
			}
			return connection{dialed}, nil
		}
		transport := &http.Transport{
			DialContext: dial, Protocols: protocols, DisableCompression: true, DisableKeepAlives: settings.kind == "connections",
		}
		clients[number] = &http.Client{Transport: transport}
		if _, err := settings.get(clients[number], settings.warmUp); err != nil {
			return nil, err
		}
	}
	return clients, nil
}

func (settings *settings) together(clients []*http.Client) (*served, error) {
	var waits sync.WaitGroup
	results, failures := make([]served, len(clients)), make([]error, len(clients))
	begun := time.Now()
	for number, client := range clients {
		waits.Add(1)
		go func() {
			defer waits.Done()
			failures[number] = settings.one(client, &results[number])
		}()
	}
	waits.Wait()
	sum := &served{Elapsed: time.Since(begun).Nanoseconds()}
	for _, result := range results {
		sum.Bytes += result.Bytes
		sum.Operations += result.Operations
		sum.latencies = append(sum.latencies, result.latencies...)
	}
	slices.Sort(sum.latencies)
	if at := len(sum.latencies) / 100 * 99; at > 0 {
		sum.P99 = sum.latencies[at].Nanoseconds()
	}
	return sum, errors.Join(failures...)
}

// one is the load of one client.
func (settings *settings) one(client *http.Client, into *served) error {
	switch settings.kind {
	case "lists":
		for range settings.each {
			bytes, err := settings.get(client, settings.path)
			if err != nil {
				return err
			}
			into.Bytes += bytes
			into.Operations++
		}
		return nil
	case "gets", "connections":
		for begun := time.Now(); time.Since(begun) < settings.limit || into.Operations == 0; {
			sent := time.Now()
			bytes, err := settings.get(client, settings.path)
			if err != nil {
				return err
			}
			into.Bytes += bytes
			into.Operations++
			into.latencies = append(into.latencies, time.Since(sent))
		}
		return nil
	case "events":
		return settings.events(client, into)
	default:
		return fmt.Errorf("unknown load %q", settings.kind)
	}
}

// get returns the length of a body. Like client-go, it reads all of the body into memory.
func (settings *settings) get(client *http.Client, path string) (int64, error) {
	response, err := settings.send(client, path)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	timer := time.AfterFunc(patience, func() { response.Body.Close() })
	defer timer.Stop()
	body, err := io.ReadAll(response.Body)
	return int64(len(body)), err
}

// events reads a watch line by line. Each event has its time, and both processes read the same clock.
func (settings *settings) events(client *http.Client, into *served) error {
	response, err := settings.send(client, settings.path)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	lines := bufio.NewReader(response.Body)
	for begun := time.Now(); time.Since(begun) < settings.limit || into.Operations == 0; {
		line, err := lines.ReadString('\n')
		if err != nil {
			return err
		}
		now := time.Now().UnixNano()
		stamp, _ := strings.CutPrefix(line, settings.eventHead)
		made, err := strconv.ParseInt(stamp[:min(stampDigits, len(stamp))], 10, 64)
		if err != nil {
			return fmt.Errorf("an event has no time: %w", err)
		}
		into.Bytes += int64(len(line))
		into.Operations++
		into.latencies = append(into.latencies, time.Duration(now-made))
	}
	return nil
}

// send sends a request as client-go does, with a token.
func (settings *settings) send(client *http.Client, path string) (*http.Response, error) {
	request, err := http.NewRequest(http.MethodGet, "http://"+settings.address+path, nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("User-Agent", "bench/v1.0.0 (linux/amd64) kubernetes/v1.34.1")
	request.Header.Set("Accept", "application/json")
	request.Header.Set("Authorization", "Bearer "+strings.Repeat("x", 900))
	response, err := client.Do(request)
	if err == nil && response.StatusCode != http.StatusOK {
		response.Body.Close()
		err = fmt.Errorf("%s was answered %s", path, response.Status)
	}
	return response, err
}
