package verdict

// What the tests share that see this package from outside, because they need
// the engine that imports it.
var (
	Generated  = generated
	ReadPage   = readPage
	Resort     = resort
	RefundCase = refundCase
)

const CasePage = casePage
