// A small client of PostgreSQL: the extended protocol, and SCRAM-SHA-256.
package main

import (
	"bufio"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"strconv"
	"strings"
)

type postgres struct {
	stream net.Conn
	reader *bufio.Reader
}

// message returns a message of this kind. Numbers are written with four bytes, strings with a zero.
func message(kind byte, parts ...any) []byte {
	content := []byte{0, 0, 0, 0}
	for _, part := range parts {
		switch part := part.(type) {
		case int:
			content = binary.BigEndian.AppendUint32(content, uint32(part))
		case int16:
			content = binary.BigEndian.AppendUint16(content, uint16(part))
		case string:
			content = append(append(content, part...), 0)
		case []byte:
			content = append(content, part...)
		}
	}
	binary.BigEndian.PutUint32(content, uint32(len(content)))
	if kind == 0 {
		return content
	}
	return append([]byte{kind}, content...)
}

// dialPostgres connects to a server. The parameter host of the URL may be the folder of a Unix socket.
func dialPostgres(address *url.URL) (connection, error) {
	network, target := "tcp", address.Host
	if folder := address.Query().Get("host"); folder != "" {
		network, target = "unix", fmt.Sprintf("%s/.s.PGSQL.%s", folder, address.Port())
	}
	stream, err := net.Dial(network, target)
	if err != nil {
		return nil, err
	}
	client := &postgres{stream, bufio.NewReader(stream)}
	user, database := address.User.Username(), strings.TrimPrefix(address.Path, "/")
	if _, err = stream.Write(message(0, 0x30000, "user", user, "database", database, []byte{0})); err != nil {
		return nil, err
	}
	if err := client.logIn(address.User); err != nil {
		return nil, err
	}
	_, err = client.rows()
	return client, err
}

// read returns the kind of the next message and its content.
func (client *postgres) read() (byte, []byte, error) {
	var head [5]byte
	if _, err := io.ReadFull(client.reader, head[:]); err != nil {
		return 0, nil, err
	}
	content := make([]byte, binary.BigEndian.Uint32(head[1:])-4)
	if _, err := io.ReadFull(client.reader, content); err != nil {
		return 0, nil, err
	}
	if head[0] == 'E' {
		return 0, nil, errors.New(strings.ReplaceAll(string(content), "\x00", " "))
	}
	return head[0], content, nil
}

func keyed(key []byte, text string) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(text))
	return mac.Sum(nil)
}

// salted is PBKDF2 with one block.
func salted(password string, salt []byte, rounds int) []byte {
	block := keyed([]byte(password), string(salt)+"\x00\x00\x00\x01")
	sum := append([]byte(nil), block...)
	for round := 1; round < rounds; round++ {
		block = keyed([]byte(password), string(block))
		for at := range sum {
			sum[at] ^= block[at]
		}
	}
	return sum
}

// logIn responds to the server's demands until it is content.
func (client *postgres) logIn(user *url.Userinfo) error {
	password, _ := user.Password()
	var random [18]byte
	rand.Read(random[:])
	first := "n=,r=" + base64.StdEncoding.EncodeToString(random[:])
	for {
		_, content, err := client.read()
		if err != nil {
			return err
		}
		switch binary.BigEndian.Uint32(content) {
		case 0:
			return nil
		case 10:
			initial := "n,," + first
			_, err = client.stream.Write(message('p', "SCRAM-SHA-256", len(initial), []byte(initial)))
		case 11:
			server := string(content[4:])
			fields := map[byte]string{}
			for _, field := range strings.Split(server, ",") {
				fields[field[0]] = field[2:]
			}
			salt, _ := base64.StdEncoding.DecodeString(fields['s'])
			rounds, _ := strconv.Atoi(fields['i'])
			key := keyed(salted(password, salt, rounds), "Client Key")
			stored := sha256.Sum256(key)
			last := "c=biws,r=" + fields['r']
			signature := keyed(stored[:], first+","+server+","+last)
			for at := range key {
				key[at] ^= signature[at]
			}
			_, err = client.stream.Write(message('p', []byte(last+",p="+base64.StdEncoding.EncodeToString(key))))
		}
		if err != nil {
			return err
		}
	}
}

func (client *postgres) query(statement string, arguments ...string) ([][]string, error) {
	values := []any{"", "", int16(0), int16(len(arguments))}
	for _, argument := range arguments {
		values = append(values, len(argument), []byte(argument))
	}
	values = append(values, int16(0))
	sent := message('P', "", statement, int16(0))
	sent = append(sent, message('B', values...)...)
	sent = append(sent, message('E', "", 0)...)
	sent = append(sent, message('S')...)
	if _, err := client.stream.Write(sent); err != nil {
		return nil, err
	}
	return client.rows()
}

// rows reads the server's messages until it is ready for the next statement.
func (client *postgres) rows() ([][]string, error) {
	var rows [][]string
	for {
		kind, content, err := client.read()
		if err != nil || kind == 'Z' {
			return rows, err
		}
		if kind != 'D' {
			continue
		}
		row := make([]string, binary.BigEndian.Uint16(content))
		content = content[2:]
		for at := range row {
			length := int32(binary.BigEndian.Uint32(content))
			content = content[4:]
			if length > 0 {
				row[at], content = string(content[:length]), content[length:]
			}
		}
		rows = append(rows, row)
	}
}
