package main

// mapCmd is deed map, which has a command for each thing that the author of a
// mapping does.
type mapCmd struct {
	Check mapCheckCommand `cmd:"" help:"Whether a mapping is right, and fits the server that it is for."`
	Draft mapDraftCommand `cmd:"" help:"Propose a mapping for a server, from the schemas of its tools."`
}

// Help is printed under the commands of deed map --help.
func (mapCmd) Help() string {
	return `A mapping says which calls of a server's tools declare which actions. With
deed run --map each such call is declared before it reaches the server.

Example:

    deed map draft -- npx -y @modelcontextprotocol/server-filesystem . > files.yaml
    deed map check files.yaml -- npx -y @modelcontextprotocol/server-filesystem .`
}
