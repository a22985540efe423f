package journal

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"io"
	"sync"

	"github.com/klauspost/compress/zstd"

	"github.com/deed-dev/deed/internal/journal/entry"
)

const (
	// pieceBytes is how much of a body is compressed and stored at a time.
	pieceBytes = 1 << 20
	// pieceShift is where the number of a piece ends and that of its body begins.
	pieceShift = 20
	// worthPacking is the size below which a message seldom becomes smaller, and
	// the try takes longer than all else that is done to it.
	worthPacking = 320
)

// Body is what is kept of a message besides its detail. Give Bytes or a
// Spill, not both.
type Body struct {
	// Salt and Hash bind what is kept: SHA-256(salt ‖ kept bytes). A Salt that
	// is zero is drawn, and a Hash that is zero is computed. A Spill has both.
	Salt [entry.SaltBytes]byte
	Hash entry.Hash

	// Size is how many bytes are kept. It may be left 0; else it is compared
	// with what is given.
	Size int64

	// Omitted is how many bytes were left out between the first Head of the
	// kept bytes and the rest of them. Both are 0 when nothing was left out.
	Omitted, Head int64

	Bytes []byte // all that is kept, or
	Spill *Spill // the file that it is in
}

// AppendBody is Append with a body. Once it has returned without an error,
// Bytes may be changed and the Spill belongs to the journal. After an error
// the entry is not queued, and the Spill still is the caller's.
func (j *Journal) AppendBody(ctx context.Context, e *entry.Entry, detail *entry.Detail, body *Body) error {
	if body == nil {
		return j.Append(ctx, e, detail)
	}
	kept, sealed, err := j.sealBody(body)
	if err != nil {
		return err
	}
	bound := *e
	bound.Body, bound.Kept, bound.Omitted, bound.Head = kept.Hash, kept.Size, kept.Omitted, kept.Head
	it, err := newItem(&bound, detail)
	if err != nil {
		return err
	}
	it.body = sealed
	if err := j.push(ctx, it); err != nil {
		return err
	}
	if sealed.spill == nil && body.Spill != nil {
		body.Spill.Close() // it was small, and is in memory now
	}
	return nil
}

// keptBody is a body on its way to the database: in memory and packed
// already, or in a spill file of which one batch at a time is in memory.
type keptBody struct {
	salt   []byte
	kept   int64
	pieces []piece
	spill  *Spill
	staged staged
	linked int64 // bytes of its pieces, when it belongs to its entry
}

// piece is a part of a body as it is stored.
type piece struct {
	packed bool
	data   []byte
}

// memory is roughly what the body takes of it.
func (b *keptBody) memory() int64 {
	if b == nil {
		return 0
	}
	bytes := int64(256)
	for _, p := range b.pieces {
		bytes += int64(len(p.data))
	}
	return bytes
}

// discard lets go of the spill file.
func (b *keptBody) discard() {
	if b != nil && b.spill != nil {
		b.spill.Close() // it is of no use any more, whatever this says
	}
}

// sealBody makes a body ready for the queue, and returns what the leaf says
// of it.
func (j *Journal) sealBody(body *Body) (Body, *keptBody, error) {
	said := *body
	switch {
	case body.Spill == nil:
		said.Size = int64(len(body.Bytes))
	case body.Bytes != nil:
		return Body{}, nil, &entry.Error{Reason: "its body is given twice, in memory and in a file"}
	default:
		said.Size = body.Spill.Size()
		if body.Hash == (entry.Hash{}) {
			said.Salt, said.Hash = body.Spill.salt, body.Spill.Hash()
		}
	}
	if body.Size != 0 && body.Size != said.Size {
		return Body{}, nil, &entry.Error{Reason: fmt.Sprintf("its body has %d bytes, not %d", said.Size, body.Size)}
	}
	if said.Salt == ([entry.SaltBytes]byte{}) {
		rand.Read(said.Salt[:]) // never fails
	}
	if said.Hash == (entry.Hash{}) {
		said.Hash = entry.SaltedHash(said.Salt[:], body.Bytes)
	}
	sealed := &keptBody{salt: said.Salt[:], kept: said.Size}
	raw := body.Bytes
	if body.Spill != nil {
		if said.Size > pieceBytes {
			sealed.spill = body.Spill
			return said, sealed, nil
		}
		raw = make([]byte, said.Size)
		if err := body.Spill.readAt(raw, 0); err != nil {
			return Body{}, nil, err
		}
	}
	for len(raw) > 0 {
		part := raw[:min(len(raw), pieceBytes)]
		sealed.pieces = append(sealed.pieces, j.writer.packer.pack(part))
		raw = raw[len(part):]
	}
	return said, sealed, nil
}

// packer compresses pieces. It is made at the first one, so that a recorder
// that keeps no bodies pays nothing for it.
type packer struct {
	once    sync.Once
	encoder *zstd.Encoder
	scratch sync.Pool // of *[]byte: most of what is packed comes to a fraction of it
}

// pack returns a copy of a part of a body, compressed where that pays.
func (p *packer) pack(raw []byte) piece {
	if len(raw) >= worthPacking {
		p.once.Do(func() {
			// No option here can be wrong, which is all that could fail.
			p.encoder, _ = zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(2),
				zstd.WithEncoderCRC(false), zstd.WithWindowSize(pieceBytes))
		})
		scratch, _ := p.scratch.Get().(*[]byte)
		if scratch == nil {
			scratch = new([]byte)
		}
		defer p.scratch.Put(scratch)
		*scratch = p.encoder.EncodeAll(raw, (*scratch)[:0])
		if len(*scratch) < len(raw) {
			return piece{packed: true, data: bytes.Clone(*scratch)}
		}
	}
	return piece{data: append([]byte(nil), raw...)}
}

// unpacker makes bodies of pieces again.
type unpacker struct {
	decoder *zstd.Decoder
	buffer  []byte
}

// unpack returns what a piece holds. It is good until the next call. What a
// stranger has put there cannot take more memory than a piece may have.
func (u *unpacker) unpack(data []byte, packed bool) ([]byte, error) {
	if !packed {
		if len(data) > pieceBytes {
			return nil, fmt.Errorf("it has %d bytes, more than %d", len(data), pieceBytes)
		}
		return data, nil
	}
	if u.decoder == nil {
		var err error
		u.decoder, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(pieceBytes), zstd.WithDecoderLowmem(true))
		if err != nil {
			return nil, err
		}
	}
	var err error
	u.buffer, err = u.decoder.DecodeAll(data, u.buffer[:0])
	return u.buffer, err
}

func (u *unpacker) close() {
	if u.decoder != nil {
		u.decoder.Close()
		u.decoder = nil
	}
}

var _ io.Writer = (*Spill)(nil)

// newBodySum begins the hash by which a leaf binds a body.
func newBodySum(salt []byte) *bodySum {
	sum := bodySum{sha256.New()}
	sum.Write(salt)
	return &sum
}
