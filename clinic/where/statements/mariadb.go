// A small client of MariaDB: the text protocol, arguments written into the statement, and mysql_native_password.
package main

import (
	"bufio"
	"bytes"
	"crypto/sha1"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/url"
	"strings"
)

type mariaDB struct {
	stream net.Conn
	reader *bufio.Reader
}

func (client *mariaDB) read() ([]byte, byte, error) {
	var head [4]byte
	if _, err := io.ReadFull(client.reader, head[:]); err != nil {
		return nil, 0, err
	}
	content := make([]byte, int(head[0])|int(head[1])<<8|int(head[2])<<16)
	if _, err := io.ReadFull(client.reader, content); err != nil {
		return nil, 0, err
	}
	if len(content) > 0 && content[0] == 0xff {
		return nil, 0, errors.New(string(content[3:]))
	}
	return content, head[3], nil
}

func (client *mariaDB) write(sequence byte, content []byte) error {
	head := []byte{byte(len(content)), byte(len(content) >> 8), byte(len(content) >> 16), sequence}
	_, err := client.stream.Write(append(head, content...))
	return err
}

func dialMariaDB(address *url.URL) (connection, error) {
	stream, err := net.Dial("tcp", address.Host)
	if err != nil {
		return nil, err
	}
	client := &mariaDB{stream, bufio.NewReader(stream)}
	greeting, sequence, err := client.read()
	if err != nil {
		return nil, err
	}
	rest := greeting[1+bytes.IndexByte(greeting[1:], 0)+1:]
	nonce := append(append([]byte(nil), rest[4:12]...), rest[31:43]...)
	password, _ := address.User.Password()
	once := sha1.Sum([]byte(password))
	twice := sha1.Sum(once[:])
	mixed := sha1.Sum(append(nonce, twice[:]...))
	for at := range mixed {
		mixed[at] ^= once[at]
	}
	// CLIENT_LONG_PASSWORD, CLIENT_PROTOCOL_41, CLIENT_TRANSACTIONS, CLIENT_SECURE_CONNECTION, CLIENT_PLUGIN_AUTH.
	response := binary.LittleEndian.AppendUint32(nil, 0x1|0x200|0x2000|0x8000|0x80000)
	response = binary.LittleEndian.AppendUint32(response, 1<<24)
	response = append(append(response, 45), make([]byte, 23)...)
	response = append(append(response, address.User.Username()...), 0, byte(len(mixed)))
	response = append(append(response, mixed[:]...), "mysql_native_password\x00"...)
	if err := client.write(sequence+1, response); err != nil {
		return nil, err
	}
	_, _, err = client.read()
	return client, err
}

// length reads a length, and returns it with what follows.
func length(content []byte) (int, []byte) {
	switch content[0] {
	case 0xfb:
		return -1, content[1:]
	case 0xfc:
		return int(binary.LittleEndian.Uint16(content[1:])), content[3:]
	case 0xfd:
		return int(content[1]) | int(content[2])<<8 | int(content[3])<<16, content[4:]
	}
	return int(content[0]), content[1:]
}

func (client *mariaDB) query(statement string, arguments ...string) ([][]string, error) {
	for _, argument := range arguments {
		statement = strings.Replace(statement, "?", "'"+strings.ReplaceAll(argument, "'", "''")+"'", 1)
	}
	if err := client.write(0, append([]byte{3}, statement...)); err != nil {
		return nil, err
	}
	first, _, err := client.read()
	if err != nil || first[0] == 0 {
		return nil, err
	}
	columns, _ := length(first)
	var rows [][]string
	for ends := 0; ; {
		content, _, err := client.read()
		if err != nil {
			return nil, err
		}
		if content[0] == 0xfe && len(content) < 9 {
			if ends++; ends == 2 {
				return rows, nil
			}
			continue
		}
		if ends == 0 {
			continue
		}
		row := make([]string, columns)
		for at := range row {
			var size int
			if size, content = length(content); size > 0 {
				row[at], content = string(content[:size]), content[size:]
			}
		}
		rows = append(rows, row)
	}
}
