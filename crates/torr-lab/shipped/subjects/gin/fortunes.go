// TechEmpower's page of fortunes.
package main

import (
	"cmp"
	"html/template"
	"net/http"
	"slices"

	"github.com/gin-gonic/gin"
)

// Fortune is a row of TechEmpower's table.
type Fortune struct {
	ID      int32
	Message string
}

var page = template.Must(template.New("fortunes").Parse(`<!DOCTYPE html><html><head><title>Fortunes</title></head><body><table>` +
	`<tr><th>id</th><th>message</th></tr>{{range .}}<tr><td>{{.ID}}</td><td>{{.Message}}</td></tr>{{end}}</table></body></html>`))

func (s *service) fortunes(c *gin.Context) {
	rows, err := s.messages.Query()
	if err != nil {
		fail(c, err)
		return
	}
	defer rows.Close()
	fortunes := []Fortune{{Message: "Additional fortune added at request time."}}
	for rows.Next() {
		var fortune Fortune
		if err := rows.Scan(&fortune.ID, &fortune.Message); err != nil {
			fail(c, err)
			return
		}
		fortunes = append(fortunes, fortune)
	}
	if err := rows.Err(); err != nil {
		fail(c, err)
		return
	}
	slices.SortFunc(fortunes, func(a, b Fortune) int { return cmp.Compare(a.Message, b.Message) })
	c.Status(http.StatusOK)
	c.Header("Content-Type", "text/html; charset=utf-8")
	if err := page.Execute(c.Writer, fortunes); err != nil {
		fail(c, err)
	}
}
