package lspserver

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"

	"github.com/agentls/agentls/lspserver/internal/document"
	"github.com/agentls/agentls/tools/workspace"
)

// folder is a workspace folder as the editor names it.
type folder struct {
	URI  string `json:"uri"`
	Name string `json:"name"`
}

type folders []folder

// initialFolders reads workspaceFolders, else rootUri, else rootPath. Without
// any there is no workspace: the process's own folder is never one.
func initialFolders(params tree) folders {
	var fs folders
	for _, v := range params.at("workspaceFolders").list() {
		f := tree{v}
		fs = append(fs, folder{URI: f.at("uri").str(), Name: f.at("name").str()})
	}
	if len(fs) > 0 {
		return fs.local()
	}
	if uri := params.at("rootUri").str(); uri != "" {
		return folders{{URI: uri}}.local()
	}
	if path := params.at("rootPath").str(); filepath.IsAbs(path) {
		return folders{{URI: document.URIOf(path)}}
	}
	return nil
}

// local leaves out folders that are not on this machine's disk.
func (fs folders) local() folders {
	return slices.DeleteFunc(fs, func(f folder) bool {
		_, err := document.PathOf(f.URI)
		return err != nil
	})
}

func (fs folders) uris() (uris []string) {
	for _, f := range fs {
		uris = append(uris, f.URI)
	}
	return uris
}

// places are the folders as the workspace takes them.
func (fs folders) places() (out []workspace.Folder) {
	for _, f := range fs {
		out = append(out, workspace.Folder{Name: cmp.Or(f.Name, filepath.Base(f.path())), Path: f.path()})
	}
	return out
}

// path is where a local folder is.
func (f folder) path() string {
	path, err := document.PathOf(f.URI)
	if err != nil {
		return ""
	}
	return path
}

type didChangeFoldersParams struct {
	Event struct {
		Added   folders `json:"added"`
		Removed folders `json:"removed"`
	} `json:"event"`
}

// didChangeFolders runs on the reading goroutine, as does initialize: nobody
// else touches s.folders.
func (s *server) didChangeFolders(_ context.Context, p didChangeFoldersParams) error {
	for _, gone := range p.Event.Removed.local() {
		s.folders = slices.DeleteFunc(s.folders, func(f folder) bool {
			return workspace.Canonical(f.path()) == workspace.Canonical(gone.path())
		})
	}
	s.folders = append(s.folders, p.Event.Added.local()...)
	s.docs.SetFolders(s.folders.uris())
	if err := s.workspace.SetFolders(s.folders.places()); err != nil {
		return err
	}
	s.reloadConfig()
	return nil
}
