// A shop: shop HOST PORT. Each path is a page with a fault of its own; the environment sets the sizes of its data.
//
// /page parses its templates for each request, /signup compiles its patterns for each request, /orders writes all orders as
// JSON, /reserve asks the supplier while it holds a lock, /label prints on a few printers, and /overview computes six figures,
// each as expensive as the others.
package main

import (
	"encoding/json"
	"fmt"
	"html/template"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

type order struct {
	Number   int       `json:"number"`
	Customer string    `json:"customer"`
	Articles []article `json:"articles"`
}

type article struct {
	Name                                        string
	Amount                                      float64
	Price, Weight, Volume, Deposit, Tax, Points float64
}

type shop struct {
	orders   []order
	articles []article
	partials int
	rules    int
	listed   int
	rounds   int
	held     time.Duration
	printers chan struct{}

	cartLock sync.Mutex
	reserved map[string]int
}

// sizeOf returns a number of the environment, or the usual one.
func sizeOf(name string, usual int) int {
	if number, err := strconv.Atoi(os.Getenv(name)); err == nil {
		return number
	}
	return usual
}

const partial = `<section><h2>{{.Customer}}</h2>{{range .Articles}}<p class="{{if gt .Price 9.0}}dear{{else}}cheap{{end}}">` +
	`{{.Name}}: {{printf "%.2f" .Price}} {{with .Tax}}({{.}}% of tax){{end}}</p>{{end}}</section>`

// renderPartial renders a part of the page. It parses the template first.
func renderPartial(page *strings.Builder, order order) error { // clinic: page
	parsed, err := template.New("partial").Parse(partial)
	if err != nil {
		return err
	}
	return parsed.Execute(page, order)
} // clinic: page

func (shop *shop) page() (string, error) {
	var page strings.Builder
	for _, order := range shop.orders[:shop.partials] {
		if err := renderPartial(&page, order); err != nil {
			return "", err
		}
	}
	return page.String(), nil
}

// isAllowed returns whether an address passes a rule. It compiles the rule's pattern first.
func isAllowed(address string, rule int) bool { // clinic: signup
	pattern := regexp.MustCompile(fmt.Sprintf(`^[a-z0-9._%%+-]+@(?:[a-z0-9-]+\.)+(?:shop%d|example|test)$`, rule))
	return pattern.MatchString(address)
} // clinic: signup

func (shop *shop) signup(address string) (string, error) {
	passed := 0
	for rule := 0; rule < shop.rules; rule++ {
		if isAllowed(address, rule) {
			passed++
		}
	}
	return fmt.Sprintf("%s passes %d rules\n", address, passed), nil
}

// listOrders returns orders as JSON.
func (shop *shop) listOrders() (string, error) { // clinic: orders
	text, err := json.Marshal(shop.orders[:shop.listed])
	return string(text), err
} // clinic: orders

// askSupplier asks whether an article can be had, which takes some milliseconds.
func (shop *shop) askSupplier(name string) int {
	time.Sleep(shop.held) // clinic: reserve-held
	return len(name)
}

func (shop *shop) reserve(name string) (string, error) {
	shop.cartLock.Lock() // clinic: reserve
	defer shop.cartLock.Unlock()
	shop.reserved[name] = shop.askSupplier(name) // clinic: reserve
	return fmt.Sprintf("%d reserved\n", shop.reserved[name]), nil
}

// printLabel prints a label, which takes some milliseconds.
func printLabel() {
	time.Sleep(5 * time.Millisecond) // clinic: label-held
}

func (shop *shop) label() (string, error) {
	shop.printers <- struct{}{} // clinic: label
	defer func() { <-shop.printers }()
	printLabel() // clinic: label
	return "printed\n", nil
}

func (shop *shop) totalPrice() float64 {
	sum := 0.0
	for round := 0; round < shop.rounds; round++ {
		for at := range shop.articles {
			sum += shop.articles[at].Price * shop.articles[at].Amount
		}
	}
	return sum / float64(shop.rounds)
}

func (shop *shop) totalWeight() float64 {
	sum := 0.0
	for round := 0; round < shop.rounds; round++ {
		for at := range shop.articles {
			sum += shop.articles[at].Weight * shop.articles[at].Amount
		}
	}
	return sum / float64(shop.rounds)
}

func (shop *shop) totalVolume() float64 {
	sum := 0.0
	for round := 0; round < shop.rounds; round++ {
		for at := range shop.articles {
			sum += shop.articles[at].Volume * shop.articles[at].Amount
		}
	}
	return sum / float64(shop.rounds)
}

func (shop *shop) totalDeposit() float64 {
	sum := 0.0
	for round := 0; round < shop.rounds; round++ {
		for at := range shop.articles {
			sum += shop.articles[at].Deposit * shop.articles[at].Amount
		}
	}
	return sum / float64(shop.rounds)
}

func (shop *shop) totalTax() float64 {
	sum := 0.0
	for round := 0; round < shop.rounds; round++ {
		for at := range shop.articles {
			sum += shop.articles[at].Tax * shop.articles[at].Amount
		}
	}
	return sum / float64(shop.rounds)
}

func (shop *shop) totalPoints() float64 {
	sum := 0.0
	for round := 0; round < shop.rounds; round++ {
		for at := range shop.articles {
			sum += shop.articles[at].Points * shop.articles[at].Amount
		}
	}
	return sum / float64(shop.rounds)
}

func (shop *shop) overview() (string, error) {
	return fmt.Sprintf("price %.2f\nweight %.2f\nvolume %.2f\ndeposit %.2f\ntax %.2f\npoints %.2f\n", shop.totalPrice(),
		shop.totalWeight(), shop.totalVolume(), shop.totalDeposit(), shop.totalTax(), shop.totalPoints()), nil
}

func newShop() *shop {
	shop := &shop{
		partials: sizeOf("PARTIALS", 8),
		rules:    sizeOf("RULES", 40),
		listed:   sizeOf("LISTED", 100),
		rounds:   sizeOf("ROUNDS", 300),
		held:     time.Duration(sizeOf("HELD_US", 2000)) * time.Microsecond,
		printers: make(chan struct{}, sizeOf("PRINTERS", 3)),
		reserved: map[string]int{},
	}
	for number := 0; number < 400; number++ {
		order := order{Number: number, Customer: fmt.Sprintf("Customer %d & Sons", number)}
		for at := 0; at < 6; at++ {
			value := func(factor int) float64 { return float64((number*7+at*13)*factor%97) / 8 }
			article := article{fmt.Sprintf("Article %d", number*6+at), float64(at + 1),
				value(3), value(5), value(7), value(11), value(13), value(17)}
			order.Articles = append(order.Articles, article)
			if len(shop.articles) < 250 {
				shop.articles = append(shop.articles, article)
			}
		}
		shop.orders = append(shop.orders, order)
	}
	return shop
}

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: shop HOST PORT")
		os.Exit(2)
	}
	shop := newShop()
	handle := func(path, kind string, content func() (string, error)) {
		http.HandleFunc(path, func(response http.ResponseWriter, request *http.Request) {
			if request.URL.Path != path {
				http.NotFound(response, request)
				return
			}
			text, err := content()
			if err != nil {
				http.Error(response, err.Error(), http.StatusInternalServerError)
				return
			}
			response.Header().Set("Content-Type", kind)
			fmt.Fprint(response, text)
		})
	}
	handle("/", "text/plain", func() (string, error) { return "a shop\n", nil })
	handle("/page", "text/html", shop.page)
	handle("/signup", "text/plain", func() (string, error) { return shop.signup("jo@mail.example") })
	handle("/orders", "application/json", shop.listOrders)
	handle("/reserve", "text/plain", func() (string, error) { return shop.reserve("lamp") })
	handle("/label", "text/plain", shop.label)
	handle("/overview", "text/plain", shop.overview)
	fmt.Fprintln(os.Stderr, http.ListenAndServe(os.Args[1]+":"+os.Args[2], nil))
	os.Exit(1)
}
