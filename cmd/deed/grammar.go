package main

import "github.com/deed-dev/deed/internal/setting"

// commands is the command line. The order is the order of the help.
type commands struct {
	Home    homeFlag    `help:"Folder of the journal." placeholder:"DIR" env:"DEED_HOME"`
	Version versionFlag `help:"Print the version, the commit and its date." short:"V"`

	Run        runCmd        `cmd:"" help:"Wrap an MCP server and record what crosses its wire."`
	Recorder   recorderCmd   `cmd:"" help:"The same as deed run --map, with the flags of a recorder alone."`
	Flush      flushCmd      `cmd:"" help:"Send what waits in the outbox, and show what is left."`
	Demo       demoCmd       `cmd:"" help:"Record a real MCP server with nothing to configure."`
	Last       lastCmd       `cmd:"" help:"What happened in the last run: failures first, then what was enormous."`
	Tail       tailCmd       `cmd:"" help:"The latest calls, one a line, oldest first."`
	Watch      watchCmd      `cmd:"" help:"Each call as it ends, live."`
	Show       showCmd       `cmd:"" help:"Everything that is recorded about one call."`
	Search     searchCmd     `cmd:"" help:"Find calls by text, tool or destination."`
	Stats      statsCmd      `cmd:"" help:"What each tool did: calls, errors, times, sizes, and where data went."`
	Cost       costCmd       `cmd:"" help:"What tools returned, in bytes and estimated tokens."`
	Tools      toolsCmd      `cmd:"" help:"The tools that servers offered, and which definitions changed."`
	Export     exportCmd     `cmd:"" help:"Everything as JSON lines."`
	Du         duCmd         `cmd:"" help:"What takes how much room, and what goes next."`
	Erase      eraseCmd      `cmd:"" help:"Delete what was kept of calls; the log still verifies."`
	Verify     verifyCmd     `cmd:"" help:"Check that nothing was altered since it was written."`
	Checkpoint checkpointCmd `cmd:"" help:"Print the signed checkpoint, to keep where nobody here can change it."`
	Evaluate   evaluateCmd   `cmd:"" help:"Whether declared actions really happened and were allowed, from the facts of systems of record."`
	Contract   contractCmd   `cmd:"" help:"Write, understand, compare and test contracts."`
	Map        mapCmd        `cmd:"" help:"Write and check mappings: which calls of tools declare which actions."`
	Action     actionCmd     `cmd:"" help:"Declare actions at a server, and read their verdicts."`
	Fact       factCmd       `cmd:"" help:"Tell a server what systems of record say."`
	Source     sourceCmd     `cmd:"" help:"The systems of record of a server, and how complete their facts are."`
	Gate       gateCmd       `cmd:"" help:"For CI: wait for verdicts, and fail unless they are PASS."`
	Login      loginCmd      `cmd:"" help:"Sign in to a server, for the commands on this machine."`
	Logout     logoutCmd     `cmd:"" help:"End that session."`
	Whoami     whoamiCmd     `cmd:"" help:"As whom a server sees you."`
	Confirm    confirmCmd    `cmd:"" help:"Prove that it is you, for what asks for it."`
	Password   passwordCmd   `cmd:"" help:"Set your password at a server."`
	Key        keyCmd        `cmd:"" help:"The API keys of a workspace."`
	Member     memberCmd     `cmd:"" help:"The members of a workspace."`
	Workspace  workspaceCmd  `cmd:"" help:"A workspace, its settings and its audit."`
	Serve      serveCmd      `cmd:"" help:"The verifier as a server: it takes declarations and facts, and keeps verdicts."`
	Fsck       fsckCmd       `cmd:"" help:"Verify all that a server keeps: ledgers, declarations, verdicts, audit."`
	Backup     backupCmd     `cmd:"" help:"Copy a server's embedded database, also while it is served."`
	Restore    restoreCmd    `cmd:"" help:"Put such a copy back."`
	Secret     secretCmd     `cmd:"" help:"The secret that servers of one database share."`
	Host       hostCmd       `cmd:"" help:"For whoever runs a server: its workspaces and their plans, links for members, exports."`
	DemoServer demoServerCmd `cmd:"" hidden:"" help:"The MCP server that deed demo records."`
	DemoOffice demoOfficeCmd `cmd:"" hidden:"" help:"The system of record of deed demo."`
}

// recording is the part of the command line that wraps a server. Building all
// of it takes milliseconds that every start of a wrapped server would wait for.
type recording struct {
	Home    homeFlag    `help:"Folder of the journal." placeholder:"DIR" env:"DEED_HOME"`
	Version versionFlag `help:"Print the version, the commit and its date." short:"V"`

	Run      runCmd      `cmd:"" help:"Wrap an MCP server and record what crosses its wire."`
	Recorder recorderCmd `cmd:"" help:"The same as deed run --map, with the flags of a recorder alone."`
}

// grammar is the command line that args need, and where its home will stand.
func grammar(args []string) (any, *homeFlag) {
	if len(args) > 0 && (args[0] == "run" || args[0] == "recorder") {
		line := &recording{}
		return line, &line.Home
	}
	line := &commands{}
	line.addSettings()
	return line, &line.Home
}

// addSettings gives the commands of a server their flags, which are made from the
// table of settings.
func (c *commands) addSettings() {
	c.Serve.Settings = newSettingFlags(setting.Serving | setting.Kept)
	for _, flags := range []*settingFlags{
		&c.Fsck.Settings, &c.Backup.Settings, &c.Restore.Settings,
		&c.Host.Workspaces.Settings, &c.Host.Create.Settings, &c.Host.Link.Settings, &c.Host.Export.Settings,
	} {
		*flags = newSettingFlags(setting.Kept)
	}
	c.Host.Plan.Settings = newSettingFlags(setting.Kept | setting.Planned)
}
