import type { NodeCommand } from '@shardlab/actor'
import { FakeContext, FakeDisk } from '@shardlab/actor/testing'
import { decode, encode, fieldsOf, findField, Long, typeName, UUID, type Document } from '@shardlab/bson'
import { behavioursOf, type EmulatedVersion } from '@shardlab/sharding'
import type { StorageNodeOptions } from '../../src/host/node-host.js'
import type { NodeRole, SetMember, StorageNode } from '../../src/index.js'
import { nodeAlone } from './node-alone.js'

export { nodeAlone }

export interface RunOptions {
  db?: string
  sequences?: readonly (readonly [string, readonly Document[]])[]
  stmtIds?: readonly number[]
}

type Limits = Partial<
  Pick<
    StorageNodeOptions,
    | 'checkpointAfterBytes'
    | 'hasAccessControl'
    | 'oplogSizeBytes'
    | 'retryHistoryBytesMax'
    | 'snapshotHistoryBytesMax'
    | 'startOptions'
  >
>

export const plainRole: NodeRole = {
  name: 'shard',
  setName: 'shard01',
  memberName: 'shard01',
  rows: [],
  enter: () => ({ ownership: null }),
  checkReplacement: () => {},
  checkImplicitCreate: () => {},
}

export class NodeUnderTest {
  readonly context: FakeContext
  readonly member: SetMember
  readonly #node: () => StorageNode
  readonly #version: EmulatedVersion
  readonly #role: NodeRole
  readonly #limits: Limits

  constructor({
    disk = new FakeDisk(),
    version = '7.0' as EmulatedVersion,
    role = plainRole,
    ...limits
  }: { disk?: FakeDisk; version?: EmulatedVersion; role?: NodeRole } & Limits = {}) {
    this.#version = version
    this.#role = role
    this.#limits = limits
    this.context = new FakeContext('shard01', { disk, endpoint: '127.0.0.1:27018' })
    const options = { behaviours: behavioursOf(version), maxWireVersion: 21, ...limits }
    const { member, node } = nodeAlone(this.context, options, () => role)
    this.member = member
    this.#node = node
  }

  /** Another one after a step-down and after an election. */
  get node(): StorageNode {
    return this.#node()
  }

  async stepDown(): Promise<void> {
    await this.member.receive('faults.switch', { name: 'stepped-down', value: true }, 'cluster')
  }

  async stepUp(): Promise<void> {
    await this.member.receive('faults.switch', { name: 'stepped-down', value: null }, 'cluster')
    await this.member.wake('replication')
  }

  /** On the same disk, without the state in memory. */
  restarted(): NodeUnderTest {
    return new NodeUnderTest({
      disk: this.context.disk,
      version: this.#version,
      role: this.#role,
      ...this.#limits,
    })
  }

  command(command: Document, { db = 'test', sequences = [], stmtIds }: RunOptions = {}): NodeCommand {
    return {
      db,
      body: encode(command),
      sequences: sequences.map(([name, documents]) => [name, documents.map((document) => encode(document))] as const),
      shardVersion: null,
      databaseVersion: null,
      stmtIds: stmtIds ?? null,
      clusterTime: [1, 1],
      operationKey: 0,
      batchBytesMax: 0,
    }
  }

  async raw(command: Document, options: RunOptions = {}): Promise<Uint8Array> {
    return (await this.node.nodeCommand(this.command(command, options))).body
  }

  /** Replaces the bytes of a name, which stands there once, so that a field is there twice. */
  async renamed(command: Document, name: string, other: string, options: RunOptions = {}): Promise<Document> {
    const { body, ...rest } = this.command(command, options)
    const bytes = Buffer.from(body)
    bytes.write(other, bytes.indexOf(name))
    return decode((await this.node.nodeCommand({ ...rest, body: bytes })).body)
  }

  /** The decoded reply; int64 values stay `Long`. */
  async run(command: Document, options: RunOptions = {}): Promise<Document> {
    return decode(await this.raw(command, options))
  }

  async ok(command: Document, options: RunOptions = {}): Promise<Document> {
    const reply = await this.run(command, options)
    if (reply['ok'] !== 1) throw new Error(JSON.stringify(reply))
    return reply
  }

  async all(collection: string, db = 'test'): Promise<Document[]> {
    const reply = await this.ok({ find: collection, sort: { _id: 1 }, batchSize: 1_000_000 }, { db })
    return (reply['cursor'] as { firstBatch: Document[] }).firstBatch
  }
}

/** `name:type` of every field, in order: the shape of a reply on the wire. */
export function shape(document: Uint8Array, path?: string): string {
  const bytes =
    path === undefined ? document : path.split('.').reduce((at, name) => findField(at, name)!.slice(), document)
  return fieldsOf(bytes)
    .map(([name, value]) => `${name}:${typeName(value.type)}`)
    .join(' ')
}

export const session = (byte: number) => ({ id: new UUID(Buffer.alloc(16, byte)) })
export const long = (value: number) => Long.fromNumber(value)
