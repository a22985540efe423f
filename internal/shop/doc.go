// Package shop is a small MCP server to try Deed on: a shop with orders and
// refunds, a slow tool, two that fail, one with an enormous answer and one
// that writes to an address outside.
//
// It must not touch anything. It reads no file, opens no connection by itself and
// keeps no state, so that every run gives the same answers and nothing can go wrong
// on the machine of someone who only wanted to look. Where it is given a [Payer],
// its refunds are ordered from that one, some of them wrongly ([faults]). It also must cost nothing
// to a program that links it and does not use it: all data and all schemas
// are made when a server is.
//
// # Life of a refund
//
// A client calls refund_order for order 1042. The shop finds the order, checks
// the amount against its total and answers "refund issued" with a number. No
// payment provider ever hears of it, and get_order goes on to say that nothing
// was refunded. That is on purpose: what a tool answers is a claim, and the
// shop is here to show the difference between a claim and a fact.
package shop
