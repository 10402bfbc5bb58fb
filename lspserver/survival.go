package lspserver

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"hash/maphash"

	"github.com/agentls/agentls/agent"
	"github.com/agentls/agentls/tools/changeset"
)

// The records by which a proposal survives its process. They stand in the
// session's file before the event that tells of the change.
const (
	// recordProposal is the proposal without the texts of its documents, which
	// would be the same ones over and over.
	recordProposal = "_proposal"
	// recordText is such a text, once.
	recordText = "_text"
)

type (
	proposalRecord struct {
		State changeset.Saved `json:"state"`
		// Base and Seen name texts by file.
		Base map[string]string `json:"base,omitempty"`
		Seen map[string]string `json:"seen,omitempty"`
	}
	savedText struct {
		Hash string `json:"hash"`
		Text string `json:"text"`
	}
)

// keeper stores a proposal as it changes. It is guarded by
// conversation.announcing.
type keeper struct {
	known map[string]bool // texts that are stored
	last  uint64          // of the proposal that is stored
}

var keeperSeed = maphash.MakeSeed()

// keep stores the proposal unless hunks have only moved since the last time:
// when it is restored it is merged with the documents as they are then anyway.
func (k *keeper) keep(s *agent.Session, set *changeset.Set, p changeset.Proposal) error {
	sum := fingerprint(p)
	if sum == k.last {
		return nil
	}
	rec := proposalRecord{State: set.Save(), Base: map[string]string{}, Seen: map[string]string{}}
	for i := range rec.State.Files {
		f := &rec.State.Files[i]
		for _, text := range []struct {
			field *string
			names map[string]string
		}{{&f.Base, rec.Base}, {&f.Seen, rec.Seen}} {
			if *text.field == "" {
				continue
			}
			hash, err := k.text(s, *text.field)
			if err != nil {
				return err
			}
			text.names[f.ID] = hash
			*text.field = ""
		}
	}
	if err := s.Record(recordProposal, rec); err != nil {
		return err
	}
	k.last = sum
	return nil
}

// text stores a text that is not stored yet and returns its name.
func (k *keeper) text(s *agent.Session, text string) (string, error) {
	sum := sha256.Sum256([]byte(text))
	hash := hex.EncodeToString(sum[:16])
	if k.known[hash] {
		return hash, nil
	}
	if err := s.Record(recordText, savedText{Hash: hash, Text: text}); err != nil {
		return "", err
	}
	if k.known == nil {
		k.known = map[string]bool{}
	}
	k.known[hash] = true
	return hash, nil
}

// fingerprint tells proposals apart by all but where their hunks stand.
func fingerprint(p changeset.Proposal) uint64 {
	var h maphash.Hash
	h.SetSeed(keeperSeed)
	word := func(words ...string) {
		for _, w := range words {
			_, _ = h.WriteString(w)
			_ = h.WriteByte(0)
		}
	}
	for _, f := range p.Files {
		word(f.FileID, string(f.Op), f.Path, f.OldPath, string(f.State), f.Reason)
		for _, k := range f.Hunks {
			word(k.HunkID, string(k.State), k.OldText, k.NewText, k.Reason)
		}
	}
	return h.Sum64()
}

// texts are those in a session's records, by name.
func (k *keeper) texts(records []agent.Record) (map[string]string, error) {
	k.known = map[string]bool{}
	texts := map[string]string{}
	for _, r := range records {
		if r.Type != recordText {
			continue
		}
		var t savedText
		if err := json.Unmarshal(r.Line, &t); err != nil {
			return nil, err
		}
		texts[t.Hash], k.known[t.Hash] = t.Text, true
	}
	return texts, nil
}

// reviveProposal finds the newest proposal in a session's records and brings
// it up to the documents as they are now.
func reviveProposal(src changeset.Source, records []agent.Record, texts map[string]string) (*changeset.Set, error) {
	var newest json.RawMessage
	for _, r := range records {
		if r.Type == recordProposal {
			newest = r.Line
		}
	}
	if newest == nil {
		return changeset.New(src), nil
	}
	var rec proposalRecord
	if err := json.Unmarshal(newest, &rec); err != nil {
		return nil, err
	}
	for i := range rec.State.Files {
		f := &rec.State.Files[i]
		f.Base, f.Seen = texts[rec.Base[f.ID]], texts[rec.Seen[f.ID]]
	}
	return changeset.Restore(src, rec.State)
}
