package api

// sample is a request of an endpoint that is right in every way.
type sample struct {
	path       string // with its query
	credential string
	body       string
	answers    int // with the fakes
}

// samples has one for every endpoint of the table, by route.
var samples = map[string]sample{
	"POST /v1/actions":                              {"/v1/actions", "full-key", `{"action_id":"a-1","contract_id":"refund","odd":1}`, 201},
	"POST /v1/actions:batch":                        {"/v1/actions:batch", "full-key", `{"actions":[{"contract_id":"refund"},{"subject_id":"o-1"}]}`, 200},
	"GET /v1/actions/{ref}":                         {"/v1/actions/refund%3Ao%2F1", "full-key", "", 200},
	"GET /v1/actions":                               {"/v1/actions?period=2026-11&verdict=FAIL&lens=outcome&limit=3", "full-key", "", 200},
	"GET /v1/actions/pending":                       {"/v1/actions/pending?contract_id=refund", "full-key", "", 200},
	"POST /v1/facts":                                {"/v1/facts", "full-key", `{"facts":[{"source":"stripe","external_id":"re_1","type":"refund.succeeded","occurred_at":"2026-11-02T12:00:00Z"}]}`, 200},
	"GET /v1/facts":                                 {"/v1/facts?ref=key:a-1&period=2026-11", "full-key", "", 200},
	"GET /v1/facts/{source}/{family}/{external_id}": {"/v1/facts/stripe/refund/re_1", "full-key", "", 200},
	"GET /v1/sources":                               {"/v1/sources", "full-key", "", 200},
	"POST /v1/sources":                              {"/v1/sources", "admin", `{"name":"stripe","trust":"attested","provides":["refund.succeeded"],"resolution":"1s"}`, 201},
	"GET /v1/sources/{source}":                      {"/v1/sources/stripe", "full-key", "", 200},
	"PATCH /v1/sources/{source}":                    {"/v1/sources/stripe", "admin", `{"title":"Stripe"}`, 200},
	"PUT /v1/sources/{source}/watermark":            {"/v1/sources/stripe/watermark", "full-key", `{"watermarks":{"refund.succeeded":"2026-11-02T12:00:00Z"}}`, 200},
	"GET /v1/contracts":                             {"/v1/contracts", "full-key", "", 200},
	"POST /v1/contracts":                            {"/v1/contracts", "analyst", `{"yaml":"contract: refund","note":"why"}`, 201},
	"GET /v1/contracts/{id}":                        {"/v1/contracts/refund", "full-key", "", 200},
	"GET /v1/contracts/{id}/versions":               {"/v1/contracts/refund/versions", "full-key", "", 200},
	"GET /v1/contracts/{id}/versions/{n}":           {"/v1/contracts/refund/versions/1", "full-key", "", 200},
	"GET /v1/contracts/{id}/diff":                   {"/v1/contracts/refund/diff?from=1&to=2", "full-key", "", 200},
	"POST /v1/contracts/validate":                   {"/v1/contracts/validate", "full-key", `{"yaml":"contract: refund\nsteps: 7"}`, 200},
	"POST /v1/contracts/draft":                      {"/v1/contracts/draft", "full-key", `{"action_type":"refund_order"}`, 200},
	"POST /v1/contracts/{id}/versions/{n}/approve":  {"/v1/contracts/refund/versions/1/approve", "analyst", "", 200},
	"POST /v1/contracts/{id}/versions/{n}/activate": {"/v1/contracts/refund/versions/1/activate", "admin", `{"mode":"live"}`, 200},
	"POST /v1/contracts/{id}/retire":                {"/v1/contracts/refund/retire", "admin", "", 200},
	"POST /v1/contracts/dry-run":                    {"/v1/contracts/dry-run", "full-key", `{"contract_id":"refund","period":"2026-11"}`, 200},
	"GET /v1/orphans":                               {"/v1/orphans?contract_id=refund", "full-key", "", 200},
	"GET /v1/usage":                                 {"/v1/usage", "full-key", "", 200},
	"GET /v1/audit":                                 {"/v1/audit?limit=7", "admin", "", 200},
	"GET /v1/summary":                               {"/v1/summary", "full-key", "", 200},
	"GET /v1/reason-codes":                          {"/v1/reason-codes", "-", "", 200},
	"POST /v1/session":                              {"/v1/session", "-", `{"email":"ada@example.com","password":"correct horse"}`, 201},
	"GET /v1/session":                               {"/v1/session", "owner", "", 200},
	"DELETE /v1/session":                            {"/v1/session", "viewer", "", 204},
	"POST /v1/session/confirm":                      {"/v1/session/confirm", "stale-owner", `{"password":"correct horse"}`, 200},
	"POST /v1/session/password":                     {"/v1/session/password", "viewer", `{"password":"correct horse battery"}`, 201},
	"GET /v1/members":                               {"/v1/members", "viewer", "", 200},
	"POST /v1/members":                              {"/v1/members", "admin", `{"email":"grace@example.com","role":"viewer"}`, 201},
	"POST /v1/members/{id}/link":                    {"/v1/members/per_ada/link", "owner", "", 201},
	"PATCH /v1/members/{id}":                        {"/v1/members/per_ada", "admin", `{"role":"analyst"}`, 200},
	"DELETE /v1/members/{id}":                       {"/v1/members/per_ada", "admin", "", 204},
	"GET /v1/keys":                                  {"/v1/keys", "stale-owner", "", 200},
	"POST /v1/keys":                                 {"/v1/keys", "admin", `{"name":"k","preset":"recorder","limits":{"contracts":["refund"]}}`, 201},
	"POST /v1/keys/{id}/rotate":                     {"/v1/keys/key_1/rotate", "admin", `{"overlap":"24h"}`, 201},
	"DELETE /v1/keys/{id}":                          {"/v1/keys/key_1", "admin", "", 204},
	"GET /v1/workspace":                             {"/v1/workspace", "token", "", 200},
	"PATCH /v1/workspace":                           {"/v1/workspace", "owner", `{"second_member":true}`, 200},
	"DELETE /v1/workspace":                          {"/v1/workspace?confirm=Acme", "owner", "", 204},
	"GET /v1/ledger/checkpoint":                     {"/v1/ledger/checkpoint", "full-key", "", 200},
	"GET /v1/ledger/proof":                          {"/v1/ledger/proof?digest=" + sampleDigest, "full-key", "", 200},
	"GET /v1/verify/{hash}":                         {"/v1/verify/" + sampleDigest, "full-key", "", 200},
	"GET /healthz":                                  {"/healthz", "-", "", 200},
	"GET /readyz":                                   {"/readyz", "-", "", 200},
	"GET " + openAPIPath:                            {openAPIPath, "-", "", 200},
	"GET " + docsPath:                               {docsPath, "-", "", 200},
}
