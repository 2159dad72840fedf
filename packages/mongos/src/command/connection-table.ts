/** Clients' connections as far as their commands show them. */
export class ConnectionTable {
  /** Whether the handshake carried client metadata. */
  readonly #open = new Map<number, { metadata: boolean }>()
  #created = 0

  get current(): number {
    return this.#open.size
  }

  get totalCreated(): number {
    return this.#created
  }

  /** The connection's state; a new one is taken in. */
  of(connectionId: number): { metadata: boolean } {
    let state = this.#open.get(connectionId)
    if (state === undefined) {
      state = { metadata: false }
      this.#open.set(connectionId, state)
      this.#created++
    }
    return state
  }

  close(connectionId: number): void {
    this.#open.delete(connectionId)
  }
}
