// The pages of the shop that ask MariaDB.
package main

import (
	"fmt"
	"strings"
)

const mariaDBTables = `
CREATE DATABASE IF NOT EXISTS shop;
DROP TABLE IF EXISTS shop.articles;
CREATE TABLE shop.articles (id int PRIMARY KEY, sku varchar(20) NOT NULL, name varchar(200) NOT NULL, price int NOT NULL) ENGINE=InnoDB;
INSERT INTO shop.articles SELECT a.n * 200 + b.n, CONCAT('SKU-', a.n * 200 + b.n), REPEAT('name ', 20), b.n
FROM (WITH RECURSIVE s(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM s WHERE n < 99) SELECT n FROM s) a,
(WITH RECURSIVE s(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM s WHERE n < 199) SELECT n FROM s) b;
ANALYZE TABLE shop.articles;`

func openMariaDBShop(connection connection) (map[string]page, error) {
	statements := strings.Split(mariaDBTables, ";\n")
	if number("INDEXED", 0) != 0 {
		statements = append(statements, "CREATE INDEX article_of_sku ON shop.articles (sku)")
	}
	for _, statement := range statements {
		if _, err := connection.query(strings.TrimSuffix(strings.TrimSpace(statement), ";")); err != nil {
			return nil, err
		}
	}
	basket := page(basket)
	if number("JOINED", 0) != 0 {
		basket = basketJoined
	}
	return map[string]page{"/article": article, "/basket": basket}, nil
}

// article shows an article by its number in the warehouse.
func article(connection connection) (string, error) {
	rows, err := connection.query("SELECT id, name, price FROM shop.articles WHERE sku = ?", "SKU-"+customer()) // clinic: article
	return text(rows), err
}

// basket shows the articles of a basket, which it asks for one by one.
func basket(connection connection) (string, error) {
	var page strings.Builder
	for id := 0; id < 40; id++ {
		rows, err := connection.query("SELECT name, price FROM shop.articles WHERE id = ?", fmt.Sprint(id*31)) // clinic: basket
		if err != nil {
			return "", err
		}
		page.WriteString(text(rows))
	}
	return page.String(), nil
}

func basketJoined(connection connection) (string, error) {
	var ids []string
	for id := 0; id < 40; id++ {
		ids = append(ids, fmt.Sprint(id*31))
	}
	rows, err := connection.query("SELECT name, price FROM shop.articles WHERE id IN (" + strings.Join(ids, ", ") + ")")
	return text(rows), err
}
