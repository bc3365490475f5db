package web

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"
)

// hub holds the document that is shown now and tells subscribers what changes. However many events a build
// makes, a subscriber gets at most one message for each look at the source, with the nodes that changed.
type hub struct {
	source Source

	looking sync.Mutex // one look at a time

	mu    sync.Mutex
	mark  string
	doc   *Document
	nodes [][]byte // each node as JSON
	rest  []byte   // the document without its nodes, and without when it was made
	seq   int
	subs  map[*subscriber]bool
}

// subscriber is one page that looks. messages holds the last one only: a page that is slow gets the whole
// document instead of what it missed.
type subscriber struct{ messages chan []byte }

// change is a document of which only the nodes that changed are sent.
type change struct {
	*Document
	Nodes    *struct{}     `json:"nodes,omitempty"`    // hides Document.Nodes
	Drawings *struct{}     `json:"drawings,omitempty"` // the same: nodes have not moved
	Changed  []changedNode `json:"changed"`
}

type changedNode struct {
	At   int             `json:"at"`
	Node json.RawMessage `json:"node"`
}

func (h *hub) subscribe() *subscriber {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.subs == nil {
		h.subs = map[*subscriber]bool{}
	}
	sub := &subscriber{messages: make(chan []byte, 1)}
	h.subs[sub] = true
	return sub
}

func (h *hub) leave(sub *subscriber) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.subs, sub)
}

// refresh looks at the source and returns the document as it is now. It tells the subscribers when it
// changed.
func (h *hub) refresh(ctx context.Context) (*Document, error) {
	h.looking.Lock()
	defer h.looking.Unlock()
	mark, err := h.source.Mark(ctx)
	if err != nil {
		return nil, err
	}
	h.mu.Lock()
	doc, same := h.doc, h.doc != nil && h.mark == mark
	h.mu.Unlock()
	if same {
		return doc, nil
	}
	if doc, err = h.source.Document(ctx); err != nil {
		return nil, err
	}
	h.take(mark, doc)
	return doc, nil
}

func (h *hub) take(mark string, doc *Document) {
	nodes := make([][]byte, len(doc.Nodes))
	for i := range doc.Nodes {
		nodes[i] = encode(doc.Nodes[i])
	}
	timeless := *doc
	timeless.Generated = time.Time{}
	rest := encode(change{Document: &timeless})
	h.mu.Lock()
	defer h.mu.Unlock()
	c := change{Document: doc, Changed: []changedNode{}}
	partly := h.doc != nil && sameShape(h.doc, doc)
	for i := range nodes {
		if partly && !bytes.Equal(nodes[i], h.nodes[i]) {
			c.Changed = append(c.Changed, changedNode{i, nodes[i]})
		}
	}
	same := partly && len(c.Changed) == 0 && bytes.Equal(rest, h.rest)
	if h.mark = mark; same {
		doc.Seq = h.seq // it is the one that everybody has
		return
	}
	h.seq++
	doc.Seq = h.seq
	h.doc, h.nodes, h.rest = doc, nodes, rest
	if len(h.subs) == 0 {
		return
	}
	var whole []byte
	message := encode(c)
	for sub := range h.subs {
		m := message
		late := false
		select {
		case <-sub.messages: // it has not read the last one
			late = true
		default:
		}
		if late || !partly {
			if whole == nil {
				whole = encode(doc)
			}
			m = whole
		}
		sub.messages <- m
	}
}

// since returns the whole document when it is not the one of number seq. What waits for the subscriber is in
// it.
func (h *hub) since(sub *subscriber, seq int) ([]byte, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	select {
	case <-sub.messages:
	default:
	}
	if h.doc == nil || h.seq == seq {
		return nil, false
	}
	return encode(h.doc), true
}

// sameShape reports whether two documents have the same nodes in the same places.
func sameShape(a, b *Document) bool {
	return len(a.Nodes) == len(b.Nodes) && bytes.Equal(encode(a.Drawings), encode(b.Drawings))
}

func encode(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("BUG: page data does not encode: %v", err))
	}
	return b
}
