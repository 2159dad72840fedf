import { emptyDocument, exchange, type TimestampPair } from './exchange.js'

/**
 * `[epoch as hex, timestamp seconds, timestamp increment, major, minor]` of a chunk or collection
 * placement.
 */
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
 * Identifies a movePrimary of a database: the old primary shard and the time of its last log entry
 * when it began, which is later for each move.
 */
export type PrimaryMove = readonly [from: string, seconds: number, increment: number]

/** Clients that a member accepts at the same time; further connections are closed at once. */
export const clientConnectionsMax = 10_000

/**
 * A command as a client sent it. `body`: the kind-0 document; `sequences`: the kind-1 sections,
 * `[identifier, documents]`.
 */
export interface ClientCommand {
  /** Identifies the connection on this member: its handshake state, cursors and logs. */
  readonly connectionId: number
  readonly body: Uint8Array
  readonly sequences: readonly (readonly [string, readonly Uint8Array[]])[]
  /** The request was an OP_QUERY, as handshakes and commands of old drivers are. */
  readonly legacy: boolean
  /** `host:port` of the client, or {@link ownRemote}. */
  readonly remote: string
}

/** `remote` of the commands of Shardlab itself, which need no privileges. No client has it. */
export const ownRemote = 'shardlab:0'

/** The complete reply document, with cluster time, or {@link noAnswer}. */
export interface ClientReply {
  readonly body: Uint8Array
  /** For a client that accepts a stream of replies: run it again and send that reply, too. */
  readonly again: boolean
}

/** Instead of a reply document: the client gets no answer, and its connection is closed. */
export const noAnswer: Uint8Array = new Uint8Array(0)

/**
 * Statement id of a part of a retryable statement that is never repeated alone. Server:
 * kUninitializedStmtId.
 */
export const noStatementId = -1

/** The placement version that a router has assumed for a command; null: unversioned. */
export type ShardVersionField = PlacementVersionTuple | 'UNSHARDED' | 'IGNORED' | null

/**
 * A command from a router or another member to a storage node. `body`: the client's bytes,
 * unchanged where possible; the other fields hold what the router adds.
 */
export interface NodeCommand {
  readonly db: string
  readonly body: Uint8Array
  readonly sequences: readonly (readonly [string, readonly Uint8Array[]])[]
  readonly shardVersion: ShardVersionField
  readonly databaseVersion: DatabaseVersionTuple | null
  /** Statement ids of a retryable write, one for each statement of the batch; null: 0, 1, 2, … */
  readonly stmtIds: readonly number[] | null
  readonly clusterTime: TimestampPair
  /** Of the router's operation, for `node.kill-operation`; 0: it cannot kill the command. */
  readonly operationKey: number
  /** Documents in one batch of the reply; 0: 16 MB, as much as clients get. */
  readonly batchBytesMax: number
}

/** Without the fields that are added when the command is sent. */
export type UnsentCommand = Omit<NodeCommand, 'clusterTime' | 'operationKey' | 'batchBytesMax'>

/** For a member that compares no versions. */
export function unversioned(db: string, body: Uint8Array, sequences: NodeCommand['sequences'] = []): UnsentCommand {
  return { db, body, sequences, shardVersion: null, databaseVersion: null, stmtIds: null }
}

/** As {@link unversioned}, for a sender that does not kill it and accepts replies of any size. */
export function unversionedNow(db: string, body: Uint8Array, clusterTime: TimestampPair): NodeCommand {
  return { ...unversioned(db, body), clusterTime, operationKey: 0, batchBytesMax: 0 }
}

/** The answer as a BSON document `{ …, ok }` without times, which are separate fields. */
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
    { body: emptyDocument, again: false },
  ),
  /** The connection has ended, so its state can be dropped. Served as `client.command`. */
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
      operationKey: 2 ** 40,
      batchBytesMax: 2 ** 20,
    },
    { body: emptyDocument, operationTime: [1, 2], clusterTime: [1, 3] },
  ),
  /** Ends the reads of a router's operation that was killed. Served as `node.command`. */
  'node.kill-operation': exchange<{ operationKey: number }, Record<never, never>>({ operationKey: 2 ** 40 }, {}),
  /**
   * A router holds events back until this change stream has passed the time. A primary without a
   * later entry writes a no-op. `cursorId` as text; null: only the no-op. Served as `node.command`.
   */
  'node.advance-stream': exchange<{ cursorId: string | null; clusterTime: TimestampPair }, Record<never, never>>(
    { cursorId: '1', clusterTime: [1, 2] },
    {},
  ),
}
