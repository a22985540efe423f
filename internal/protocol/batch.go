package protocol

// stepBatch goes on from s[i] at the top of a batch. Each object in it is a
// message of its own. What lies between objects and is none is noise, in one
// piece however many elements it has; so a line that only looks like a batch,
// such as "[INFO] ready", stays one message.
func (r *Reader) stepBatch(s []byte, i int) int {
	sc := &r.scanner
	c := s[i]
	kind := meaning[c]
	switch sc.state {
	case stateFirst, stateElement:
		switch {
		case kind == space:
		case kind == openObject:
			r.split(s, i)
			r.beginElement()
			r.openMessage()
		case kind == closeArray && sc.state == stateElement:
			sc.state = stateBatchEnd // a comma too many is somebody's JSON
		case sc.state == stateFirst:
			// No object comes first. The line's message goes on.
			r.m.Flags |= NotJSON
			return r.beginRun(i)
		default:
			return r.beginNoise(s, i, NotJSON)
		}
	case stateNext:
		switch kind {
		case space:
		case comma:
			sc.state = stateElement
		case closeArray:
			sc.state = stateBatchEnd
		default:
			return r.beginNoise(s, i, NotJSON|Malformed)
		}
	case stateBatchEnd:
		if kind != space {
			r.beginNoise(s, i, NotJSON|Trailing)
			sc.state = stateRest
		}
	case stateRun:
		return r.stepRun(s, i)
	case stateRunString:
		end, done := sc.stringEnd(s, i)
		if done {
			sc.state = stateRun
		}
		return end
	}
	return i + 1
}

// split gives away what lies before s[i], where a message begins.
func (r *Reader) split(s []byte, i int) {
	r.take(s[r.scanner.from:i])
	r.scanner.from = i
}

// beginNoise starts a message at s[i] for elements that are no objects.
func (r *Reader) beginNoise(s []byte, i int, flags Flags) int {
	r.split(s, i)
	r.beginElement()
	r.m.Flags |= flags
	return r.beginRun(i)
}

func (r *Reader) beginRun(i int) int {
	sc := &r.scanner
	sc.state, sc.depth, sc.afterComma = stateRun, 0, false
	return i
}

// stepRun goes through elements that are no objects, until one is.
func (r *Reader) stepRun(s []byte, i int) int {
	sc := &r.scanner
	for ; i < len(s); i++ {
		kind := meaning[s[i]]
		switch kind {
		case space:
			continue
		case quote:
			sc.state, sc.afterComma = stateRunString, false
			return i + 1
		case openObject:
			if sc.depth == 0 && sc.afterComma {
				r.endRun(s, i)
				return i + 1
			}
			sc.depth++
		case openArray:
			sc.depth++
		case closeObject, closeArray:
			if sc.depth--; sc.depth < 0 {
				sc.state = stateRest
				return i + 1
			}
		}
		sc.afterComma = kind == comma
	}
	return i
}

// endRun completes noise before the object that begins at s[i].
func (r *Reader) endRun(s []byte, i int) {
	r.split(s, i)
	if r.line.batch == 0 {
		r.line.batch = 1
	}
	r.endElement()
	r.beginElement()
	r.openMessage()
}
