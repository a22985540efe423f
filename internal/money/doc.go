// Package money holds exact amounts that name their currency.
//
// Nothing here is ever a binary floating-point number: a decimal is read from
// its text and stays exact at any scale. Two amounts of different currencies
// are neither equal, nor ordered, nor addable; whoever asks gets told so
// instead of an answer. The package knows no contract and no JSON.
//
// # Life of an amount
//
// A payment tool is called with the number 18000 and a contract that says
// `unit: minor` and `currency: usd`. [ParseDecimal] reads 18000 from the
// number's text, [ParseCurrency] makes USD of the code, and [FromMinor] makes
// 180.00 USD of both, because ISO 4217 gives that currency two decimals. The
// amount is compared with what the payment system reports by [Amount.Compare],
// which has no answer when that is in EUR.
package money
