// Command manifests prints manifests as kubectl reads them: for each file named as argument, one line with its objects or with an
// error.
//
// kubectl's reader is the decoder of k8s.io/apimachinery (kubernetes/cli-runtime pkg/resource/visitor.go, StreamVisitor.Visit). It
// splits a file into documents and passes over those that are empty.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"

	"k8s.io/apimachinery/pkg/util/yaml"
)

type manifest struct {
	Objects []json.RawMessage `json:"objects"`
	Error   string            `json:"error,omitempty"`
}

func main() {
	out := bufio.NewWriter(os.Stdout)
	lines := json.NewEncoder(out)
	for _, name := range os.Args[1:] {
		if err := lines.Encode(read(name)); err != nil {
			os.Exit(1)
		}
	}
	if out.Flush() != nil {
		os.Exit(1)
	}
}

func read(name string) manifest {
	read := manifest{Objects: []json.RawMessage{}}
	file, err := os.Open(name)
	if err != nil {
		read.Error = err.Error()
		return read
	}
	defer file.Close()
	decoder := yaml.NewYAMLOrJSONDecoder(file, 4096)
	for {
		var object json.RawMessage
		err := decoder.Decode(&object)
		if errors.Is(err, io.EOF) {
			return read
		}
		if err != nil {
			read.Error = err.Error()
			return read
		}
		object = bytes.TrimSpace(object)
		if len(object) > 0 && !bytes.Equal(object, []byte("null")) {
			read.Objects = append(read.Objects, object)
		}
	}
}
