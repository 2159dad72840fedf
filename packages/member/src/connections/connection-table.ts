/** Server: client_metadata.cpp, session_manager_common.cpp. */
import type { ConnectionAccess } from '../access/connection-access.js'
import { ConnectionClosedError } from './connection-closed-error.js'
import { nothingHappened, type LastError, type PreviousError } from './last-error.js'
import { BsonType, CommandError, findField, findPath } from '@shardlab/bson'

export interface Connection {
  readonly id: number
  readonly remote: string
  /** A copy of the handshake's `client` document; null: no handshake yet, or it had none */
  metadata: Uint8Array | null
  /** `application.name` of the metadata; empty: none. */
  appName: string
  /** Of its last command, in versions with getLastError. */
  lastError: LastError
  /** null: no command wrote or failed since the last resetError */
  previousError: PreviousError | null
  /** Null: nothing has asked for the users of the connection. */
  access: ConnectionAccess | null
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

  /** Creates the state of a new id. */
  of(id: number, remote: string): Connection {
    let connection = this.#open.get(id)
    if (connection === undefined) {
      connection = {
        ...{ id, remote, metadata: null, appName: '' },
        ...{ lastError: nothingHappened, previousError: null, access: null },
      }
      this.#open.set(id, connection)
      this.#created++
    }
    return connection
  }

  find(id: number): Connection | undefined {
    return this.#open.get(id)
  }

  /**
   * Of a command that has waited: a connection that was closed must not come back, because nothing
   * would close it again.
   * @throws ConnectionClosedError
   */
  stillOpen(id: number): Connection {
    const connection = this.#open.get(id)
    if (connection === undefined) throw new ConnectionClosedError()
    return connection
  }

  /** @throws CommandError 186 ClientMetadataCannotBeMutated after the handshake */
  checkIsNew(id: number): void {
    if ((this.#open.get(id)?.metadata ?? null) !== null)
      throw new CommandError(
        'ClientMetadataCannotBeMutated',
        'The client metadata document may only be sent in the first hello',
      )
  }

  /** @throws ConnectionClosedError */
  noteMetadata(id: number, metadata: Uint8Array): Connection {
    const connection = this.stillOpen(id)
    connection.metadata = new Uint8Array(metadata)
    const application = findField(connection.metadata, 'application')
    const name = application?.type === BsonType.object ? findPath(connection.metadata, 'application.name') : undefined
    connection.appName = name?.type === BsonType.string ? name.asString() : ''
    return connection
  }

  adopt(other: ConnectionTable): void {
    for (const connection of other) {
      connection.access?.expire()
      this.#open.set(connection.id, connection)
    }
    this.#created = other.#created
  }

  close(id: number): void {
    this.#open.delete(id)
  }
}
