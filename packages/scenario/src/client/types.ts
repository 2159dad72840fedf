import type { Address } from '@shardlab/actor'
import type { Document } from '@shardlab/bson'
import type { Login } from '@shardlab/cluster'

/** Defaults are those of the drivers. */
export interface ClientOptions {
  /** The mongoses that the client knows. Default: all of the cluster. */
  readonly seeds?: readonly Address[]
  /** Retry reads once after a transient error. Default true. */
  readonly retryReads?: boolean
  /**
   * Give writes a statement number, and retry them once after an error labelled
   * `RetryableWriteError`. Default true.
   */
  readonly retryWrites?: boolean
  /** Wait for an available mongos. Default 30,000. */
  readonly serverSelectionTimeoutMs?: number
  /** Time for which a mongos may hold an awaitable `hello` open. Default 10,000. */
  readonly heartbeatMs?: number
  /** The connection of a command is closed after this time. null (default): no timeout. */
  readonly socketTimeoutMs?: number | null
  /** Sent with each handshake, so that fail points can be limited to it. Default: none. */
  readonly appName?: string | null
  /** Each connection logs in with it. Default: none. */
  readonly login?: Login
  /** Open connections per mongos; further commands wait. Default 100. */
  readonly maxPoolSize?: number
  /** Called with every command except handshakes and heartbeats. */
  readonly onCommand?: (event: CommandEvent) => void
}

export interface CommandEvent {
  readonly name: string
  /** Without document sequences. */
  readonly command: Document
  readonly to: Address
  /** 1 for the first attempt. */
  readonly attempt: number
}

export interface RunOptions {
  /** Default: an implicit session for this command. */
  readonly session?: ClientSession
  /**
   * OP_MSG document sequences, encoded: `[['documents', [bytes, …]]]`. A sequence replaces the
   * argument of its name.
   */
  readonly sequences?: readonly (readonly [identifier: string, documents: readonly Uint8Array[]])[]
  /**
   * The member that must reply: a mongos, as for cursors, or another one, as on a direct
   * connection. Default: any mongos.
   */
  readonly to?: Address
  /**
   * false: sent once and without statement number, like `runCommand`. Default: like the driver's
   * helper.
   */
  readonly retryable?: boolean
}

/** Made by {@link Client.startSession}. Its user sends its commands in sequence. */
export interface ClientSession {
  /** `{ id: UUID }`, sent with each command. */
  readonly lsid: Document
  /**
   * Newest operation time of the session; null before the first one. Reads of a causally consistent
   * session wait for it.
   */
  readonly operationTime: unknown
  readonly inTransaction: boolean
  /**
   * The session's next commands belong to a transaction, until {@link Client.commitTransaction} or
   * {@link Client.abortTransaction}. @throws ClientFailure if one is in progress
   */
  startTransaction(options?: TransactionOptions): void
  /** Returns the server session to the pool. */
  end(): void
}

export interface TransactionOptions {
  /** Default: none, which is `local`. */
  readonly readConcern?: Document
  /** Of the commit. Default: the server's. */
  readonly writeConcern?: Document
}

export interface TransactionOutcome {
  /** false: also if the outcome of the commit is unknown. */
  readonly committed: boolean
  /** How often the body ran. */
  readonly runs: number
  /** Runs that did not commit, by error code; 0: an error without a code. */
  readonly aborts: Readonly<Record<string, number>>
  /** Of the last run; null: it committed. */
  readonly failure: Failed | null
}

export interface SessionOptions {
  /** Reads see the session's earlier reads and writes. Default true, as in the drivers. */
  readonly causalConsistency?: boolean
}

export interface Answered {
  readonly ok: true
  /**
   * May contain errors of single statements and of the write concern: {@link errorsOf}.
   * Unacknowledged writes: `{ ok: 1 }`.
   */
  readonly reply: Document
  readonly from: Address
  readonly attempts: number
}

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
  /** null: not a server error. */
  readonly reply: Document | null
  readonly from: Address | null
  readonly attempts: number
  /** false: certainly nothing was written. */
  readonly mayHaveActed: boolean
}

export type Outcome = Answered | Failed

/** Bound to the mongos that opened it. */
export interface ClientCursor {
  readonly ns: string
  /** The cursor was read to the end or closed, or has failed. */
  readonly exhausted: boolean
  /** null: open, or read to the end. */
  readonly failure: Failed | null
  /**
   * null at the end or after a {@link failure}. The first call is free: the command's reply
   * contained the batch.
   */
  next(): Promise<readonly Document[] | null>
  /** @returns the failure if a batch failed */
  all(): Promise<{ readonly documents: readonly Document[]; readonly failure: Failed | null }>
  /** Sends `killCursors` to an open cursor. */
  close(): Promise<void>
}

export interface ClientCounts {
  /** Without handshakes and heartbeats. */
  readonly sent: number
  readonly retries: number
  /** How often all connections to a mongos were discarded. */
  readonly poolsCleared: number
  readonly connectionsOpened: number
}

/**
 * Does not advance time: await it within `SimulatedCluster.during`, or while the clock is advanced
 * elsewhere.
 */
export interface Client {
  /** On the network; link faults of `clients` use it. */
  readonly address: Address
  readonly counts: ClientCounts
  /**
   * Runs a command (`{ find: …, $db: … }`; values in `Document` or its BSON) like a driver's
   * helper. Never rejects for failures of the cluster.
   */
  run(command: Document | Uint8Array, options?: RunOptions): Promise<Outcome>
  /** For a command that replies with a cursor. */
  cursor(command: Document, options?: RunOptions): Promise<ClientCursor | Failed>
  startSession(options?: SessionOptions): ClientSession
  /** Sends nothing if the transaction has sent nothing. Retried once, as by drivers. */
  commitTransaction(session: ClientSession): Promise<Outcome>
  abortTransaction(session: ClientSession): Promise<Outcome>
  /**
   * Runs `body` in transactions until one commits, like the drivers' `withTransaction`.
   * @param body sends commands with the session; null: commit, else the failure of a command
   */
  withTransaction(
    session: ClientSession,
    body: () => Promise<Failed | null>,
    options?: TransactionOptions,
  ): Promise<TransactionOutcome>
  available(): readonly Address[]
  /** Ends the client's sessions and connections. */
  close(): Promise<void>
}
