// The pages of the shop that ask PostgreSQL.
package main

import (
	"fmt"
	"strings"
	"sync"
	"time"
)

const postgresTables = `
DROP TABLE IF EXISTS customers, orders, counters, payments;
CREATE TABLE customers (id int PRIMARY KEY, name text NOT NULL);
INSERT INTO customers SELECT n, 'Customer ' || n FROM generate_series(0, 19999) AS n;
CREATE TABLE orders (id int PRIMARY KEY, customer_id int NOT NULL, total numeric NOT NULL, note text NOT NULL);
INSERT INTO orders SELECT n, n * 7 % 20000, n % 97, repeat('note ', 12) FROM generate_series(1, STORED) AS n;
CREATE TABLE counters (name text PRIMARY KEY, value bigint NOT NULL);
INSERT INTO counters VALUES ('orders', 0);
CREATE TABLE payments (id serial PRIMARY KEY, day int NOT NULL, amount numeric NOT NULL);
INSERT INTO payments (day, amount) SELECT n % 30, n % 89 FROM generate_series(1, PAID) AS n;
ANALYZE;`

// The number of orders that a page lists.
var listedOrders = number("LISTED", 40)

// How long an order's row is locked while the warehouse is notified.
var held = time.Duration(number("HELD_US", 3000)) * time.Microsecond

func openPostgresShop(connection connection) (map[string]page, error) {
	sizes := strings.NewReplacer("STORED", fmt.Sprint(number("STORED", 60000)), "PAID", fmt.Sprint(number("PAID", 30000)))
	statements := strings.Split(sizes.Replace(postgresTables), ";\n")
	for _, statement := range statements {
		if _, err := connection.query(strings.TrimSuffix(strings.TrimSpace(statement), ";")); err != nil {
			return nil, err
		}
	}
	return map[string]page{"/orders": orders, "/history": history, "/checkout": checkout, "/settle": settle}, nil
}

// orders lists orders with the names of their customers, which it asks for one by one.
func orders(connection connection) (string, error) {
	rows, err := connection.query("SELECT id, customer_id, total FROM orders WHERE id BETWEEN 100 AND " +
		fmt.Sprint(99+listedOrders))
	if err != nil {
		return "", err
	}
	for _, row := range rows {
		found, err := connection.query("SELECT name FROM customers WHERE id = $1", row[1]) // clinic: orders
		if err != nil {
			return "", err
		}
		row[1] = found[0][0]
	}
	return text(rows), nil
}

// history lists a customer's orders.
func history(connection connection) (string, error) {
	rows, err := connection.query("SELECT id, total FROM orders WHERE customer_id = $1 ORDER BY id", customer()) // clinic: history
	return text(rows), err
}

// notifyWarehouse tells the warehouse of an order, which takes some milliseconds.
func notifyWarehouse() {
	time.Sleep(held)
}

const countOrder = "UPDATE counters SET value = value + 1 WHERE name = 'orders'"
const recordOrder = "INSERT INTO payments (day, amount) VALUES (31, $1)"

// checkout counts an order, notifies the warehouse and records the payment, in one transaction.
func checkout(connection connection) (string, error) {
	if _, err := connection.query("BEGIN"); err != nil {
		return "", err
	}
	if _, err := connection.query(countOrder); err != nil { // clinic: checkout
		return "", err
	}
	notifyWarehouse()
	if _, err := connection.query(recordOrder, "12.50"); err != nil {
		return "", err
	}
	_, err := connection.query("COMMIT") // clinic: checkout
	return "thank you\n", err
}

var settlement sync.Mutex

// settle sums up a day's payments, one request at a time.
func settle(connection connection) (string, error) {
	settlement.Lock() // clinic: settle
	defer settlement.Unlock()
	return sumPayments(connection) // clinic: settle
}

func sumPayments(connection connection) (string, error) {
	rows, err := connection.query("SELECT day, sum(amount) FROM payments WHERE day < 4 GROUP BY day ORDER BY day") // clinic: settle-held
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%d days\n%s", len(rows), text(rows)), nil
}
