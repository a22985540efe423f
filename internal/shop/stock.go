package shop

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Order is what the shop knows about one sale. Amounts are decimal text, so
// that 180.00 stays 180.00 on its way through any client.
type Order struct {
	ID       string `json:"id" jsonschema:"number of the order"`
	Customer string `json:"customer" jsonschema:"who bought"`
	Email    string `json:"email" jsonschema:"where the customer can be reached"`
	Item     string `json:"item" jsonschema:"what was bought"`
	Total    string `json:"total" jsonschema:"what was paid, as decimal text"`
	Refunded string `json:"refunded" jsonschema:"what was paid back, as decimal text"`
	Currency string `json:"currency" jsonschema:"ISO 4217 code of both amounts"`
	Status   string `json:"status" jsonschema:"paid, shipped or delivered"`
	Placed   string `json:"placed" jsonschema:"when it was placed, RFC 3339"`
}

// orders is the whole book, oldest first. It is a function because a variable
// would be made at the start of every program that links the shop.
func orders() []Order {
	return []Order{
		{"1039", "Noor Haddad", "noor@customer.example", "wool blanket", "89.00", "0.00", "EUR", "delivered", "2026-03-02T09:14:00Z"},
		{"1040", "Jonas Weber", "jonas@customer.example", "desk lamp", "64.50", "64.50", "EUR", "delivered", "2026-03-04T16:40:00Z"},
		{"1041", "Amara Okafor", "amara@customer.example", "tea kettle", "42.00", "0.00", "EUR", "shipped", "2026-03-07T11:05:00Z"},
		{"1042", "Mia Lindqvist", "mia@customer.example", "oak chair", "180.00", "0.00", "EUR", "delivered", "2026-03-09T08:22:00Z"},
		{"1043", "Leo Santos", "leo@customer.example", "garden bench", "310.00", "0.00", "EUR", "paid", "2026-03-11T19:51:00Z"},
	}
}

// returned is the part of the book that only a shop with a back office has:
// orders that came back and are to be paid back.
func returned() []Order {
	order := func(id, customer, item, total string) Order {
		name, _, _ := strings.Cut(strings.ToLower(customer), " ")
		return Order{id, customer, name + "@customer.example", item, total, "0.00", "EUR", "returned", "2026-03-12T10:00:00Z"}
	}
	return []Order{
		order("2001", "Ines Moreau", "wool blanket", "89.00"),
		order("2002", "Tomas Novak", "tea kettle", "42.00"),
		order("2003", "Aiko Tanaka", "desk lamp", "64.50"),
		order("2004", "Sara Lind", "linen curtain", "75.00"),
		order("2005", "Omar Haddad", "iron hook", "48.00"),
		order("2006", "Eva Kowalska", "garden chair", "95.00"),
		order("2007", "Luca Ricci", "garden bench", "310.00"),
		order("2008", "Maya Patel", "oak chair", "180.00"),
		order("2009", "Finn Olsen", "wall mirror", "150.00"),
		order("2010", "Nia Mensah", "wool rug", "60.00"),
	}
}

// findOrder returns the order with a number.
func findOrder(id string) (Order, error) {
	for _, o := range slices.Concat(orders(), returned()) {
		if o.ID == id {
			return o, nil
		}
	}
	return Order{}, fmt.Errorf("no order %q; list_orders names those there are", id)
}

// catalogItems is how many articles make about 1 MiB of catalogue.
const catalogItems = 5800

// article is one line of the catalogue.
type article struct {
	SKU         string `json:"sku"`
	Name        string `json:"name"`
	Price       string `json:"price"`
	Currency    string `json:"currency"`
	Stock       int    `json:"stock"`
	Description string `json:"description"`
}

// catalog writes the first n articles as one JSON array.
func catalog(n int) (string, error) {
	kinds := []string{"oak chair", "desk lamp", "wool blanket", "tea kettle", "garden bench", "linen curtain", "iron hook"}
	colours := []string{"natural", "black", "moss", "sand", "brick"}
	all := make([]article, 0, n)
	for i := range n {
		kind, colour := kinds[i%len(kinds)], colours[i%len(colours)]
		all = append(all, article{
			SKU:         fmt.Sprintf("SKU-%05d", i+1),
			Name:        colour + " " + kind,
			Price:       fmt.Sprintf("%d.%02d", 5+i*7%400, i*5%100),
			Currency:    "EUR",
			Stock:       i * 13 % 90,
			Description: fmt.Sprintf("A %s in %s, made to be used every day and repaired when it breaks.", kind, colour),
		})
	}
	text, err := json.Marshal(all)
	if err != nil {
		return "", fmt.Errorf("write the catalogue: %w", err)
	}
	return string(text), nil
}
