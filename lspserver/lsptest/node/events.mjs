// The events of a session as protocol version 1 promises them.
const types = new Set([
  'runStarted', 'turnStarted', 'text', 'thought', 'message', 'toolCall', 'toolOutput', 'plan', 'proposal',
  'permission', 'usage', 'notice', 'steered', 'runEnded',
]);

export class Events {
  counts = {};
  revision = undefined; // of the last proposal event
  #surprise;
  #sessions = new Map(); // to the last seq
  #runs = new Map(); // to the stop reason, undefined while running
  #texts = new Map(); // by messageId
  #progress = new Map(); // token to the kind last seen

  constructor(surprise) {
    this.#surprise = surprise;
  }

  know(sessionId, runId) {
    this.#sessions.set(sessionId, 0);
    this.#runs.set(runId, undefined);
  }

  take(event) {
    const complain = (what) => this.#surprise(`${what}: ${JSON.stringify(event)}`);
    const { sessionId, runId, seq, time, type } = event;
    if (!types.has(type)) complain('unknown event');
    if (!this.#sessions.has(sessionId)) complain('event of a session that was not named before');
    if (seq !== this.#sessions.get(sessionId) + 1) complain(`seq after ${this.#sessions.get(sessionId)}`);
    if (Number.isNaN(Date.parse(time))) complain('time');
    this.#sessions.set(sessionId, seq);
    if (runId !== undefined) {
      if (!this.#runs.has(runId)) complain('event of a run that was not named before');
      if (this.#runs.get(runId) !== undefined) complain('event after runEnded');
    }
    this.counts[type] = (this.counts[type] ?? 0) + 1;
    switch (type) {
      case 'text':
        this.#texts.set(event.messageId, (this.#texts.get(event.messageId) ?? '') + event.delta);
        break;
      case 'message': {
        const streamed = this.#texts.get(event.messageId);
        if (streamed !== undefined && streamed !== event.text) complain(`message is not its deltas, ${JSON.stringify(streamed)}`);
        break;
      }
      case 'proposal':
        this.revision = event.revision;
        break;
      case 'runEnded':
        this.#runs.set(runId, event.stopReason);
    }
  }

  ended(runId) {
    return this.#runs.get(runId) !== undefined;
  }

  stopReason(runId) {
    return this.#runs.get(runId);
  }

  created(token) {
    this.#progress.set(token, 'created');
  }

  progress({ token, value }) {
    const follows = { begin: ['created'], report: ['begin', 'report'], end: ['begin', 'report'] }[value.kind];
    if (!follows?.includes(this.#progress.get(token))) {
      this.#surprise(`progress ${JSON.stringify(value)} of ${JSON.stringify(token)} after ${this.#progress.get(token)}`);
    }
    this.#progress.set(token, value.kind);
  }

  checkProgress() {
    const kinds = [...this.#progress.values()];
    if (kinds.length === 0 || kinds.some((kind) => kind !== 'end')) {
      this.#surprise(`progress that was not ended: ${JSON.stringify([...this.#progress])}`);
    }
  }
}
