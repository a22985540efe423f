package main

import (
	"context"

	"github.com/deed-dev/deed/internal/contract"
)

type contractSchemaCommand struct{}

// Help is printed under the flags of deed contract schema --help.
func (contractSchemaCommand) Help() string {
	return `Example:

    deed contract schema > contract.schema.json

Prints the JSON Schema of contracts, with which editors complete keys, show what
they mean and mark what is not known. For editors that have a language server
for YAML this first line of a contract is enough:

    # yaml-language-server: $schema=contract.schema.json

The schema knows names, forms and places. Whether a condition is right, and a
step that is named is there, deed contract validate says.`
}

func (contractSchemaCommand) Run(_ context.Context, w *world) error {
	return w.print(string(contract.Schema()))
}
