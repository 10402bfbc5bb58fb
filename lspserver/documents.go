package lspserver

import (
	"context"

	"github.com/agentls/agentls/lspserver/internal/document"
)

// The params of document notifications, with URIs as the editor spells them:
// protocol's own URI type would rewrite them.
type (
	didOpenParams struct {
		TextDocument struct {
			URI        string `json:"uri"`
			LanguageID string `json:"languageId"`
			Version    int32  `json:"version"`
			Text       string `json:"text"`
		} `json:"textDocument"`
	}
	versionedDocument struct {
		URI     string `json:"uri"`
		Version *int32 `json:"version"`
	}
	didChangeParams struct {
		TextDocument   versionedDocument `json:"textDocument"`
		ContentChanges []document.Change `json:"contentChanges"`
	}
	didSaveParams struct {
		TextDocument versionedDocument `json:"textDocument"`
		Text         *string           `json:"text"`
	}
	didCloseParams struct {
		TextDocument versionedDocument `json:"textDocument"`
	}
	didRenameFilesParams struct {
		Files []struct {
			OldURI string `json:"oldUri"`
			NewURI string `json:"newUri"`
		} `json:"files"`
	}
	didChangeWatchedFilesParams struct {
		Changes []struct {
			URI string `json:"uri"`
		} `json:"changes"`
	}
)

func (s *server) didOpen(_ context.Context, p didOpenParams) error {
	d := p.TextDocument
	return s.docs.Open(d.URI, d.LanguageID, d.Version, d.Text)
}

func (s *server) didChange(_ context.Context, p didChangeParams) error {
	var version int32
	if p.TextDocument.Version != nil {
		version = *p.TextDocument.Version
	}
	return s.docs.Change(p.TextDocument.URI, version, p.ContentChanges)
}

func (s *server) didSave(_ context.Context, p didSaveParams) error {
	return s.docs.Save(p.TextDocument.URI, p.Text)
}

func (s *server) didClose(_ context.Context, p didCloseParams) error {
	return s.docs.Close(p.TextDocument.URI)
}

func (s *server) didRenameFiles(_ context.Context, p didRenameFilesParams) error {
	for _, f := range p.Files {
		s.docs.Rename(f.OldURI, f.NewURI)
		s.diskChanged(f.OldURI)
		s.diskChanged(f.NewURI)
	}
	return nil
}

func (s *server) didChangeWatchedFiles(_ context.Context, p didChangeWatchedFilesParams) error {
	for _, c := range p.Changes {
		s.diskChanged(c.URI)
	}
	return nil
}
