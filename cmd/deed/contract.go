package main

// contractCmd is deed contract, which has a command for each thing that the
// author of a contract does. None of them needs a server.
type contractCmd struct {
	Test contractTestCommand `cmd:"" help:"Run the tests of contracts: example actions and facts, and what they must come to."`
}

// Help is printed under the commands of deed contract --help.
func (contractCmd) Help() string {
	return `A contract says in YAML what must, may and must not follow an action, and what
the action was allowed to be.

Example:

    deed contract test refund.test.yaml     in CI: exit code 1 if one fails`
}
