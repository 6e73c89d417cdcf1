// Command hpack writes random header blocks, encoded by the encoder of Go's HTTP/2, beside what was encoded.
//
// Its arguments are a seed and a number of blocks; the same arguments give the same output: one JSON object a line, see [block].
package main

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log"
	"math/rand"
	"os"
	"strconv"

	"golang.org/x/net/http2/hpack"
)

const blocksPerConnection = 250

// block is one header block; all bytes are in hexadecimal.
type block struct {
	// Connection counts from 0; each has an encoder of its own.
	Connection int `json:"connection"`
	// Limit is the SETTINGS_HEADER_TABLE_SIZE that the encoder knows of.
	Limit uint32 `json:"limit"`
	// Fields are pairs of name and value.
	Fields [][2]string `json:"fields"`
	// Encoded is what the encoder made of them.
	Encoded string `json:"encoded"`
}

func main() {
	if len(os.Args) != 3 {
		log.Fatal("usage: hpack SEED BLOCKS")
	}
	seed, err := strconv.ParseInt(os.Args[1], 10, 64)
	if err != nil {
		log.Fatal(err)
	}
	count, err := strconv.Atoi(os.Args[2])
	if err != nil {
		log.Fatal(err)
	}
	out := bufio.NewWriter(os.Stdout)
	lines := json.NewEncoder(out)
	random := source{Rand: rand.New(rand.NewSource(seed))}
	var connection *connection
	for i := range count {
		if i%blocksPerConnection == 0 {
			connection = newConnection()
		}
		next := connection.next(&random)
		next.Connection = i / blocksPerConnection
		if err := lines.Encode(next); err != nil {
			log.Fatal(err)
		}
	}
	if err := out.Flush(); err != nil {
		log.Fatal(err)
	}
}

type connection struct {
	buffer  bytes.Buffer
	encoder *hpack.Encoder
	limit   uint32
}

func newConnection() *connection {
	c := &connection{limit: 4096}
	c.encoder = hpack.NewEncoder(&c.buffer)
	return c
}

func (c *connection) next(random *source) block {
	for random.Intn(10) == 0 {
		c.encoder.SetMaxDynamicTableSize(uint32(random.Intn(int(c.limit) + 1)))
	}
	if random.Intn(30) == 0 {
		c.limit = pick(random, []uint32{0, 31, 100, 4096, 16384, 65536})
		c.encoder.SetMaxDynamicTableSizeLimit(c.limit)
		c.encoder.SetMaxDynamicTableSize(c.limit)
	}
	c.buffer.Reset()
	made := block{Limit: c.limit}
	// At least one field: the encoder writes a change of size in front of a field only.
	for range 1 + random.Intn(15) {
		name := random.name()
		field := hpack.HeaderField{Name: name, Value: random.value(name), Sensitive: random.Intn(8) == 0}
		if err := c.encoder.WriteField(field); err != nil {
			log.Fatal(err)
		}
		made.Fields = append(made.Fields, [2]string{hex.EncodeToString([]byte(name)), hex.EncodeToString([]byte(field.Value))})
	}
	made.Encoded = hex.EncodeToString(c.buffer.Bytes())
	return made
}

type source struct {
	*rand.Rand
	recent [64]string
}

var names = []string{
	":authority", ":method", ":path", ":scheme", ":status", "accept", "audit-id", "authorization", "content-length",
	"content-type", "cookie", "date", "kubectl-command", "retry-after", "user-agent", "warning",
	"x-kubernetes-pf-flowschema-uid", "x-kubernetes-pf-prioritylevel-uid",
}

func (s *source) name() string {
	switch s.Intn(6) {
	case 0:
		return fmt.Sprintf("x-custom-%d", s.Intn(40))
	case 1:
		return "x-" + s.text(s.Intn(100))
	default:
		return pick(s, names)
	}
}

func (s *source) value(name string) string {
	switch name {
	case ":status":
		return strconv.Itoa(100 + s.Intn(500))
	case ":method":
		return pick(s, []string{"GET", "POST", "PUT", "PATCH", "DELETE", "CONNECT", "A-METHOD-WITH-A-VERY-LONG-NAME-INDEED"})
	case ":path":
		return "/api/v1/" + s.text(s.Intn(60)) + "?limit=500&token=" + s.text(10) + "&continue=" + s.text(s.length())
	case "authorization":
		claims := base64.RawURLEncoding.EncodeToString([]byte(`{"sub":"user-` + strconv.Itoa(s.Intn(20)) + `"}`))
		return pick(s, []string{"Bearer e30." + claims + "." + s.text(40), "Bearer " + s.text(20), "Basic " + s.text(8)})
	}
	if s.Intn(3) == 0 {
		return pick(s, s.recent[:])
	}
	value := s.anyValue()
	s.recent[s.Intn(len(s.recent))] = value
	return value
}

func (s *source) anyValue() string {
	switch s.Intn(10) {
	case 0:
		return ""
	case 1, 2, 3:
		// Mostly longer in the Huffman code, so that the encoder sends them as they are.
		value := make([]byte, s.Intn(60))
		s.Read(value)
		return string(value)
	default:
		return s.text(s.length())
	}
}

// length is mostly short, and sometimes that of a value that does not fit into the table.
func (s *source) length() int {
	if s.Intn(40) == 0 {
		return s.Intn(7000)
	}
	return s.Intn(80)
}

func (s *source) text(length int) string {
	const letters = "abcdefghijklmnopqrstuvwxyz0123456789-./_~%"
	text := make([]byte, length)
	for i := range text {
		text[i] = letters[s.Intn(len(letters))]
	}
	return string(text)
}

func pick[T any](s *source, from []T) T {
	return from[s.Intn(len(from))]
}
