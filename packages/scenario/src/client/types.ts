/** Options and results of the simulated client. */
import type { Address } from '@shardlab/actor'
import type { Document } from '@shardlab/bson'

/** Options of a client. Defaults are those of the drivers. */
export interface ClientOptions {
  /** The mongoses that it knows. Default: all of the cluster. */
  readonly seeds?: readonly Address[]
  /** Retries reads once after a transient error. Default true. */
  readonly retryReads?: boolean
  /**
   * Gives writes a statement number and retries them once after an error labelled
   * `RetryableWriteError`. Default true.
   */
  readonly retryWrites?: boolean
  /** How long an operation waits for an available mongos, in ms. Default 30,000. */
  readonly serverSelectionTimeoutMs?: number
  /** How long a mongos may hold an awaitable `hello` open, in ms. Default 10,000. */
  readonly heartbeatMs?: number
  /** Timeout of a command, after which its connection is closed, in ms; null (default): none. */
  readonly socketTimeoutMs?: number | null
  /** Sent with each handshake; fail points can be limited to it. Default: none. */
  readonly appName?: string | null
  /** Limit of open connections per mongos; further commands wait. Default 100. */
  readonly maxPoolSize?: number
  /** Called with every command sent, except handshakes and heartbeats. */
  readonly onCommand?: (event: CommandEvent) => void
}

/** A command sent, for the first time or again. */
export interface CommandEvent {
  readonly name: string
  /** As sent, without document sequences. */
  readonly command: Document
  readonly to: Address
  /** 1 for the first attempt. */
  readonly attempt: number
}

/** Options of a single command. */
export interface RunOptions {
  /** Default: an implicit session for this command. */
  readonly session?: ClientSession
  /**
   * OP_MSG document sequences, encoded: `[['documents', [bytes, …]]]`. A sequence replaces the
   * argument of its name.
   */
  readonly sequences?: readonly (readonly [identifier: string, documents: readonly Uint8Array[]])[]
  /**
   * The member that must reply: a mongos, as for cursors, or another member, as on a direct
   * connection. Default: any mongos.
   */
  readonly to?: Address
  /**
   * False: sent once and without statement number, like `runCommand`. Default: like the driver's
   * helper.
   */
  readonly retryable?: boolean
}

/**
 * A session of the client, made by {@link Client.startSession}. Its user sends its commands in
 * sequence.
 */
export interface ClientSession {
  /** `{ id: UUID }`, sent with each command. */
  readonly lsid: Document
  /**
   * Newest operation time of this session; null before the first one. Reads of a causally
   * consistent session wait for it.
   */
  readonly operationTime: unknown
  /** Returns the server session to the pool. */
  end(): void
}

export interface SessionOptions {
  /** Whether reads see the session's earlier reads and writes. Default true, as in the drivers. */
  readonly causalConsistency?: boolean
}

/** The reply of an operation's last attempt. */
export interface Answered {
  readonly ok: true
  /**
   * `ok: 1`; may contain errors of single statements and of the write concern: {@link errorsOf}.
   * Unacknowledged writes: `{ ok: 1 }`.
   */
  readonly reply: Document
  /** The member that replied. */
  readonly from: Address
  /** Number of attempts. */
  readonly attempts: number
}

/** An operation that ended without `ok: 1`. */
export interface Failed {
  readonly ok: false
  /**
   * `command`: the server replied with an error. `network`: the connection broke, or the reply took
   * longer than `socketTimeoutMs`. `selection`: no mongos was available. `client`: the client
   * refused the command.
   */
  readonly kind: 'command' | 'network' | 'selection' | 'client'
  /** The server's error code; null: none, or not a server error. */
  readonly code: number | null
  readonly message: string
  /**
   * Labels of the server and of the driver (`RetryableWriteError` for network errors of writes).
   */
  readonly labels: readonly string[]
  /** The reply with the error; null: not a server error. */
  readonly reply: Document | null
  /** The member of the last attempt; null: none. */
  readonly from: Address | null
  readonly attempts: number
  /** False: certainly nothing was written. */
  readonly mayHaveActed: boolean
}

export type Outcome = Answered | Failed

/** A cursor of a `find`, `aggregate` or other command. It is bound to the mongos that opened it. */
export interface ClientCursor {
  /** The namespace in the server's reply. */
  readonly ns: string
  /** Whether it was read to the end, closed, or has failed. */
  readonly exhausted: boolean
  /** Null: open, or read to the end. */
  readonly failure: Failed | null
  /**
   * The next batch; null at the end or after a {@link failure}. The first call is free: the
   * command's reply contained it.
   */
  next(): Promise<readonly Document[] | null>
  /** All remaining documents. @returns the failure if a batch failed */
  all(): Promise<{ readonly documents: readonly Document[]; readonly failure: Failed | null }>
  /** Sends `killCursors` if it is open. */
  close(): Promise<void>
}

/** Counters since the client was created, for comparison with a driver. */
export interface ClientCounts {
  /** Commands sent, without handshakes and heartbeats. */
  readonly sent: number
  readonly retries: number
  /** How often all connections to a mongos were discarded. */
  readonly poolsCleared: number
  readonly connectionsOpened: number
}

/**
 * A client of a simulated cluster. It does not advance time: await it within
 * `SimulatedCluster.during`, or while the clock is advanced elsewhere.
 */
export interface Client {
  /** Its name on the network, which link faults of `clients` use. */
  readonly address: Address
  readonly counts: ClientCounts
  /**
   * Runs a command (`{ find: …, $db: … }`; values in `Document` or its BSON) like a driver's
   * helper. Never rejects for failures of the cluster.
   */
  run(command: Document | Uint8Array, options?: RunOptions): Promise<Outcome>
  /** The same for a command that replies with a cursor; a {@link Failed} when it fails. */
  cursor(command: Document, options?: RunOptions): Promise<ClientCursor | Failed>
  startSession(options?: SessionOptions): ClientSession
  /** The mongoses that it considers available. */
  available(): readonly Address[]
  /** Ends its sessions and connections. */
  close(): Promise<void>
}
