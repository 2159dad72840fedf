/** Clients' connections as far as their commands show them. Server: client_metadata.cpp, session_manager_common.cpp. */
import { BsonType, CommandError, findField, findPath } from '@shardlab/bson'

export interface Connection {
  readonly id: number
  /** `host:port` of the client. */
  readonly remote: string
  /** The `client` document of the handshake, a copy; null before it or without one. */
  metadata: Uint8Array | null
  /** `application.name` of the metadata; empty without one. */
  appName: string
}

export class ConnectionTable {
  readonly #open = new Map<number, Connection>()
  #created = 0

  get current(): number {
    return this.#open.size
  }

  get totalCreated(): number {
    return this.#created
  }

  [Symbol.iterator](): IterableIterator<Connection> {
    return this.#open.values()
  }

  /** The connection's state; a new one is taken in. */
  of(id: number, remote: string): Connection {
    let connection = this.#open.get(id)
    if (connection === undefined) {
      connection = { id, remote, metadata: null, appName: '' }
      this.#open.set(id, connection)
      this.#created++
    }
    return connection
  }

  find(id: number): Connection | undefined {
    return this.#open.get(id)
  }

  /**
   * Keeps the client document of a handshake.
   * @throws CommandError 186 ClientMetadataCannotBeMutated for a second one
   */
  noteMetadata(id: number, remote: string, metadata: Uint8Array): void {
    const connection = this.of(id, remote)
    if (connection.metadata !== null)
      throw new CommandError(
        'ClientMetadataCannotBeMutated',
        'The client metadata document may only be sent in the first hello',
      )
    connection.metadata = new Uint8Array(metadata)
    const application = findField(connection.metadata, 'application')
    const name = application?.type === BsonType.object ? findPath(connection.metadata, 'application.name') : undefined
    connection.appName = name?.type === BsonType.string ? name.asString() : ''
  }

  /** Takes over the connections of a predecessor. */
  adopt(other: ConnectionTable): void {
    for (const connection of other) this.#open.set(connection.id, connection)
    this.#created = other.#created
  }

  close(id: number): void {
    this.#open.delete(id)
  }
}
