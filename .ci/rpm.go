// Lists the files of an rpm, as its header describes them and its payload has them: mode, owner, size, path.
package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"io"
	"log"
	"os"
	"strconv"
	"strings"
)

// The tags of a header that describe files.
const (
	sizes, modes, owners, groups = 1028, 1030, 1039, 1040
	dirOf, names, dirs           = 1116, 1117, 1118
)

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// header reads a header: the texts or numbers of each tag.
func header(in io.Reader) (texts map[uint32][]string, numbers map[uint32][]int, size int) {
	var start [16]byte
	_, err := io.ReadFull(in, start[:])
	check(err)
	entries, stored := int(binary.BigEndian.Uint32(start[8:])), int(binary.BigEndian.Uint32(start[12:]))
	all := make([]byte, 16*entries+stored)
	_, err = io.ReadFull(in, all)
	check(err)
	texts, numbers = map[uint32][]string{}, map[uint32][]int{}
	for i := range entries {
		e := all[16*i:]
		tag, kind, count := binary.BigEndian.Uint32(e), binary.BigEndian.Uint32(e[4:]), int(binary.BigEndian.Uint32(e[12:]))
		at := all[16*entries+int(binary.BigEndian.Uint32(e[8:])):]
		for n := range count {
			switch kind {
			case 3:
				numbers[tag] = append(numbers[tag], int(binary.BigEndian.Uint16(at[2*n:])))
			case 4:
				numbers[tag] = append(numbers[tag], int(binary.BigEndian.Uint32(at[4*n:])))
			case 6, 8, 9:
				end := bytes.IndexByte(at, 0)
				texts[tag], at = append(texts[tag], string(at[:end])), at[end+1:]
			}
		}
	}
	return texts, numbers, len(start) + len(all)
}

func main() {
	file, err := os.Open(os.Args[1])
	check(err)
	in := bufio.NewReader(file)
	_, err = in.Discard(96)
	check(err)
	_, _, size := header(in)
	_, err = in.Discard((8 - size%8) % 8)
	check(err)
	texts, numbers, _ := header(in)
	described := map[string]string{}
	for i, name := range texts[names] {
		path := texts[dirs][numbers[dirOf][i]] + name
		described[path] = fmt.Sprintf("%o %s:%s %d %s", numbers[modes][i], texts[owners][i], texts[groups][i], numbers[sizes][i], path)
	}
	payload, err := gzip.NewReader(in)
	check(err)
	for entry := make([]byte, 110); ; {
		_, err := io.ReadFull(payload, entry)
		check(err)
		field := func(n int) int64 {
			v, err := strconv.ParseInt(string(entry[6+8*n:14+8*n]), 16, 64)
			check(err)
			return v
		}
		mode, size, length := field(1), field(6), field(11)
		name := make([]byte, length+(4-(110+length)%4)%4)
		_, err = io.ReadFull(payload, name)
		check(err)
		path := strings.TrimPrefix(string(name[:length-1]), ".")
		if path == "TRAILER!!!" {
			break
		}
		line := described[path]
		if !strings.HasPrefix(line, fmt.Sprintf("%o ", mode)) || !strings.HasSuffix(line, fmt.Sprintf(" %d %s", size, path)) {
			log.Fatalf("the payload has %s with mode %o and %d bytes, the header %q", path, mode, size, line)
		}
		fmt.Println(line)
		delete(described, path)
		_, err = io.CopyN(io.Discard, payload, size+(4-size%4)%4)
		check(err)
	}
	if len(described) > 0 {
		log.Fatalf("the payload lacks %v", described)
	}
}
