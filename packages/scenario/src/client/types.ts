/** What the simulated client takes and gives. */
import type { Address } from '@shardlab/actor'
import type { Document } from '@shardlab/bson'

/** Options of a client; everything has a default, which is that of the drivers. */
export interface ClientOptions {
  /** The mongoses that it knows. Default: all of the cluster. */
  readonly seeds?: readonly Address[]
  /** Reads are sent once more after a passing error. Default true. */
  readonly retryReads?: boolean
  /** Writes get a statement number, and are sent once more after an error with the label `RetryableWriteError`. Default true. */
  readonly retryWrites?: boolean
  /** How long an operation waits for a mongos that answers, in ms. Default 30,000. */
  readonly serverSelectionTimeoutMs?: number
  /** How long a mongos may keep the client's `hello` open when nothing changes, in ms. Default 10,000. */
  readonly heartbeatMs?: number
  /** How long a command may take before its connection is given up, in ms; null (default): as long as it likes. */
  readonly socketTimeoutMs?: number | null
  /** Goes with each handshake; fail points can be limited to it. Default: none. */
  readonly appName?: string | null
  /** More connections are not open to one mongos at a time; further commands wait. Default 100. */
  readonly maxPoolSize?: number
  /** Called with every command that is sent, but not with handshakes and heartbeats. */
  readonly onCommand?: (event: CommandEvent) => void
}

/** A command is sent, for the first time or again. */
export interface CommandEvent {
  readonly name: string
  /** As it is sent, without what goes beside it in sequences. */
  readonly command: Document
  readonly to: Address
  /** 1 for the first one. */
  readonly attempt: number
}

/** How a single command is sent. */
export interface RunOptions {
  /** Default: an implicit session of this command alone. */
  readonly session?: ClientSession
  /** OP_MSG document sequences, encoded: `[['documents', [bytes, …]]]`. A sequence stands for the argument of its name. */
  readonly sequences?: readonly (readonly [identifier: string, documents: readonly Uint8Array[]])[]
  /** Who has to answer: a mongos, as for the commands of a cursor, or another member, as on a direct connection. Default: any mongos. */
  readonly to?: Address
  /** False: sent once and without a statement number, as the drivers' `runCommand` does. Default: as the drivers' helper for it would. */
  readonly retryable?: boolean
}

/** A session of the client; made by {@link Client.startSession}. Its commands are sent one after the other by who uses it. */
export interface ClientSession {
  /** `{ id: UUID }`, as it goes with each command. */
  readonly lsid: Document
  /** Newest time of an operation of this session; null before the first one. Reads of a causally consistent session wait for it. */
  readonly operationTime: unknown
  /** Gives the server session back to the client. */
  end(): void
}

export interface SessionOptions {
  /** Reads see what the session has seen and written. Default true, as in the drivers. */
  readonly causalConsistency?: boolean
}

/** What the last attempt of an operation came to. */
export interface Answered {
  readonly ok: true
  /** `ok: 1`; errors of single statements and of the write concern may be in it: {@link errorsOf}. Unacknowledged writes: `{ ok: 1 }`. */
  readonly reply: Document
  /** Who answered. */
  readonly from: Address
  /** How often it was sent. */
  readonly attempts: number
}

/** An operation that ended without an answer that says `ok: 1`. */
export interface Failed {
  readonly ok: false
  /**
   * `command`: the server answered with an error. `network`: the connection broke, or nothing came within `socketTimeoutMs`.
   * `selection`: no mongos could be asked. `client`: the client itself refuses the command.
   */
  readonly kind: 'command' | 'network' | 'selection' | 'client'
  /** The server's error code; null when it gave none and for errors that are not the server's. */
  readonly code: number | null
  readonly message: string
  /** Labels of the server and those that drivers add (`RetryableWriteError` for network errors of writes). */
  readonly labels: readonly string[]
  /** The reply with the error; null for errors that are not the server's. */
  readonly reply: Document | null
  /** Who was asked last; null: nobody. */
  readonly from: Address | null
  readonly attempts: number
  /** False: certainly nothing has been written. */
  readonly mayHaveActed: boolean
}

export type Outcome = Answered | Failed

/** A cursor of a `find`, `aggregate` or another command that answers with one. It stays with the mongos that opened it. */
export interface ClientCursor {
  /** The namespace that the server gave it. */
  readonly ns: string
  /** All batches have been fetched, or it was closed, or it failed. */
  readonly exhausted: boolean
  /** Null: it is open, or has come to its end. */
  readonly failure: Failed | null
  /** The next batch; null at the end, or after a {@link failure}. The first call costs nothing: it came with the command's answer. */
  next(): Promise<readonly Document[] | null>
  /** Every document that is left. @returns what failed instead, when a batch did */
  all(): Promise<{ readonly documents: readonly Document[]; readonly failure: Failed | null }>
  /** `killCursors`, when it is open. */
  close(): Promise<void>
}

/** How often what has happened since the client was made: for comparing it with a driver. */
export interface ClientCounts {
  /** Commands sent, without handshakes and heartbeats. */
  readonly sent: number
  readonly retries: number
  /** How often the connections to a mongos were all given up. */
  readonly poolsCleared: number
  readonly connectionsOpened: number
}

/**
 * A client of a simulated cluster. Nothing it does makes time pass: await it within `SimulatedCluster.during`, or while somebody else
 * advances the clock.
 */
export interface Client {
  /** Its name on the network, to which link faults of `clients` apply. */
  readonly address: Address
  readonly counts: ClientCounts
  /** Runs a command (`{ find: …, $db: … }`; values in `Document` or its BSON) as a driver's helper for it does. Never rejects for what the cluster does. */
  run(command: Document | Uint8Array, options?: RunOptions): Promise<Outcome>
  /** The same for a command that answers with a cursor; a {@link Failed} when it fails. */
  cursor(command: Document, options?: RunOptions): Promise<ClientCursor | Failed>
  startSession(options?: SessionOptions): ClientSession
  /** The mongoses that it takes to be available now. */
  available(): readonly Address[]
  /** Ends its sessions and connections. */
  close(): Promise<void>
}
