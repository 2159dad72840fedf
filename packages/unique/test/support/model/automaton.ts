/**
 * The states of a client of the library. A client is deterministic, and commands are all it does;
 * so its state is the act that it performs and the answers that it got since the act began. Between
 * acts it keeps one fact: whether it may write without reading the markers.
 *
 * A state is computed by playing its answers to a new client.
 */
import type { Database } from './database.js'
import { ProgramClient, titleOf, type Act, type Answer, type Epoch, type Setting } from './program.js'

/** Between two acts. */
export interface Idle {
  readonly kind: 'idle'
  readonly client: number
  /** Acts that it began. */
  readonly acts: number
  readonly initialized: boolean
  /** The epoch in which it need not read the markers; -1: none. */
  readonly enforcingEpoch: Epoch
}

export interface Acting {
  readonly kind: 'acting'
  readonly client: number
  readonly act: Act
  readonly from: Idle
  readonly beganEpoch: Epoch
  /** The number of the command that waits for its answer. */
  readonly command: number
  readonly isMainWrite: boolean
  readonly before: { readonly state: Acting; readonly reply: number; readonly epoch: Epoch } | null
  /** Numbers of the next states, by reply and epoch. */
  readonly next: Map<number, number>
}

export type ClientState = Idle | Acting

export class Automaton {
  readonly states: ClientState[] = []
  readonly #database: Database
  readonly #setting: Setting
  readonly #idle = new Map<string, number>()
  readonly #begun = new Map<string, number>()

  constructor(database: Database, setting: Setting) {
    this.#database = database
    this.#setting = setting
  }

  idle(state: Omit<Idle, 'kind'>): number {
    const key = JSON.stringify([state.client, state.acts, state.initialized, state.enforcingEpoch])
    let number = this.#idle.get(key)
    if (number === undefined) this.#idle.set(key, (number = this.#add({ kind: 'idle', ...state })))
    return number
  }

  /** @returns the state with the act's first command */
  begin(idle: number, act: Act, epoch: Epoch): number | Promise<number> {
    const key = `${idle} ${epoch} ${titleOf(act)}`
    const known = this.#begun.get(key)
    if (known !== undefined) return known
    return this.#play(this.states[idle] as Idle, act, epoch, null).then((number) => {
      this.#begun.set(key, number)
      return number
    })
  }

  answer(number: number, reply: number, epoch: Epoch): number | Promise<number> {
    const state = this.states[number] as Acting
    const key = reply * 16 + epoch
    const known = state.next.get(key)
    if (known !== undefined) return known
    return this.#play(state.from, state.act, state.beganEpoch, { state, reply, epoch }).then((next) => {
      state.next.set(key, next)
      return next
    })
  }

  async #play(from: Idle, act: Act, beganEpoch: Epoch, before: Acting['before']): Promise<number> {
    const answers: Answer[] = []
    for (let at = before; at !== null; at = at.state.before)
      answers.push({ reply: this.#database.replies.values[at.reply]!, epoch: at.epoch })
    answers.reverse()
    let next = 0
    let lastEpoch = beganEpoch
    return new Promise<number>((resolve, reject) => {
      let phase: 'before' | 'during' | 'after' = 'before'
      const client = new ProgramClient(from.client, beganEpoch, this.#setting, async (command) => {
        // Only a client that reads the markers now need not read them in the act.
        if (phase === 'before') return { reply: { value: { state: 'enforcing' } }, epoch: beganEpoch }
        const answer = phase === 'during' ? answers[next++] : undefined
        if (answer !== undefined) {
          lastEpoch = answer.epoch
          return answer
        }
        if (phase === 'after') end(-1)
        else {
          // A transaction has no reservation that could expire before its write.
          const isMainWrite =
            command.collection === 'main' && command.txn === undefined && !/find|sleep/.test(command.method)
          const number = this.#database.commands.of(command)
          const { client } = from
          const state: Acting = {
            kind: 'acting',
            client,
            act,
            from,
            beganEpoch,
            command: number,
            isMainWrite,
            before,
            next: new Map(),
          }
          resolve(this.#add(state))
        }
        return new Promise<Answer>(() => {})
      })
      const end = (enforcingEpoch: Epoch): void =>
        resolve(this.idle({ client: from.client, acts: from.acts + 1, initialized: true, enforcingEpoch }))
      const play = async (): Promise<void> => {
        if (from.enforcingEpoch === beganEpoch) await client.readMarkers()
        phase = 'during'
        await client.perform(act, from.acts, beganEpoch).catch(mustBeExpected)
        phase = 'after'
        await client.readMarkers()
        end(lastEpoch)
      }
      play().catch((error: unknown) => reject(error as Error))
    })
  }

  #add(state: ClientState): number {
    return this.states.push(state) - 1
  }
}

const expected = new Set(['ValueTakenError', 'BusyDocumentError', 'ReservationLostError', 'PortError'])

export function mustBeExpected(error: unknown): void {
  if (!(error instanceof Error) || !expected.has(error.name)) throw error
}
