package main

// contractCmd is deed contract, which has a command for each thing that the
// author of a contract does. None of them needs a server.
type contractCmd struct {
	Validate contractValidateCommand `cmd:"" help:"Everything that is wrong with a contract, and what a change makes weaker."`
	Explain  contractExplainCommand  `cmd:"" help:"A contract in plain language, in sentences that can be quoted."`
	Diff     contractDiffCommand     `cmd:"" help:"What a new version of a contract lets through that the old one did not."`
	Draft    contractDraftCommand    `cmd:"" help:"Propose a contract from recorded actions and their facts."`
	Fmt      contractFmtCommand      `cmd:"" help:"Lay contracts out in one way."`
	Schema   contractSchemaCommand   `cmd:"" help:"The JSON Schema of contracts, for editors."`
	Test     contractTestCommand     `cmd:"" help:"Run the tests of contracts: example actions and facts, and what they must come to."`

	contractServerCommands
}

// Help is printed under the commands of deed contract --help.
func (contractCmd) Help() string {
	return `A contract says in YAML what must, may and must not follow an action, and what
the action was allowed to be. The first seven commands need no server.

Example:

    deed contract validate refund.yaml      is it one, and what is odd about it?
    deed contract explain refund.yaml       in plain language, for whoever owns it
    deed contract test refund.test.yaml     in CI: exit code 1 if a test fails
    deed contract diff old.yaml new.yaml    what gets through that did not before`
}
