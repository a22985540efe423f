package demo

import (
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"pgregory.net/rapid"
)

// promise is what a tool says about itself.
type promise string

const (
	silent      promise = "says nothing"
	onlyTitle   promise = "says its title only"
	readOnly    promise = "says read-only"
	harmless    promise = "says read-only and not destructive"
	openWorld   promise = "says read-only in an open world"
	destructive promise = "says destructive"
	both        promise = "says read-only and destructive"
	additive    promise = "says not destructive"
)

func (p promise) tool(name string) *mcp.Tool {
	hints := map[promise]*mcp.ToolAnnotations{
		onlyTitle:   {Title: "Nice"},
		readOnly:    {ReadOnlyHint: true},
		harmless:    {ReadOnlyHint: true, DestructiveHint: new(false), OpenWorldHint: new(false)},
		openWorld:   {ReadOnlyHint: true, OpenWorldHint: new(true)},
		destructive: {DestructiveHint: new(true)},
		both:        {ReadOnlyHint: true, DestructiveHint: new(true)},
		additive:    {DestructiveHint: new(false)},
	}
	return &mcp.Tool{Name: name, Annotations: hints[p]}
}

func TestToolsThatMayBeCalled(t *testing.T) {
	t.Parallel()
	for promised, names := range map[promise]string{
		silent: `
			list_orders get_order getOrder GetHTTPStatus get-issue fetch_html
			search echo ping count ip_get_details git_show memory_bank_read
			notion-search readFile read_multiple_files LIST_TABLES describe2
			get_message_by_id list_allowed_directories directory_view
			find_new_posts status show_branch query_metrics list.files
			docs/search get__name view_cart search_flights`,
		readOnly: `
			sequentialthinking read_graph search_nodes open_nodes get_order
			list_directory_with_sizes get_update_history generate_bar_chart
			find_new_posts directory_tree validate_usage lint-files version`,
		harmless:  `echo get-sum get-tiny-image get-annotated-message simulate`,
		openWorld: `web_search resolver_library_id query-docs`,
	} {
		for _, name := range strings.Fields(names) {
			if reason, safe := judge(promised.tool(name)); !safe {
				t.Errorf("%s, which %s, is refused: %s", name, promised, reason)
			}
		}
	}
}

func TestToolsThatAreRefused(t *testing.T) {
	t.Parallel()
	const says, onlySays, nothing = "its name says", "it says that it only reads, but its name says", "nothing says that it only reads"
	const secrets, destroys, noPromise = "its answer may hold secrets", "it says that it may destroy something", "it does not say that it only reads"
	for _, refusal := range []struct {
		promised promise
		reason   string
		names    string
	}{
		// Read-like names with a second half that is not.
		{silent, says, `
			list_and_wipe search_and_replace query_db_truncate find_and_modify
			get_or_create fetch_and_post read_then_send list_and_notify
			getAndDelete get_deleted_items find_or_order query_then_email
			fetch_unread_and_archive lookupAndRemoveUser show_and_tag`},
		// Plain writes, in every spelling.
		{silent, says, `
			add_observations resolve_incident evaluate_js delete_user DeleteUser
			deleteuser DELETE-USER bulkdelete create_issue update_task
			write_file edit_file move_file send_message sendEmail order_pizza
			post_tweet git_commit git_add git_reset git_checkout git_init
			git_stash mark_task_done approve_request_completion run_query
			execute_sql executeSql pay_invoice transfer_funds open_drawio_xml
			create_entities set_page report_incident call_phone run exec sh
			add HTTPDelete drop_table purge_cache removeAllListeners revoke_token
			destroy_cluster shutdown_host db_overwrite uninstall_app reset
			tweet_status bump_version submit_info install_package get_and_pay kill_process restart_pod`},
		// Secrets.
		{silent, secrets, `
			fetch_apikey fetch_api_key getApiKey view_wallet_seed get-env
			list_secrets read_password get_passwords show_credentials
			list_keys get_token countTokens read_cookies getPrivateKey
			get_ssh_key env describe_mnemonic find_access_key`},
		{readOnly, secrets, `get-env view_wallet_seed fetch_apikey printEnv list_secrets`},
		{harmless, secrets, `get-env vault_read`},
		// Nothing to go by.
		{silent, nothing, `
			sequentialthinking process_data frobnicate current_time toot_status
			git_fetch hash random check_out check_in sum do_it x browser_click
			convertor orders listing whatever_stats`},
		// Promises that the name contradicts.
		{readOnly, onlySays, `
			delete_user wipe_disk list_and_wipe execute_query search_and_replace
			query_db_truncate evaluate_js send_mail run_report create_bug_report
			update_task set_value trigger-long-running-operation remove
			deleteuser purgeQueue write_file get_deleted_items`},
		{openWorld, onlySays, `http_exec post_and_destroy send_webhook`},
		// Promises that are none, or that say the opposite.
		{onlyTitle, noPromise, `get_order list_orders echo`},
		{additive, noPromise, `get_order append_note toggle-simulated-logging`},
		{destructive, destroys, `get_order list_orders write_file`},
		{both, destroys, `get_order list_orders`},
	} {
		for _, name := range strings.Fields(refusal.names) {
			reason, safe := judge(refusal.promised.tool(name))
			if safe || !strings.HasPrefix(reason, refusal.reason) {
				t.Errorf("%s, which %s: called %v, reason %q; want refused because %s", name, refusal.promised, safe, reason, refusal.reason)
			}
		}
	}
}

