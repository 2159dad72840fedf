/**
 * Compares the final documents with the acknowledged writes. Documents arrive in any order;
 * schedule and journal determine what each may contain.
 */
import { findField, fieldsOf, valuesEqual } from '@shardlab/bson'
import { documentBytes } from '../engines/wire/op-msg.js'
import { versionOfText } from '../data/text.js'
import type { Journal } from '../run/journal.js'
import type { EndCheckReport } from '../types.js'
import { updatedKeys, versionOf, type Schedule } from '../workload/schedule.js'
import type { TextField } from '../workload/template.js'
import { textsFrom, type Workload } from '../workload/workload.js'

const examplesMax = 10

type Finding = 'lost' | 'unexpected' | 'doubled' | 'stale' | 'corrupt' | 'torn'

export class EndCheck {
  readonly #schedule: Schedule
  readonly #workload: Workload
  readonly #journal: Journal
  /** One past the highest cycle that may have run. */
  readonly #cycles: number
  readonly #seen = new Set<number>()
  /** Record and text field to the latest start of an acknowledged update. */
  readonly #lastStartUs = new Map<number, number>()
  readonly #counts: Record<Finding, number> = { lost: 0, unexpected: 0, doubled: 0, stale: 0, corrupt: 0, torn: 0 }
  readonly #examples: string[] = []
  /** Record and text field to the cycle whose update is there; null: no transactions run. */
  readonly #there: Map<number, number> | null
  #documents = 0
  #unknown = 0

