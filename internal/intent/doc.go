// Package intent turns a call of a tool into the declaration of an action, by
// a mapping file that people write.
//
// [Load] reads the file, JSON or YAML, and refuses what cannot be right with
// the line, the column, the tool and the key. [Mapping.Intent] takes the text
// of a call and returns the body to send. The package sends nothing, keeps
// nothing and decides nothing: it knows no network, no journal and no clock.
// It never looks at what a tool answered, because an answer is a claim.
//
// # Life of an intent
//
// An agent calls refund_payment. The mapping has that name, or
// stripe.refund_payment, and says that the subject is at arguments.order_id.
// One pass over the text of the call's params finds every place that the
// mapping names, as offsets: the amount 180.0 goes into the declaration as the
// five bytes that it was, through no float. The action's id comes from a
// template, or from the tool, the session and the id of the request. A call
// that has no order_id is a [NotDeclarable], which says so and where.
package intent
