// The pages of the shop that ask Redis.
package main

import (
	"fmt"
	"strings"
)

// The number of prices that a page lists.
var listed = number("PRICES", 60)

func openRedisShop(connection connection) (map[string]page, error) {
	for session, count := 0, number("SESSIONS", 20000); session < count; session++ {
		if _, err := connection.query("SET", fmt.Sprintf("session:%d", session), "customer"); err != nil {
			return nil, err
		}
	}
	for article := 0; article < listed; article++ {
		if _, err := connection.query("SET", fmt.Sprintf("price:%d", article), fmt.Sprint(article*3)); err != nil {
			return nil, err
		}
	}
	return map[string]page{"/sessions": sessions, "/prices": prices}, nil
}

// sessions finds the carts that are open: the command goes through all keys of the database.
func sessions(connection connection) (string, error) {
	rows, err := connection.query("KEYS", "cart:*") // clinic: sessions
	return fmt.Sprintf("%d carts are open\n", len(rows)), err
}

// prices lists prices, which it asks for one by one.
func prices(connection connection) (string, error) {
	var page strings.Builder
	for article := 0; article < listed; article++ {
		rows, err := connection.query("GET", fmt.Sprintf("price:%d", article)) // clinic: prices
		if err != nil {
			return "", err
		}
		page.WriteString(text(rows))
	}
	return page.String(), nil
}
