// Package value holds what facts carry, actions declare and conditions
// compare: typed values and instants. A number is an exact decimal, an amount
// names its currency, and a value that is not there is a value of its own,
// [Missing], which equals nothing.
//
// The package knows neither contracts nor facts, and no floating point.
//
// # Life of a value
//
// A refund tool is called with {"amount": 180.0}. The declaration carries the
// number's text; [Decode] makes a decimal of it without rounding. The contract
// says that the parameter is money in the currency beside it, so the engine
// makes an amount of both. A condition compares it with the amount of a fact,
// which was decoded from {"amount":"180.00","currency":"USD"}: equal, although
// their texts differ. Written into a case it is [Value.AppendJSON], which
// [Decode] reads again.
package value
