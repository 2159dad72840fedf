/**
 * What happened to the collection and documents of a violation. Only the last run of a failed seed
 * records it, which knows the violation from the runs before.
 */
import type { Document } from '@shardlab/bson'
import type { Finding } from '../finding.js'
import type { TimelineEntry } from '../types.js'
import { namespacesOf, textOf } from './command-text.js'
import { mentions } from './mentions.js'

/** Older entries are dropped. */
const entriesMax = 5000

export class Timeline {
  readonly #now: () => number
  readonly #beganMs: number
  readonly #about: Pick<Finding, 'ns' | 'ids'>
  readonly #entries: TimelineEntry[] = []
  #operations = 0
  #isClosed = false

  /** @param now virtual milliseconds */
  constructor(now: () => number, about: Pick<Finding, 'ns' | 'ids'>) {
    this.#now = now
    this.#beganMs = now()
    this.#about = about
  }

  get entries(): readonly TimelineEntry[] {
    return this.#entries
  }

  /** @param ns null: the whole cluster */
  note(
    kind: Exclude<TimelineEntry['kind'], 'command' | 'answer'>,
    member: string,
    ns: string | null,
    text: string,
  ): void {
    if (this.#concerns(ns)) this.#add({ kind, member, ns, text, operation: null, ofDocument: false })
  }

  /**
   * @param to null: a router that the client chooses
   * @returns a function for the answer; null: the outcome is unknown
   */
  command(client: string, command: Document, to: string | null): (reply: Document | null) => void {
    const ns = namespacesOf(command).find((each) => this.#concerns(each))
    if (ns === undefined) return () => {}
    const operation = ++this.#operations
    const common = { member: client, ns, operation }
    const isAsked = mentions(command, this.#about.ids)
    this.#add({ ...common, kind: 'command', text: `to ${to ?? 'a mongos'}: ${textOf(command)}`, ofDocument: isAsked })
    return (reply) => {
      const ofDocument = isAsked || mentions(reply, this.#about.ids)
      const text = reply === null ? 'no answer: the outcome is unknown' : textOf(reply)
      this.#add({ ...common, kind: 'answer', text, ofDocument })
    }
  }

  /** The timeline ends with the first violation. */
  close(sentence: string): void {
    this.note('violation', '', null, sentence)
    this.#isClosed = true
  }

  #concerns(ns: string | null): boolean {
    const { ns: own } = this.#about
    return own === null || ns === null || ns === own || own.startsWith(`${ns}.`) || ns.startsWith(`${own}.`)
  }

  #add(entry: Omit<TimelineEntry, 'atMs'>): void {
    if (this.#isClosed) return
    this.#entries.push({ atMs: this.#now() - this.#beganMs, ...entry })
    if (this.#entries.length > entriesMax) this.#entries.shift()
  }
}
