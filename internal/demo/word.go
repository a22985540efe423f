package demo

import "strings"

// The lists are functions so that a program that links this package and
// does not use it pays nothing for them at its start.

// readVerbs say that a tool only looks, when they lead its name.
func readVerbs() []string {
	return strings.Fields(`
		check compare count describe diff echo fetch find get help info
		inspect list lookup peek ping query read retrieve search show stat
		stats status summarise summarize validate version view whoami`)
}

// fieldVerbs say the same after the name of a field, as in ip_get_details or
// memory_bank_read. Words that are nouns as well are missing: git_status
// reads, but tweet_status does not. So is fetch, which writes for git.
func fieldVerbs() []string {
	return strings.Fields(`describe find get inspect list lookup read retrieve search show view`)
}

// changeVerbs say that a tool changes something, wherever they stand.
func changeVerbs() []string {
	return strings.Fields(`
		ack acknowledge acquire activate add adjust allocate amend append apply
		approve arm assign associate attach ban bump buy cancel checkin
		checkout clear close commit complete configure confirm consume copy
		create deactivate debit define deny dequeue detach disable disarm
		disconnect dismiss duplicate edit emit enable enqueue escalate import
		increment init initialize insert install invalidate invite invoke join
		kick launch leave lend login logout make mark merge migrate modify
		mount move mute navigate patch persist pop promote provision publish
		push put rebase rebuild refresh register reindex reject reload rename
		reopen reorder repair reply reschedule reserve resize resolve restart
		restore resume revert rollback rotate save schedule set snooze spawn start
		stash stop submit subscribe suspend swap sync toggle transition trigger
		type unarchive unassign unban unblock unfollow unlink unlock unmount
		unpin unsubscribe unzip update upgrade upload upsert withdraw zip`)
}

// eitherVerbs are nouns as often as verbs: get_order reads, order_pizza does
// not. They count where they lead a name or where it joins two things.
func eitherVerbs() []string {
	return strings.Fields(`
		archive block book branch build call change charge claim clean click
		clone comment connect convert deposit dial download draft email export
		fill finish fix flag flush follow fork generate give grant issue label
		like link load lock log mail map message notify open order pause place
		play plan post press print pull react record refund release report
		review rsvp scale select share ship sign snapshot stage star store
		tag take tap text touch turn tweet use vote`)
}

// joinWords say that a name promises two things, of which the second is
// seldom a noun: list_and_notify, get_or_post.
func joinWords() []string { return strings.Fields(`and or then with plus into`) }

// particles turn a reading verb into another one: check_out, read_off.
func particles() []string { return strings.Fields(`in off on out up`) }

// alarmWords are words with which a tool is not called whatever it promises.
// They are short or part of other words, and so count only whole.
func alarmWords() []string {
	return strings.Fields(`
		bash cmd code deploy drop dropped drops eval exec format halt inject js
		kill killed kills lambda nuke pay payment pays payout python reboot
		replace reset resets rm run runs script send sends sent sh shell spend
		sudo trade transfer trash uninstall unset wipe wiped wipes wiping write
		writes writing`)
}

// alarmStems are the same, long enough to be looked for inside words.
func alarmStems() []string {
	return strings.Fields(`
		decommission delet deprovision destr discard eras evaluat execut
		javascript obliterat overwrit poweroff powershell purg remov revok
		shred shutdown terminat truncat`)
}

// secretWords are words for what an answer should not show.
func secretWords() []string {
	return strings.Fields(`
		auth cookie cookies cred creds env environ environment jwt key keys
		keychain keyring mnemonic otp pin pwd seed seeds token tokens totp
		vault wallet`)
}

// secretStems are the same, found inside and across words.
func secretStems() []string {
	return strings.Fields(`
		accesskey apikey authtoken bearer cookie credential passphrase passwd
		password privatekey secret seedphrase signingkey sshkey`)
}
