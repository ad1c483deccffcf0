// A small client of Redis.
package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"strconv"
	"strings"
)

type redis struct {
	stream net.Conn
	reader *bufio.Reader
}

func dialRedis(address *url.URL) (connection, error) {
	stream, err := net.Dial("tcp", address.Host)
	if err != nil {
		return nil, err
	}
	client := &redis{stream, bufio.NewReader(stream)}
	if password, given := address.User.Password(); given {
		_, err = client.query("AUTH", password)
	}
	return client, err
}

func (client *redis) query(command string, arguments ...string) ([][]string, error) {
	var sent strings.Builder
	fmt.Fprintf(&sent, "*%d\r\n$%d\r\n%s\r\n", len(arguments)+1, len(command), command)
	for _, argument := range arguments {
		fmt.Fprintf(&sent, "$%d\r\n%s\r\n", len(argument), argument)
	}
	if _, err := io.WriteString(client.stream, sent.String()); err != nil {
		return nil, err
	}
	return client.values()
}

// values reads a value, or the values of a list.
func (client *redis) values() ([][]string, error) {
	line, err := client.reader.ReadString('\n')
	if err != nil {
		return nil, err
	}
	kind, line := line[0], strings.TrimSpace(line[1:])
	count, _ := strconv.Atoi(line)
	switch {
	case kind == '-':
		return nil, errors.New(line)
	case kind == '*':
		var all [][]string
		for round := 0; round < count; round++ {
			values, err := client.values()
			if err != nil {
				return nil, err
			}
			all = append(all, values...)
		}
		return all, nil
	case kind == '$' && count >= 0:
		content := make([]byte, count+2)
		if _, err := io.ReadFull(client.reader, content); err != nil {
			return nil, err
		}
		return [][]string{{string(content[:count])}}, nil
	}
	return [][]string{{line}}, nil
}
