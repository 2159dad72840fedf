/** Server: key_generator.cpp, keys_collection_client_direct.cpp. */
import { RequestFailedError } from '@shardlab/actor'
import { missingTimeKeys, readTimeKey, timeKeyBytes, TimeSigner, writeTimeKey, type TimeKey } from '@shardlab/auth'
import { CommandError, emptyDocument, findField } from '@shardlab/bson'
import { accessRulesOf } from '@shardlab/member'
import { createCollection } from '../ddl/namespace.js'
import type { CreatedTimeKeys, NodeHost } from '../host/node-host.js'

export const timeKeysNamespace = 'admin.system.keys'

/**
 * The keys with which a mongod signs cluster times. The primary of a config server or of a replica
 * set creates them, as documents of an ordinary collection. A shard requests those of the config
 * server.
 */
export class NodeTimeKeys implements CreatedTimeKeys {
  readonly signer: TimeSigner
  readonly #node: NodeHost
  #isRenewing = false

  /** @param previous of the node that served before */
  constructor(node: NodeHost, previous: NodeTimeKeys | null) {
    this.#node = node
    this.signer = new TimeSigner(accessRulesOf(node.behaviours), () => this.#renewOnce())
    if (previous !== null) this.signer.learn(previous.signer.keys)
  }

  start(): void {
    this.refresh()
    this.#renewOnce()
  }

  /** Call it after a restart, an election or a rollback, and after a change of the primary. */
  refresh(): void {
    if (this.#node.role.fetchTimeKeys === undefined) this.signer.learn(this.#stored())
  }

  #stored(): TimeKey[] {
    const documents = this.#node.collection(timeKeysNamespace)?.scan() ?? []
    return [...documents].flatMap(({ document }) => readTimeKey(document) ?? [])
  }

  #renewOnce(): void {
    if (this.#isRenewing) return
    this.#isRenewing = true
    this.#node.context.detach(this.#renew().finally(() => (this.#isRenewing = false)))
  }

  async #renew(): Promise<void> {
    const { role } = this.#node
    try {
      if (role.fetchTimeKeys !== undefined)
        this.signer.learn((await role.fetchTimeKeys()).flatMap((document) => readTimeKey(document) ?? []))
      else await this.complete()
    } catch (error) {
      if (!(error instanceof RequestFailedError)) throw error
    }
  }

  /**
   * On a primary: creates the keys that are missing. They sign once a majority has them: clients
   * could not use a time that outlives its key.
   * @returns the documents of all keys; if the disk is full, of those that sign already
   */
  async complete(): Promise<Uint8Array[]> {
    try {
      if (this.#node.mayChange) await this.#createMissing()
    } catch (error) {
      if (!(error instanceof CommandError)) throw error
    }
    return this.signer.keys.map(writeTimeKey)
  }

  /** @throws CommandError 14031 OutOfDiskSpace, or the primary has stepped down */
  async #createMissing(): Promise<void> {
    const node = this.#node
    if (node.collection(timeKeysNamespace) === undefined) node.requireRoom()
    const { uuid } = node.collection(timeKeysNamespace) ?? createCollection(node, timeKeysNamespace, emptyDocument)
    const validForSeconds = node.parameters.number('KeysRotationIntervalSec')
    // After the first entry of the log: the id of a key must not be 0.
    const missing = missingTimeKeys(this.#stored(), node.clock.time, validForSeconds, () =>
      node.context.secretBytes(timeKeyBytes),
    )
    if (missing.length > 0) node.requireRoom(0, missing.length)
    for (const key of missing) {
      const object = writeTimeKey(key)
      const id = findField(object, '_id')!
      node.apply({ op: 'i', ns: timeKeysNamespace, uuid, object, id, session: null })
    }
    const { keys } = this.signer
    if (this.#stored().every(({ keyId }) => keys.some((known) => known.keyId === keyId))) return
    await node.flushToMajority()
    this.refresh()
  }
}

/** Null: without access control, and on a standalone, cluster times need no signature. */
export function timeKeysOf(node: NodeHost, previous: NodeTimeKeys | null): NodeTimeKeys | null {
  return node.hasAccessControl && !node.isStandalone ? new NodeTimeKeys(node, previous) : null
}
