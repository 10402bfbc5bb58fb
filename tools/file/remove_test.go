package file_test

import (
	"testing"
)

func TestDeleteFile(t *testing.T) {
	d := newDesk(t, map[string]string{"a.go": "x\n", "dir/b.go": "x\n"})
	says(t, "delete", d.ok("delete_file", in{"path": "a.go"}), "Proposed to delete a.go", "not on disk yet")
	d.fails("read_file", in{"path": "a.go"}, "not found", "you proposed to delete or move it")
	d.fails("delete_file", in{"path": "a.go"}, "not found")
	d.fails("delete_file", in{"path": "dir"}, "folder")
	d.fails("delete_file", in{"path": "nothing"}, "not found")
	d.ok("write_file", in{"path": "new.go", "content": "x\n"})
	says(t, "withdraw", d.ok("delete_file", in{"path": "new.go"}), "Withdrew new.go")
	d.ok("write_file", in{"path": "a.go", "content": "again\n"})
	d.sees("a.go", "again\n")
}

func TestMoveFile(t *testing.T) {
	d := newDesk(t, map[string]string{"a.go": "x\n", "b.go": "y\n", "dir/c.go": "z\n"})
	d.fails("move_file", in{"from": "a.go", "to": "b.go"}, "b.go exists already")
	d.fails("move_file", in{"from": "a.go", "to": "dir"}, "dir is a folder")
	d.fails("move_file", in{"from": "a.go", "to": "b.go/x"}, "leads through a file")
	d.fails("move_file", in{"from": "dir", "to": "dir2"}, "folder")
	d.fails("move_file", in{"from": "nothing", "to": "else"}, "nothing not found")
	d.fails("move_file", in{"from": "a.go", "to": "./a.go"}, "no change")
	says(t, "move", d.ok("move_file", in{"from": "a.go", "to": "new/dir/a.go"}), "Proposed to move a.go to new/dir/a.go", "not on disk yet")
	d.sees("new/dir/a.go", "x\n")
	d.fails("read_file", in{"path": "a.go"}, "not found", "delete or move")
	d.ok("edit_file", in{"path": "new/dir/a.go", "old_text": "x", "new_text": "X"})
	d.ok("delete_file", in{"path": "b.go"})
	d.ok("move_file", in{"from": "new/dir/a.go", "to": "b.go"})
	d.sees("b.go", "X\n")
}
