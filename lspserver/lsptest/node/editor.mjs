// The documents of the client: what an editor does with workspace/applyEdit,
// taking every range literally.
import { mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import {
  CreateFile, DeleteFile, DidChangeTextDocumentNotification, DidCloseTextDocumentNotification,
  DidOpenTextDocumentNotification, RenameFile, TextDocumentEdit,
} from 'vscode-languageserver-protocol/node';
import { TextDocument } from 'vscode-languageserver-textdocument';

export class Editor {
  /** @type {Map<string, TextDocument>} by URI */
  documents = new Map();
  edits = 0;

  constructor(connection) {
    this.connection = connection;
  }

  open(path) {
    const uri = pathToFileURL(path).href;
    return this.openText(uri, readFileSync(path, 'utf8'));
  }

  openText(uri, text) {
    const document = TextDocument.create(uri, 'plaintext', 1, text);
    this.documents.set(uri, document);
    this.connection.sendNotification(DidOpenTextDocumentNotification.type, {
      textDocument: { uri, languageId: document.languageId, version: document.version, text },
    });
    return document;
  }

  close(uri) {
    if (this.documents.delete(uri)) {
      this.connection.sendNotification(DidCloseTextDocumentNotification.type, { textDocument: { uri } });
    }
  }

  /** The text of the document as a user of the editor sees it. */
  text(uri) {
    return this.documents.get(uri)?.getText() ?? readFileSync(fileURLToPath(uri), 'utf8');
  }

  /** Answers workspace/applyEdit. */
  apply({ edit }) {
    this.edits++;
    const changes = edit.documentChanges;
    if (!changes) throw new Error('applyEdit without documentChanges, which were announced');
    for (const change of changes) {
      if (TextDocumentEdit.is(change)) this.#change(change);
      else if (CreateFile.is(change)) this.#create(change);
      else if (RenameFile.is(change)) this.#rename(change);
      else if (DeleteFile.is(change)) this.#delete(change);
      else throw new Error(`no document change: ${JSON.stringify(change)}`);
    }
    return { applied: true };
  }

  #change({ textDocument: { uri, version }, edits }) {
    if (version === undefined) throw new Error(`${uri}: an edit without version; null was due`);
    const known = this.documents.get(uri);
    if (version !== null && version !== known?.version) {
      throw new Error(`${uri}: an edit of version ${version}, the document is at ${known?.version}`);
    }
    const document = known ?? this.open(fileURLToPath(uri));
    for (const { range } of edits) inside(document, range);
    const text = TextDocument.applyEdits(document, edits); // throws where edits overlap
    // From the end, so that each range is right when it comes to the server.
    const contentChanges = edits
      .map(({ range, newText }) => ({ range, text: newText, at: document.offsetAt(range.start) }))
      .sort((a, b) => b.at - a.at)
      .map(({ range, text }) => ({ range, text }));
    TextDocument.update(document, contentChanges, document.version + 1);
    if (document.getText() !== text) throw new Error(`${uri}: edits in one version and one by one differ`);
    this.connection.sendNotification(DidChangeTextDocumentNotification.type, {
      textDocument: { uri, version: document.version }, contentChanges,
    });
  }

  #create({ uri, options }) {
    if (this.documents.has(uri) || exists(uri)) {
      if (options?.ignoreIfExists && !options.overwrite) return;
      if (!options?.overwrite) throw new Error(`${uri}: a file to create is there`);
    }
    mkdirSync(dirname(fileURLToPath(uri)), { recursive: true });
    writeFileSync(fileURLToPath(uri), '');
    this.openText(uri, '');
  }

  #rename({ oldUri, newUri, options }) {
    if (exists(newUri) && !options?.overwrite) {
      if (options?.ignoreIfExists) return;
      throw new Error(`${newUri}: the target of a rename is there`);
    }
    const text = this.documents.get(oldUri)?.getText();
    renameSync(fileURLToPath(oldUri), fileURLToPath(newUri));
    if (text === undefined) return;
    this.close(oldUri);
    this.openText(newUri, text);
  }

  #delete({ uri, options }) {
    if (!exists(uri)) {
      if (options?.ignoreIfNotExists) return;
      throw new Error(`${uri}: a file to delete is not there`);
    }
    rmSync(fileURLToPath(uri));
    this.close(uri);
  }
}

/** Throws unless both ends of range are places in the document. */
export function inside(document, range) {
  for (const position of [range.start, range.end]) {
    const same = document.positionAt(document.offsetAt(position));
    if (same.line !== position.line || same.character !== position.character) {
      throw new Error(`${document.uri}: ${JSON.stringify(position)} is not in the document`);
    }
  }
}

function exists(uri) {
  return statSync(fileURLToPath(uri), { throwIfNoEntry: false }) !== undefined;
}
