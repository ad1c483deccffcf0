// The databases: how a URL is told their drivers, and how many rows are written at once.
package main

import (
	"cmp"
	"database/sql"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/go-sql-driver/mysql"
	_ "github.com/jackc/pgx/v5/stdlib"
)

// open connects by a URL as `torr serve` takes it. All connections are kept once they are open.
func open(address string, connections int) (*service, error) {
	driver, source, mark := "pgx", address, "$1"
	if strings.HasPrefix(address, "mysql:") {
		parsed, err := url.Parse(address)
		if err != nil {
			return nil, err
		}
		config := mysql.NewConfig()
		config.User = parsed.User.Username()
		config.Passwd, _ = parsed.User.Password()
		config.Net, config.Addr, config.DBName = "tcp", parsed.Host, strings.TrimPrefix(parsed.Path, "/")
		driver, source, mark = "mysql", config.FormatDSN(), "?"
	}
	db, err := sql.Open(driver, source)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	service := &service{}
	if service.items, err = db.Prepare("SELECT id, name, number FROM item WHERE id = " + mark); err != nil {
		return nil, err
	}
	if service.worlds, err = db.Prepare("SELECT id, randomnumber FROM world WHERE id = " + mark); err != nil {
		return nil, err
	}
	if service.messages, err = db.Prepare("SELECT id, message FROM fortune"); err != nil {
		return nil, err
	}
	if driver == "mysql" {
		service.write = mysqlWriter(db)
		return service, nil
	}
	service.write, err = postgresWriter(db)
	return service, err
}

// postgresWriter writes all rows in one statement, locked in the order of their ids.
func postgresWriter(db *sql.DB) (func([]World) error, error) {
	statement, err := db.Prepare(`UPDATE world SET randomnumber = new.number FROM (
		SELECT world.id, given.number FROM unnest($1::int4[], $2::int4[]) AS given (id, number)
		JOIN world ON world.id = given.id ORDER BY world.id FOR UPDATE OF world) AS new WHERE world.id = new.id`)
	return func(worlds []World) error {
		rows := toWrite(worlds)
		ids, numbers := make([]int32, len(rows)), make([]int32, len(rows))
		for i, row := range rows {
			ids[i], numbers[i] = row.ID, row.RandomNumber
		}
		_, err := statement.Exec(ids, numbers)
		return err
	}, err
}

// mysqlWriter writes all rows in one statement, of which there is one for each number of rows.
func mysqlWriter(db *sql.DB) func([]World) error {
	var statements sync.Map
	statement := func(rows int) (*sql.Stmt, error) {
		if known, ok := statements.Load(rows); ok {
			return known.(*sql.Stmt), nil
		}
		marks := strings.TrimSuffix(strings.Repeat("?, ", rows), ", ")
		made, err := db.Prepare(fmt.Sprintf(
			"UPDATE world SET randomnumber = CASE id%s ELSE randomnumber END WHERE id IN (%s)",
			strings.Repeat(" WHEN ? THEN ?", rows), marks))
		if err == nil {
			statements.Store(rows, made)
		}
		return made, err
	}
	return func(worlds []World) error {
		rows := toWrite(worlds)
		values := make([]any, 0, 3*len(rows))
		for _, row := range rows {
			values = append(values, row.ID, row.RandomNumber)
		}
		for _, row := range rows {
			values = append(values, row.ID)
		}
		update, err := statement(len(rows))
		if err != nil {
			return err
		}
		_, err = update.Exec(values...)
		return err
	}
}

// toWrite has each row once, in the order in which all write, so that nobody waits for somebody who waits for him.
func toWrite(worlds []World) []World {
	rows := slices.Clone(worlds)
	slices.SortFunc(rows, func(a, b World) int { return cmp.Compare(a.ID, b.ID) })
	return slices.CompactFunc(rows, func(a, b World) bool { return a.ID == b.ID })
}
