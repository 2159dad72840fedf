import { configAddress, ownRemote, RequestFailedError, type Address } from '@shardlab/actor'
import { documentsOf, DocumentWriter, findField, findPath, type RawValue } from '@shardlab/bson'
import type { Runtime } from '@shardlab/runtime'
import type { ResolvedOptions } from '../resolved-options.js'
import { clientServer, noServerText } from '../client-server.js'
import { primaryOf } from '../sets/primary-of.js'

/** Clients have lower numbers. */
const connectionId = 2 ** 31 - 2

export class DumpCommandError extends Error {
  override readonly name = 'DumpCommandError'
}

/** Runs commands without a login: on a router, on the primary of a set, or a mongod. */
export class DumpClient {
  readonly #runtime: Runtime
  readonly #options: ResolvedOptions

  constructor(runtime: Runtime, options: ResolvedOptions) {
    this.#runtime = runtime
    this.#options = options
  }

  get isSharded(): boolean {
    return this.#options.topology === 'sharded'
  }

  /** @param fill appends the fields of the command @throws DumpCommandError */
  async run(
    db: string,
    fill: (writer: DocumentWriter) => DocumentWriter,
    sequence: readonly [name: string, documents: readonly Uint8Array[]] | null = null,
  ): Promise<Uint8Array> {
    return this.#runOn(await this.#server(), db, fill, sequence)
  }

  /**
   * Drops a collection of admin, if it exists, where it is stored: since 5.0 routers refuse to.
   * @throws DumpCommandError
   */
  async dropOfAdmin(name: string): Promise<void> {
    const stored = this.isSharded ? await primaryOf(this.#runtime, configAddress) : await this.#server()
    if (stored === null) throw new DumpCommandError('the config server is down or has no primary')
    try {
      await this.#runOn(stored, 'admin', (writer) => writer.string('drop', name), null)
    } catch (error) {
      // Since 7.0 it is no error.
      if (!(error instanceof DumpCommandError) || error.message !== 'ns not found') throw error
    }
  }

  async #runOn(
    server: Address,
    db: string,
    fill: (writer: DocumentWriter) => DocumentWriter,
    sequence: readonly [name: string, documents: readonly Uint8Array[]] | null,
  ): Promise<Uint8Array> {
    const body = fill(new DocumentWriter(256)).string('$db', db).finish()
    const request = {
      ...{ connectionId, body, legacy: false, remote: ownRemote },
      sequences: sequence === null ? [] : [sequence],
    }
    let reply: Uint8Array
    try {
      reply = (await this.#runtime.request(server, 'client.command', request)).body
    } catch (error) {
      if (!(error instanceof RequestFailedError)) throw error
      throw new DumpCommandError(error.message)
    }
    if (findField(reply, 'ok')?.isTruthy() !== true)
      throw new DumpCommandError(findField(reply, 'errmsg')?.asString() ?? 'the command failed')
    const writeErrors = findField(reply, 'writeErrors')
    if (writeErrors !== undefined)
      throw new DumpCommandError(findField(documentsOf(writeErrors)[0]!, 'errmsg')!.asString())
    return reply
  }

  /** The documents of a cursor, batch by batch. */
  async *read(db: string, fill: (writer: DocumentWriter) => DocumentWriter): AsyncGenerator<readonly Uint8Array[]> {
    const first = await this.run(db, fill)
    const ns = findPath(first, 'cursor.ns')!.asString()
    const collection = ns.slice(ns.indexOf('.') + 1)
    yield documentsOf(findPath(first, 'cursor.firstBatch')!)
    for (let id = findPath(first, 'cursor.id')!; id.asBigInt() !== 0n;) {
      const open: RawValue = id
      const more = await this.run(db, (writer) => writer.value('getMore', open).string('collection', collection))
      yield documentsOf(findPath(more, 'cursor.nextBatch')!)
      id = findPath(more, 'cursor.id')!
    }
  }

  async all(db: string, fill: (writer: DocumentWriter) => DocumentWriter): Promise<Uint8Array[]> {
    const all: Uint8Array[] = []
    for await (const batch of this.read(db, fill)) all.push(...batch.map((document) => new Uint8Array(document)))
    return all
  }

  async #server(): Promise<Address> {
    const server = await clientServer(this.#runtime, this.#options)
    if (server === null) throw new DumpCommandError(noServerText(this.#options))
    return server
  }
}
