package journal

// usage is what a row of the log and what hangs off it take.
func (r *storedRow) usage() stretchUsage {
	u := stretchUsage{entries: 1, leafBytes: int64(len(r.leaf)), newest: r.at}
	if r.data != nil {
		u.details, u.detailBytes = 1, int64(len(r.salt)+len(r.data))
	}
	if r.body.id.Valid {
		u.bodies, u.kept, u.stored = 1, r.body.kept.Int64, r.body.stored.Int64
	}
	return u
}

// checkUsage compares the table of what entries take with what they do take.
// One finding is enough: nothing but answers about disk space depends on it.
func (v *verification) checkUsage() error {
	rows, err := v.tx.QueryContext(v.ctx, "SELECT session, stretch, "+usageColumns+" FROM usage")
	if err != nil {
		return err
	}
	defer rows.Close()
	missing := len(v.derivation.usage)
	var wrong int64
	var one stretchKey
	for rows.Next() {
		var key stretchKey
		var stored stretchUsage
		if err := rows.Scan(append([]any{&key.session, &key.stretch}, stored.targets()...)...); err != nil {
			return err
		}
		is := v.derivation.usage[key]
		if is != nil {
			missing--
		}
		if is == nil || *is != stored {
			wrong++
			one = key
		}
	}
	if wrong > 0 {
		v.report.find(-1, "%d sums of what entries take on the disk are wrong, one of them of session %s behind entry %d",
			wrong, v.uids[one.session], one.stretch<<stretchShift)
	}
	if missing > 0 {
		v.report.find(-1, "%d sums of what entries take on the disk are missing", missing)
	}
	return rows.Err()
}
