import { emptyDocument, exchange, type TimestampPair } from './exchange.js'

/** `[epoch as hex, timestamp seconds, timestamp increment, major, minor]` of a chunk or collection placement. */
export type PlacementVersionTuple = readonly [
  epoch: string,
  seconds: number,
  increment: number,
  major: number,
  minor: number,
]

/** `[uuid as hex, timestamp seconds, timestamp increment, lastMod]`. */
export type DatabaseVersionTuple = readonly [uuid: string, seconds: number, increment: number, lastMod: number]

/**
 * A command as a client sent it, from the gateway (or the simulated client) to any member that listens.
 * `body` is the kind-0 document, `sequences` the kind-1 sections: `[identifier, documents]`.
 */
export interface ClientCommand {
  /** Identifies the connection for this member: handshake state, cursors and logs refer to it. */
  readonly connectionId: number
  readonly body: Uint8Array
  readonly sequences: readonly (readonly [string, readonly Uint8Array[]])[]
  /** The request came as OP_QUERY: only the handshake and, for old drivers, commands. */
  readonly legacy: boolean
  /** `host:port` of the client, for logs and currentOp. */
  readonly remote: string
}

/** The whole reply document, cluster time included; {@link noAnswer}: the client gets none. */
export interface ClientReply {
  readonly body: Uint8Array
}

/** Instead of a reply document: there is no answer, and the connection that the command came on is closed. */
export const noAnswer: Uint8Array = new Uint8Array(0)

/** How a routed command names the placement that the router assumed; null: unversioned. */
export type ShardVersionField = PlacementVersionTuple | 'UNSHARDED' | 'IGNORED' | null

/**
 * A command from a router or another member to a storage node. The body is the client's bytes where they can
 * go on untouched; what the router adds travels beside it.
 */
export interface NodeCommand {
  readonly db: string
  readonly body: Uint8Array
  readonly sequences: readonly (readonly [string, readonly Uint8Array[]])[]
  readonly shardVersion: ShardVersionField
  readonly databaseVersion: DatabaseVersionTuple | null
  /** Statement ids of a retryable write, one per statement of the batch; null: 0, 1, 2, … */
  readonly stmtIds: readonly number[] | null
  /** Newest cluster time that the sender knows. */
  readonly clusterTime: TimestampPair
}

/** The answer as a BSON document `{ …, ok }` without times; the times beside it. */
export interface NodeReply {
  readonly body: Uint8Array
  readonly operationTime: TimestampPair
  readonly clusterTime: TimestampPair
}

export const commandExchanges = {
  /** Served by every member that clients can reach. */
  'client.command': exchange<ClientCommand, ClientReply>(
    {
      connectionId: 1,
      body: emptyDocument,
      sequences: [['documents', [emptyDocument]]],
      legacy: false,
      remote: '127.0.0.1:5000',
    },
    { body: emptyDocument },
  ),
  /** A client's connection is gone: its handshake state can be dropped. Served by every member that clients can reach. */
  'client.disconnected': exchange<{ connectionId: number }, Record<never, never>>({ connectionId: 1 }, {}),
  /** Served by shards and the config server. */
  'node.command': exchange<NodeCommand, NodeReply>(
    {
      db: 'test',
      body: emptyDocument,
      sequences: [['documents', [emptyDocument]]],
      shardVersion: ['0123456789abcdef01234567', 1, 2, 3, 4],
      databaseVersion: ['00112233445566778899aabbccddeeff', 1, 2, 1],
      stmtIds: [0, 1],
      clusterTime: [1, 2],
    },
    { body: emptyDocument, operationTime: [1, 2], clusterTime: [1, 3] },
  ),
}
