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
(WITH RECURSIVE s(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM s WHERE n < 199) SELECT n FROM s) b
WHERE a.n * 200 + b.n < STORED;
ANALYZE TABLE shop.articles;`

// The number of articles in a basket.
var inBasket = number("BASKET", 40)

func openMariaDBShop(connection connection) (map[string]page, error) {
	tables := strings.ReplaceAll(mariaDBTables, "STORED", fmt.Sprint(number("STORED", 20000)))
	statements := strings.Split(tables, ";\n")
	for _, statement := range statements {
		if _, err := connection.query(strings.TrimSuffix(strings.TrimSpace(statement), ";")); err != nil {
			return nil, err
		}
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
	for id := 0; id < inBasket; id++ {
		rows, err := connection.query("SELECT name, price FROM shop.articles WHERE id = ?", fmt.Sprint(id*31)) // clinic: basket
		if err != nil {
			return "", err
		}
		page.WriteString(text(rows))
	}
	return page.String(), nil
}
