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
INSERT INTO orders SELECT n, n * 7 % 20000, n % 97, repeat('note ', 12) FROM generate_series(1, 60000) AS n;
CREATE TABLE counters (name text PRIMARY KEY, value bigint NOT NULL);
INSERT INTO counters VALUES ('orders', 0);
CREATE TABLE payments (id serial PRIMARY KEY, day int NOT NULL, amount numeric NOT NULL);
INSERT INTO payments (day, amount) SELECT n % 30, n % 89 FROM generate_series(1, 30000) AS n;
ANALYZE;`

func openPostgresShop(connection connection) (map[string]page, error) {
	statements := strings.Split(postgresTables, ";\n")
	if number("INDEXED", 0) != 0 {
		statements = append(statements, "CREATE INDEX orders_of_customer ON orders (customer_id)")
	}
	for _, statement := range statements {
		if _, err := connection.query(strings.TrimSuffix(strings.TrimSpace(statement), ";")); err != nil {
			return nil, err
		}
	}
	orders, settle, checkout := page(orders), page(settle), page(checkout)
	if number("JOINED", 0) != 0 {
		orders = ordersJoined
	}
	if number("NARROW", 0) != 0 {
		settle, checkout = sumPayments, checkoutNarrow
	}
	return map[string]page{"/orders": orders, "/history": history, "/checkout": checkout, "/settle": settle}, nil
}

// orders lists orders with the names of their customers, which it asks for one by one.
func orders(connection connection) (string, error) {
	rows, err := connection.query("SELECT id, customer_id, total FROM orders WHERE id BETWEEN 100 AND 139")
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

func ordersJoined(connection connection) (string, error) {
	rows, err := connection.query("SELECT o.id, c.name, o.total FROM orders o JOIN customers c ON c.id = o.customer_id " +
		"WHERE o.id BETWEEN 100 AND 139")
	return text(rows), err
}

// history lists a customer's orders.
func history(connection connection) (string, error) {
	rows, err := connection.query("SELECT id, total FROM orders WHERE customer_id = $1 ORDER BY id", customer()) // clinic: history
	return text(rows), err
}

// notifyWarehouse tells the warehouse of an order, which takes some milliseconds.
func notifyWarehouse() {
	time.Sleep(3 * time.Millisecond)
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

// checkoutNarrow does what checkout does, but locks the row as late as it can.
func checkoutNarrow(connection connection) (string, error) {
	notifyWarehouse()
	for _, statement := range []string{"BEGIN", "", countOrder, "COMMIT"} {
		var err error
		if statement == "" {
			_, err = connection.query(recordOrder, "12.50")
		} else {
			_, err = connection.query(statement)
		}
		if err != nil {
			return "", err
		}
	}
	return "thank you\n", nil
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