func TestANameThatCannotBeReadIsRefused(t *testing.T) {
	t.Parallel()
	for what, name := range map[string]string{
		"a Cyrillic letter in delete":    "list_d\u0435lete",
		"a full-width name":              "\uff47\uff45\uff54",
		"an invisible character":         "get\u200border",
		"bytes that are not UTF-8":       "get_\xff",
		"no letter at all":               "1234",
		"nothing":                        "",
		"a name that is blank":           "   ",
		"a right-to-left override":       "get_\u202eeteled",
		"a long s that folds to s":       "li\u017ft_orders",
		"a Kelvin sign that folds to k":  "chec\u212a_orders",
		"a combining accent on a vowel":  "ge\u0301t_order",
		"a mathematical bold alphabet g": "\U0001d420et_order",
	} {
		for _, promised := range []promise{silent, harmless} {
			if reason, safe := judge(promised.tool(name)); safe || reason == "" {
				t.Errorf("%s: called %v with reason %q, want refused with a reason", what, safe, reason)
			}
		}
	}
}

func TestNamesAreCutIntoWords(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"list_orders":      "list orders",
		"listOrders":       "list orders",
		"ListOrders":       "list orders",
		"LIST_ORDERS":      "list orders",
		"list-orders.v2":   "list orders v",
		"getHTTPStatus":    "get http status",
		"HTTPGet":          "http get",
		"get__":            "get",
		"shop:list/orders": "shop list orders",
		"getX":             "get x",
		"aB":               "a b",
	} {
		words, ok := splitName(name)
		if got := strings.Join(words, " "); !ok || got != want {
			t.Errorf("%q is cut into %q, want %q", name, got, want)
		}
	}
}

// TestAnAlarmingWordIsNeverCalled is the promise that matters: however a
// dangerous word is spelled and surrounded, and whatever the tool says about
// itself, it is refused.
func TestAnAlarmingWordIsNeverCalled(t *testing.T) {
	t.Parallel()
	dangerous := slices.Concat(alarmWords(), alarmStems(), secretWords(), secretStems())
	around := slices.Concat(readVerbs(), []string{"orders", "all", "file", "user", "node", "db"})
	spellings := map[string]func(words []string) string{
		"snake": func(w []string) string { return strings.Join(w, "_") },
		"kebab": func(w []string) string { return strings.Join(w, "-") },
		"upper": func(w []string) string { return strings.ToUpper(strings.Join(w, "_")) },
		"dots":  func(w []string) string { return strings.Join(w, ".") },
		"camel": func(w []string) string {
			var b strings.Builder
			for i, word := range w {
				if i > 0 {
					word = strings.ToUpper(word[:1]) + word[1:]
				}
				b.WriteString(word)
			}
			return b.String()
		},
	}
	names := []string{"snake", "kebab", "upper", "dots", "camel"}
	promises := []promise{silent, onlyTitle, readOnly, harmless, openWorld, destructive, both, additive}
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(rapid.SampledFrom(around), 0, 3).Draw(t, "around")
		word := rapid.SampledFrom(dangerous).Draw(t, "dangerous")
		at := rapid.IntRange(0, len(words)).Draw(t, "at")
		name := spellings[rapid.SampledFrom(names).Draw(t, "spelling")](slices.Insert(slices.Clone(words), at, word))
		if _, safe := judge(rapid.SampledFrom(promises).Draw(t, "promise").tool(name)); safe {
			t.Fatalf("%s is called", name)
		}
	})
}

func TestAToolWithoutPromisesIsNeverCalledWithAChangingWord(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		verb := rapid.SampledFrom(readVerbs()).Draw(t, "reads")
		change := rapid.SampledFrom(changeVerbs()).Draw(t, "changes")
		between := rapid.SampledFrom([]string{"_", "_and_", "_all_", "_or_"}).Draw(t, "between")
		name := verb + between + change
		if _, safe := judge(silent.tool(name)); safe {
			t.Fatalf("%s is called", name)
		}
	})
}
