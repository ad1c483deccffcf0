// What `torr serve` answers from a database, on gin and database/sql with one processor: `gin-peer ADDRESS URL CONNECTIONS`.
// The tables are there already.
package main

import (
	"database/sql"
	"fmt"
	"log"
	"math/rand/v2"
	"net/http"
	"os"
	"runtime"
	"strconv"

	"github.com/gin-gonic/gin"
)

// World is a row of TechEmpower's table.
type World struct {
	ID           int32 `json:"id"`
	RandomNumber int32 `json:"randomNumber"`
}

// Item is a row of the table of 100,000.
type Item struct {
	ID     int32  `json:"id"`
	Name   string `json:"name"`
	Number int32  `json:"number"`
}

// service has the statements that are prepared once, and by database/sql on each connection that they meet.
type service struct {
	items, worlds *sql.Stmt
	write         func([]World) error
}

func main() {
	if len(os.Args) != 4 {
		log.Fatal("usage: gin-peer ADDRESS URL CONNECTIONS")
	}
	connections, err := strconv.Atoi(os.Args[3])
	if err != nil {
		log.Fatal(err)
	}
	runtime.GOMAXPROCS(1)
	gin.SetMode(gin.ReleaseMode)
	service, err := open(os.Args[2], connections)
	if err != nil {
		log.Fatal(err)
	}
	router := gin.New() // without its log
	router.GET("/db/raw", service.item)
	router.GET("/queries/raw", service.queries)
	router.GET("/updates/raw", service.updates)
	log.Fatal(router.Run(os.Args[1]))
}

func (s *service) item(c *gin.Context) {
	var item Item
	if err := s.items.QueryRow(rand.Int32N(100_000)+1).Scan(&item.ID, &item.Name, &item.Number); err != nil {
		fail(c, err)
		return
	}
	c.JSON(http.StatusOK, item)
}

func (s *service) queries(c *gin.Context) {
	worlds, err := s.read(c)
	if err != nil {
		fail(c, err)
		return
	}
	c.JSON(http.StatusOK, worlds)
}

func (s *service) updates(c *gin.Context) {
	worlds, err := s.read(c)
	if err != nil {
		fail(c, err)
		return
	}
	for i := range worlds {
		worlds[i].RandomNumber = randomNumber()
	}
	if err := s.write(worlds); err != nil {
		fail(c, err)
		return
	}
	c.JSON(http.StatusOK, worlds)
}

// read asks for as many random rows of World as the request wants, each by a query of its own.
func (s *service) read(c *gin.Context) ([]World, error) {
	count, err := strconv.Atoi(c.Query("queries"))
	if err != nil {
		return nil, fmt.Errorf("queries: %w", err)
	}
	worlds := make([]World, min(max(count, 1), 500))
	for i := range worlds {
		if err := s.worlds.QueryRow(randomNumber()).Scan(&worlds[i].ID, &worlds[i].RandomNumber); err != nil {
			return nil, err
		}
	}
	return worlds, nil
}

// randomNumber is from 1 to 10,000: an id of World, or a number that is written into it.
func randomNumber() int32 {
	return rand.Int32N(10_000) + 1
}

func fail(c *gin.Context, err error) {
	c.String(http.StatusInternalServerError, err.Error())
}