  constructor(schedule: Schedule, journal: Journal, cycles: number) {
    this.#schedule = schedule
    this.#workload = schedule.workload
    this.#journal = journal
    this.#cycles = cycles
    const { texts } = this.#workload.template
    this.#there = this.#workload.operations.some(({ transaction }) => transaction !== null) ? new Map() : null
    for (let cycle = 0; cycle < cycles; cycle++) {
      const outcome = journal.outcome(cycle)
      if (outcome === 'none') continue
      const plan = schedule.plan(cycle)
      const { operation, field } = plan
      if (outcome === 'unknown' && (operation.fields > 0 || operation.newRecords > 0)) this.#unknown++
      if (operation.fields === 0 || outcome !== 'acknowledged') continue
      const startUs = journal.startUs(cycle)
      for (const key of updatedKeys(plan))
        for (const { index } of textsFrom(texts, field, operation.fields)) {
          const place = key * texts.length + index
          if (startUs > (this.#lastStartUs.get(place) ?? 0)) this.#lastStartUs.set(place, startUs)
        }
    }
  }

  get documents(): number {
    return this.#documents
  }

  see(document: Uint8Array): void {
    this.#documents++
    const { template, records } = this.#workload
    const id = findField(document, '_id')
    const idValue =
      id === undefined ? undefined : id.isNumber() ? id.asNumber() : id.type === 2 ? id.asString() : undefined
    const key = template.keyOfId(idValue)
    const maker = key === null ? null : this.#schedule.makerOf(key)
    if (
      key === null ||
      (key >= records && (maker === null || this.#journal.outcome(maker.cycle, maker.index) === 'none'))
    ) {
      return this.#find('unexpected', `a document with _id ${String(idValue)}, which no operation of this run wrote`)
    }
    if (this.#seen.has(key)) return this.#find('doubled', `_id ${String(idValue)} comes twice`)
    this.#seen.add(key)
    const made = maker === null ? 0 : versionOf(maker.cycle)
    const expected = new Map(fieldsOf(documentBytes(template.record(key, made))))
    const found = new Map(fieldsOf(document))
    for (const name of found.keys()) {
      if (!expected.has(name)) this.#find('corrupt', `${String(idValue)} has a field ${name}, which was never written`)
    }
    for (const [name, value] of expected) {
      const there = found.get(name)
      if (
        there !== undefined &&
        there.type === value.type &&
        valuesEqual(there, value) &&
        this.#lastStartOf(key, name) === undefined
      )
        continue
      const text = template.texts.find((field) => field.name === name)
      if (text === undefined) {
        if (there === undefined || there.type !== value.type || !valuesEqual(there, value)) {
          this.#find('corrupt', `${String(idValue)}: ${name} is not what was written`)
        }
      } else this.#checkText(key, String(idValue), text, there?.type === 2 ? there.asString() : '', made, maker)
    }
  }

  /** Call after the last document. */
  finish(wrongReads: { readonly count: number; readonly cycles: readonly number[] }): EndCheckReport {
    const { records, template } = this.#workload
    const lost = (key: number, how: string): void => {
      if (!this.#seen.has(key)) this.#find('lost', `${String(template.value('_id', key))}, ${how}, is not there`)
    }
    for (let key = 0; key < records; key++) lost(key, 'loaded')
    for (let cycle = 0; cycle < this.#cycles; cycle++) {
      if (this.#journal.outcome(cycle) === 'none') continue
      const { operation, key } = this.#schedule.plan(cycle)
      for (let i = 0; i < operation.newRecords; i++) {
        if (this.#journal.outcome(cycle, i) === 'acknowledged')
          lost(key + i, `acknowledged to ${operation.name} of cycle ${cycle}`)
      }
    }
    for (const cycle of wrongReads.cycles) {
      const { operation, key } = this.#schedule.plan(cycle)
      this.#example(
        `${operation.name} of cycle ${cycle} did not find ${String(template.value('_id', key))}, which was loaded`,
      )
    }
    this.#findTorn()
    const { lost: lostCount, unexpected, doubled, stale, corrupt, torn } = this.#counts
    return {
      leftOut: null,
      ok: lostCount + unexpected + doubled + stale + corrupt + torn + wrongReads.count === 0,
      documents: this.#documents,
      lost: lostCount,
      unexpected,
      doubled,
      stale,
      corrupt,
      torn,
      wrongReads: wrongReads.count,
      unknownOutcomes: this.#unknown,
      examples: this.#examples,
    }
  }

  /** Transactions with an update that is there, and one that is neither there nor overwritten. */
  #findTorn(): void {
    const there = this.#there ?? new Map<number, number>()
    const { texts } = this.#workload.template
    for (const cycle of new Set(there.values())) {
      const plan = this.#schedule.plan(cycle)
      if (plan.operation.transaction === null) continue
      const fields = textsFrom(texts, plan.field, plan.operation.fields)
      const startUs = this.#journal.startUs(cycle)
      const missing = updatedKeys(plan).find((key) =>
        fields.some(({ index }) => {
          const other = there.get(key * texts.length + index)
          return other === undefined || (other !== cycle && this.#endOf(other, 0) < startUs)
        }),
      )
      if (missing === undefined) continue
      const id = String(this.#workload.template.value('_id', missing))
      this.#find('torn', `${plan.operation.name} of cycle ${cycle} is there, except for its update of ${id}`)
    }
  }

  #checkText(
    key: number,
    id: string,
    text: TextField,
    value: string,
    made: number,
    maker: { cycle: number; index: number } | null,
  ): void {
    const { template } = this.#workload
    const version = versionOfText(value)
    if (version === null || template.text(text, key, version) !== value) {
      return this.#find('corrupt', `${id}: ${text.name} holds a text that was never written`)
    }
    let endUs: number
    if (version === made) {
      endUs = maker === null ? 0 : this.#endOf(maker.cycle, maker.index)
    } else {
      const cycle = version - 1
      if (
        cycle < 0 ||
        cycle >= this.#cycles ||
        this.#journal.outcome(cycle) === 'none' ||
        !this.#writes(cycle, key, text)
      ) {
        return this.#find(
          'corrupt',
          `${id}: ${text.name} holds a text of another place or of a write that never happened`,
        )
      }
      endUs = this.#endOf(cycle, 0)
      this.#there?.set(key * template.texts.length + text.index, cycle)
    }
    if ((this.#lastStartOf(key, text.name) ?? 0) > endUs) {
      this.#find('stale', `${id}: ${text.name} holds version ${version}, though a later write was acknowledged`)
    }
  }

  /**
   * End of a write that was certainly executed; a write of unknown outcome may happen at any time.
   */
  #endOf(cycle: number, index: number): number {
    return this.#journal.outcome(cycle, index) === 'acknowledged'
      ? this.#journal.endUs(cycle)
      : Number.POSITIVE_INFINITY
  }

  #writes(cycle: number, key: number, text: TextField): boolean {
    const plan = this.#schedule.plan(cycle)
    return (
      updatedKeys(plan).includes(key) &&
      textsFrom(this.#workload.template.texts, plan.field, plan.operation.fields).includes(text)
    )
  }

  #lastStartOf(key: number, name: string): number | undefined {
    const text = this.#workload.template.texts.find((field) => field.name === name)
    return text === undefined
      ? undefined
      : this.#lastStartUs.get(key * this.#workload.template.texts.length + text.index)
  }

  #find(finding: Finding, example: string): void {
    this.#counts[finding]++
    this.#example(example)
  }

  #example(text: string): void {
    if (this.#examples.length < examplesMax) this.#examples.push(text)
  }
}
