/** Commands about the set. The host adds ok and the times to the replies. */
import type { CommandError, DocumentWriter } from '@shardlab/bson'
import type { ReplicaSetConfig } from '../config/replica-set-config.js'
import type { ProtocolState } from '../state/protocol-state.js'
import {
  awaitsTopology,
  writeHello,
  writeReplStatus,
  writeTopologyVersion,
  type HelloOptions,
} from '../status/hello.js'
import { statusDocument, type StatusFacts } from '../status/status-document.js'
import { uninitializedFault, type CommandAnswer } from './answer.js'
import { freeze } from './freeze.js'
import { getConfig } from './get-config.js'
import { initiate, type InitiateOptions } from './initiate.js'
import { setMaintenance } from './maintenance.js'
import { commitmentTimeout, reconfigure, reconfigWaitFault, type ReconfigOptions } from './reconfigure.js'
import { stepDown, type StepDownArguments } from './step-down.js'
import { abortCatchUp, stepUpByCommand, stepUpResult } from './step-up.js'
import { syncFrom } from './sync-from.js'

/**
 * Each returns the error; or fields of the reply, or null for a reply without fields. A command
 * that is refused changes nothing.
 */
export class SetCommands {
  readonly #state: ProtocolState

  constructor(state: ProtocolState) {
    this.#state = state
  }

  /** @returns the first configuration of the set, for `changeConfig` */
  initiate(nowMs: number, document: Uint8Array, options: InitiateOptions): ReplicaSetConfig | CommandError {
    return initiate(this.#state.at(nowMs), document, options)
  }

  /** @returns null: the command may wait until `configCommitment` is `committed` */
  reconfigWaitFault(): CommandError | null {
    return reconfigWaitFault(this.#state)
  }

  commitmentTimeout(when: 'before' | 'after'): CommandError {
    return commitmentTimeout(this.#state, when)
  }

  /** @returns the next configuration, for `changeConfig` */
  reconfigure(nowMs: number, document: Uint8Array, options: ReconfigOptions): ReplicaSetConfig | CommandError {
    return reconfigure(this.#state.at(nowMs), document, options)
  }

  /** replSetStepDown. @returns null: the attempt began; see the effects `step-down…` */
  stepDown(nowMs: number, args: StepDownArguments): CommandError | null {
    return stepDown(this.#state.at(nowMs), args)
  }

  /** replSetStepUp. @returns null: ask `stepUpResult` when `isCandidate` is false */
  stepUp(nowMs: number, skipDryRun: boolean): CommandError | null {
    return stepUpByCommand(this.#state.at(nowMs), skipDryRun)
  }

  stepUpResult(): CommandError | null {
    return stepUpResult(this.#state)
  }

  /** replSetAbortPrimaryCatchUp. */
  abortCatchUp(nowMs: number): CommandError | null {
    return abortCatchUp(this.#state.at(nowMs))
  }

  /** replSetFreeze. */
  freeze(nowMs: number, seconds: number): CommandAnswer {
    return freeze(this.#state.at(nowMs), seconds)
  }

  /** replSetMaintenance. */
  setMaintenance(nowMs: number, on: boolean): CommandError | null {
    return setMaintenance(this.#state.at(nowMs), on)
  }

  /** replSetSyncFrom. */
  syncFrom(nowMs: number, target: string): CommandAnswer {
    return syncFrom(this.#state.at(nowMs), target)
  }

  /** replSetGetConfig. */
  getConfig(commitmentStatus: boolean): CommandAnswer {
    return getConfig(this.#state, commitmentStatus)
  }

  /** replSetGetStatus. */
  getStatus(nowMs: number, facts: StatusFacts): CommandAnswer {
    const state = this.#state.at(nowMs)
    return uninitializedFault(state) ?? statusDocument(state, facts)
  }

  /** Appends the part of hello or isMaster about the set. */
  writeHello(writer: DocumentWriter, options: HelloOptions): void {
    writeHello(writer, this.#state, options)
  }

  /** Appends it as it is in hello, for an error about the state of the member. */
  writeTopologyVersion(writer: DocumentWriter, processId: Uint8Array): void {
    writeTopologyVersion(writer, this.#state, processId)
  }

  /** @returns true: hello waits for the effect `topology` or its time limit */
  awaitsTopology(known: Parameters<typeof awaitsTopology>[1]): boolean | CommandError {
    return awaitsTopology(this.#state, known)
  }

  /** Appends the fields of serverStatus.repl. */
  writeReplStatus(writer: DocumentWriter, options: Omit<HelloOptions, 'legacy'>, rollbackId: number): void {
    writeReplStatus(writer, this.#state, options, rollbackId)
  }
}
