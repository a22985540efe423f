package access

// Surface is the way a request came in.
type Surface uint8

// The surfaces. The zero Surface is none of them and admits nobody.
const (
	REST Surface = iota + 1 // below /v1, for programs
	MCP                     // /mcp, for assistants: whatever arrives here a model may have asked for
	Page                    // in a browser, for people
)

var surfaceNames = [...]string{"none", REST: "REST", MCP: "MCP", Page: "page"}

func (s Surface) String() string {
	if s > Page {
		s = 0
	}
	return surfaceNames[s]
}

// Kind is the kind of credential that a principal was made from.
type Kind uint8

// The kinds of credentials. The zero Kind is none of them.
const (
	APIKey     Kind = iota + 1
	OAuthToken      // a client that a member approved
	Cookie          // a member signed in on the pages
	PageToken       // ten minutes of a signed-in page, for the MCP surface
	Terminal        // a member signed in at the command line
)

var kindNames = [...]string{
	"none", APIKey: "API key", OAuthToken: "OAuth token", Cookie: "session cookie",
	PageToken: "session token", Terminal: "command line session",
}

func (k Kind) String() string {
	if k > Terminal {
		k = 0
	}
	return kindNames[k]
}

// accepted says where each kind of credential is taken. A cookie on /mcp would
// let any page that a browser shows talk to it; what a person has at a terminal
// is not to be handed to a model; and only a person looks at pages.
var accepted = map[Kind][]Surface{
	APIKey:     {REST, MCP},
	OAuthToken: {REST, MCP},
	Cookie:     {REST, Page},
	PageToken:  {MCP},
	Terminal:   {REST},
}

// modelFacing says that a model may be the one who asks.
func modelFacing(k Kind, via Surface) bool { return k == OAuthToken || k == PageToken || via == MCP }
