// A shop with databases: shop HOST PORT URL. Each path sends statements with a fault of its own; the environment sets the sizes
// of its data.
//
// PostgreSQL: /orders asks for the customer of each order (LISTED of them), /history has no index (STORED orders), /checkout
// keeps a row locked while it notifies the warehouse (for HELD_US microseconds), /settle holds a lock of the shop while it sums
// up payments (PAID of them). MariaDB: /article has no index (STORED articles), /basket asks for each article (BASKET of them).
// Redis: /sessions goes through all keys (SESSIONS of them), /prices asks for each price (PRICES of them).
package main

import (
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
)

// A connection to a database.
type connection interface {
	// query sends a statement with its arguments and returns the rows.
	query(statement string, arguments ...string) ([][]string, error)
}

// database keeps the connections that no request uses.
type database struct {
	address *url.URL
	lock    sync.Mutex
	idle    []connection
}

// number returns a number of the environment, or the usual one.
func number(name string, usual int) int {
	if number, err := strconv.Atoi(os.Getenv(name)); err == nil {
		return number
	}
	return usual
}

func (database *database) take() (connection, error) {
	database.lock.Lock()
	if count := len(database.idle); count > 0 {
		taken := database.idle[count-1]
		database.idle = database.idle[:count-1]
		database.lock.Unlock()
		return taken, nil
	}
	database.lock.Unlock()
	switch database.address.Scheme {
	case "postgres":
		return dialPostgres(database.address)
	case "mysql":
		return dialMariaDB(database.address)
	}
	return dialRedis(database.address)
}

func (database *database) give(connection connection) {
	database.lock.Lock()
	database.idle = append(database.idle, connection)
	database.lock.Unlock()
}

// The customer of the next request.
var next atomic.Int64

func customer() string {
	return strconv.FormatInt(next.Add(1)*7919%20000, 10)
}

func text(rows [][]string) string {
	var page strings.Builder
	for _, row := range rows {
		page.WriteString(strings.Join(row, " ") + "\n")
	}
	return page.String()
}

// A page sends its statements on a connection and returns its content.
type page func(connection connection) (string, error)

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: shop HOST PORT URL")
		os.Exit(2)
	}
	address, err := url.Parse(os.Args[3])
	if err != nil {
		fail(err)
	}
	database := &database{address: address}
	first, err := database.take()
	if err != nil {
		fail(err)
	}
	pages, err := map[string]func(connection) (map[string]page, error){
		"postgres": openPostgresShop, "mysql": openMariaDBShop, "redis": openRedisShop,
	}[address.Scheme](first)
	if err != nil {
		fail(err)
	}
	database.give(first)
	pages["/"] = func(connection) (string, error) { return "a shop\n", nil }
	for path, page := range pages {
		path, page := path, page
		http.HandleFunc(path, func(response http.ResponseWriter, request *http.Request) {
			if request.URL.Path != path {
				http.NotFound(response, request)
				return
			}
			connection, err := database.take()
			if err == nil {
				var content string
				if content, err = page(connection); err == nil {
					database.give(connection)
					fmt.Fprint(response, content)
					return
				}
			}
			http.Error(response, err.Error(), http.StatusInternalServerError)
		})
	}
	fail(http.ListenAndServe(os.Args[1]+":"+os.Args[2], nil))
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "shop:", err)
	os.Exit(1)
}
