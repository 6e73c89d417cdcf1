// Command pause is the first process of each pod, and of the node that the tests start. It waits for SIGTERM or SIGINT, and reaps
// the processes that lost their parents.
package main

import (
	"os"
	"os/signal"
	"syscall"
)

func main() {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGCHLD, syscall.SIGINT, syscall.SIGTERM)
	for received := range signals {
		if received != syscall.SIGCHLD {
			return
		}
		reap()
	}
}

// reap takes all that have ended: several ends may be one signal.
func reap() {
	for {
		if ended, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil); ended <= 0 && err != syscall.EINTR {
			return
		}
	}
}
