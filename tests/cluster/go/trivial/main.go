// Command trivial is the least that a pod can be measured against: a sidecar that does nothing but answer its startup probe, and a container
// that does nothing but print when it started. It also measures how long another program needs until it answers the same probe.
package main

import (
	"bufio"
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// The port of the startup probe, as `watchtap inject` writes it.
const port = "9643"

func main() {
	if err := run(os.Args[1], os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, "trivial:", err)
		os.Exit(1)
	}
}

func run(task string, arguments []string) error {
	switch task {
	case "app":
		fmt.Println(time.Now().UnixNano())
		waitForEnd()
		return nil
	case "sidecar":
		// The arguments are those of watchtap.
		return serve()
	case "start":
		return start(arguments)
	}
	return fmt.Errorf("unknown task %s", task)
}

func waitForEnd() {
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGTERM, syscall.SIGINT)
	<-ended
}

// serve answers every request with 200 until SIGTERM.
func serve() error {
	listener, err := net.Listen("tcp", ":"+port)
	if err != nil {
		return err
	}
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				continue
			}
			go answer(connection)
		}
	}()
	waitForEnd()
	return nil
}

func answer(connection net.Conn) {
	defer connection.Close()
	reader := bufio.NewReader(connection)
	for {
		line, err := reader.ReadString('\n')
		if err != nil {
			return
		}
		if strings.TrimSpace(line) == "" {
			fmt.Fprint(connection, "HTTP/1.1 200 OK\r\nContent-Length: 8\r\nConnection: close\r\n\r\nstarted\n")
			return
		}
	}
}

// start runs a program several times: its arguments are the number of times, a folder that is emptied before each, and the command. It
// prints the nanoseconds from before the fork until the program answered /started with 200, and at last becomes the program.
func start(arguments []string) error {
	times, err := strconv.Atoi(arguments[0])
	if err != nil {
		return err
	}
	folder, command := arguments[1], arguments[2:]
	for range times {
		if err := empty(folder); err != nil {
			return err
		}
		program := exec.Command(command[0], command[1:]...)
		// A pod's log would have both outputs in one.
		var errors bytes.Buffer
		program.Stderr = &errors
		begun := time.Now()
		if err := program.Start(); err != nil {
			return err
		}
		for !isStarted() {
			if time.Since(begun) > 30*time.Second {
				return fmt.Errorf("%s does not start: %s", command[0], errors.String())
			}
			time.Sleep(200 * time.Microsecond)
		}
		fmt.Println(time.Since(begun).Nanoseconds())
		if err := program.Process.Signal(syscall.SIGTERM); err != nil {
			return err
		}
		if err := program.Wait(); err != nil {
			return fmt.Errorf("%s: %w: %s", command[0], err, errors.String())
		}
	}
	if err := empty(folder); err != nil {
		return err
	}
	return syscall.Exec(command[0], command, os.Environ())
}

func empty(folder string) error {
	entries, err := filepath.Glob(filepath.Join(folder, "*"))
	for _, entry := range entries {
		if err := os.RemoveAll(entry); err != nil {
			return err
		}
	}
	return err
}

func isStarted() bool {
	connection, err := net.Dial("tcp", "127.0.0.1:"+port)
	if err != nil {
		return false
	}
	defer connection.Close()
	fmt.Fprint(connection, "GET /started HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
	status, _ := bufio.NewReader(connection).ReadString('\n')
	return strings.Contains(status, " 200 ")
}
