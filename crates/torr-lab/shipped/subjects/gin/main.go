// The paths of `torr serve` on gin and database/sql: `gin-peer ADDRESS [URL CONNECTIONS]`, with as many processors as the
// variable WORKERS says, else one. The tables are there already.
package main

import (
	"database/sql"
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
	items, worlds, messages *sql.Stmt
	write         func([]World) error
}

func main() {
	if len(os.Args) != 2 && len(os.Args) != 4 {
		log.Fatal("usage: gin-peer ADDRESS [URL CONNECTIONS]")
	}
	workers, err := strconv.Atoi(os.Getenv("WORKERS"))
	if err != nil {
		workers = 1
	}
	runtime.GOMAXPROCS(workers)
	gin.SetMode(gin.ReleaseMode)
	router := gin.New() // without its log
	router.Use(func(c *gin.Context) { c.Header("Server", "gin") })
	router.GET("/", func(c *gin.Context) { c.Data(http.StatusOK, "text/html; charset=utf-8", []byte("<p>Hello, world!</p>")) })
	router.GET("/plaintext", func(c *gin.Context) { c.String(http.StatusOK, "Hello, World!") })
	router.GET("/json", func(c *gin.Context) { c.JSON(http.StatusOK, gin.H{"message": "Hello, World!"}) })
	if len(os.Args) == 4 {
		connections, err := strconv.Atoi(os.Args[3])
		if err != nil {
			log.Fatal(err)
		}
		service, err := open(os.Args[2], connections)
		if err != nil {
			log.Fatal(err)
		}
		router.GET("/db", service.world)
		router.GET("/db/raw", service.item)
		router.GET("/queries/raw", service.queries)
		router.GET("/updates/raw", service.updates)
		router.GET("/fortunes/raw", service.fortunes)
	}
	log.Fatal(router.Run(os.Args[1]))
}

func (s *service) world(c *gin.Context) {
	var world World
	if err := s.worlds.QueryRow(randomNumber()).Scan(&world.ID, &world.RandomNumber); err != nil {
		fail(c, err)
		return
	}
	c.JSON(http.StatusOK, world)
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
	// What is no number counts as one.
	count, _ := strconv.Atoi(c.Query("queries"))
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
