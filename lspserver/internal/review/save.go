package review

import (
	"context"
	"slices"

	"github.com/agentls/agentls/lspserver/ext"
	"github.com/agentls/agentls/lspserver/internal/document"
	"github.com/agentls/agentls/tools/changeset"
)

// save has the editor save what was applied, and says in the results where it
// did not.
func (a *Applier) save(ctx context.Context, results []changeset.Result) {
	unsaved := map[string]string{} // path -> URI
	var uris []string
	for _, r := range results {
		if r.State != changeset.Applied && r.State != changeset.Modified || unsaved[r.Path] != "" {
			continue
		}
		// A closed file was written by the editor when it applied the edit.
		if snap, disk := a.Docs.Disk(r.Path); disk == document.Dirty {
			unsaved[r.Path] = snap.URI
			uris = append(uris, snap.URI)
		}
	}
	if len(uris) == 0 {
		return
	}
	failed := a.askToSave(ctx, uris)
	for i, r := range results {
		if reason := failed[unsaved[r.Path]]; reason != "" && r.Reason == "" {
			results[i].Reason = "applied, but not saved: " + reason
		}
	}
}

// saveHidden asks to save what the editor may hold without having told of it:
// Neovim loads a closed file for an edit and attaches a server only where the
// file's type is one of its. It reports whether there is anything of the kind.
func (a *Applier) saveHidden(ctx context.Context, plan []planned) bool {
	var uris []string
	for _, p := range plan {
		if _, open := a.Docs.Get(p.path); !open && p.operation == changeset.OpModify {
			uris = append(uris, p.uri)
		}
	}
	if !a.Save || len(uris) == 0 {
		return false
	}
	return len(a.askToSave(ctx, uris)) < len(uris)
}

// askToSave returns the reason for each document that was not saved.
func (a *Applier) askToSave(ctx context.Context, uris []string) map[string]string {
	all := func(reason string) map[string]string {
		failed := map[string]string{}
		for _, uri := range uris {
			failed[uri] = reason
		}
		return failed
	}
	if !a.Save {
		return all("this editor does not save for a language server: save it yourself")
	}
	ctx, cancel := context.WithTimeout(ctx, a.saveWithin)
	defer cancel()
	var saved ext.SaveResult
	if err := a.Client.Call(ctx, ext.MethodEditorSave, ext.SaveParams{URIs: uris}, &saved); err != nil {
		return all("the editor failed: " + oneLine(err.Error()))
	}
	failed := all("the editor did not say that it saved it")
	for _, uri := range saved.Saved {
		if i := slices.IndexFunc(uris, func(u string) bool { return document.Same(u, uri) }); i >= 0 {
			delete(failed, uris[i])
		}
	}
	for _, f := range saved.Failed {
		for _, uri := range uris {
			if document.Same(uri, f.URI) {
				failed[uri] = oneLine(f.Reason)
			}
		}
	}
	return failed
}
