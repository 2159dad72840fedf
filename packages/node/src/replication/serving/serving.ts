/**
 * What a member serves while its state lasts: a node with its role, as primary or as secondary. A
 * change of the state ends it, as a crash would end a process, and the next one starts on the same
 * data. So a role needs no code for step-downs beyond its recovery from a crash.
 */
import {
  createDeferred,
  type Actor,
  type Address,
  type ClientCommand,
  type ClientReply,
  type Deferred,
  type MessageKind,
  type NodeReply,
  type ReplyOf,
  type RequestOf,
} from '@shardlab/actor'
import { NotPrimaryError } from '@shardlab/actor'
import { firstFieldName } from '@shardlab/bson'
import type { LogEntry } from '@shardlab/storage'
import { answerClientWithError, answerMemberWithError } from '../../dispatch/member-messages.js'
import { onlyReads, writes } from '../../host/operation-access.js'
import type { StorageNode } from '../../host/storage-node.js'
import type { RevocableContext } from './revocable-context.js'
import { stateChange } from './state-change.js'

export type ServingMode = 'primary' | 'secondary'

/** A role on a node, which serves the messages of clients and of other members. */
export interface ServedRole extends Actor {
  readonly node: StorageNode
  start(): void
  /** Called after each change of the set's configuration while this serves as primary. */
  configChanged?(): void
  /** Called after each entry of another member that was applied. */
  applied?(entry: LogEntry): void
}

/** A message without an answer yet. */
export interface Running {
  readonly kind: MessageKind
  readonly request: unknown
  readonly answer: Deferred<unknown>
}

/** Secondaries serve commands, which decide by their access; all other work is the primary's. */
const servedBySecondaries: ReadonlySet<MessageKind> = new Set([
  'client.command',
  'client.disconnected',
  'node.advance-stream',
  'node.command',
  'node.kill-operation',
])

const commandsOfSet: ReadonlySet<string> = new Set([
  'hello',
  'isMaster',
  'ismaster',
  'replSetInitiate',
  'replSetReconfig',
  'replSetStepDown',
  'replSetStepUp',
  'shardlab',
])

export class Serving {
  readonly mode: ServingMode
  readonly role: ServedRole
  readonly #context: RevocableContext
  readonly #running: Set<Running>

  /** @param running of the member: those that outlast an earlier state, and new ones */
  constructor(mode: ServingMode, role: ServedRole, context: RevocableContext, running: Set<Running>) {
    this.#running = running
    this.mode = mode
    this.role = role
    this.#context = context
  }

  /** @throws {@link NotPrimaryError} on a secondary, for what only a primary serves */
  receive<K extends MessageKind>(kind: K, request: RequestOf<K>, from: Address): Promise<ReplyOf<K>> | ReplyOf<K> {
    if (this.mode === 'secondary' && !servedBySecondaries.has(kind)) throw new NotPrimaryError(true, null)
    const answer = this.role.receive(kind, request, from)
    return answer instanceof Promise ? this.#track({ kind, request, answer: createDeferred() }, answer) : answer
  }

  #track<T>(running: Running, answer: Promise<T>): Promise<T> {
    this.#running.add(running)
    answer.then(
      (reply) => {
        if (this.#running.delete(running)) running.answer.resolve(reply)
      },
      (error: unknown) => {
        if (this.#running.delete(running)) running.answer.reject(error)
      },
    )
    return running.answer.promise as Promise<T>
  }

  /** Writes that have not begun to wait for other members must not add entries any more. */
  interruptWrites(): void {
    const { node } = this.role
    for (const operation of node.operations) if (writes(node, operation)) operation.interrupt(stateChange())
  }

  /**
   * Nothing of it has an effect any more. Running operations fail, as those of a primary that steps
   * down, except for reads that outlast the state.
   */
  end(): void {
    this.#context.revoke()
    const { node } = this.role
    node.end()
    const kept = new Set([...node.operations].filter((operation) => node.reads.isLasting(operation)))
    const keptBodies = new Set<Uint8Array | null>([...kept].map(({ body }) => body))
    for (const running of this.#running) {
      if (awaitsSet(running) || keptBodies.has(bodyOf(running))) continue
      this.#running.delete(running)
      this.#interrupt(running)
    }
    const waiting = new Set([...this.#running].map(bodyOf))
    const ended = new Set(
      [...node.operations].filter((operation) => !kept.has(operation) && !waiting.has(operation.body)),
    )
    // Their waits may never settle.
    for (const operation of ended) node.operations.end(operation)
    node.cursors.forget(ended)
    // If something resumes a read, it must not open a cursor that no client knows.
    for (const operation of ended) if (onlyReads(node, operation)) operation.interrupt(stateChange())
  }

  #interrupt({ kind, request, answer }: Running): void {
    const { node } = this.role
    const error = stateChange()
    if (kind === 'client.command')
      answer.resolve(answerClientWithError(node, request as ClientCommand, error) satisfies ClientReply)
    else if (kind === 'node.command') answer.resolve(answerMemberWithError(node, error) satisfies NodeReply)
    else answer.reject(new NotPrimaryError(false, null))
  }
}

const bodyOf = ({ request }: Running): Uint8Array | null => (request as { body?: Uint8Array }).body ?? null

/** They wait for the protocol of the set or for the cluster alone, and reply after the change. */
const awaitsSet = ({ kind, request }: Running): boolean =>
  kind === 'client.command' && commandsOfSet.has(firstFieldName((request as ClientCommand).body) ?? '')
