/** What single transactions must have read, whatever the others did. */
import type { ListAnomaly } from './anomaly.js'
import type { Append, ListHistory, ListTransaction, Read } from './history.js'

interface Writer {
  readonly transaction: ListTransaction
  /** Whether the transaction appended to the key again. */
  isIntermediate: boolean
}

/** The first read of a key, without what the transaction itself appended before. */
export interface ExternalRead {
  readonly key: number
  readonly values: readonly number[]
}

export class Observations {
  /** Committed, as their acknowledgement or their values in the lists show. */
  readonly committed: readonly ListTransaction[]
  readonly #final: ListHistory['final']
  readonly #writers = new Map<number, Map<number, Writer>>()

  constructor({ transactions, final }: ListHistory) {
    this.#final = final
    for (const transaction of transactions) this.#noteWriter(transaction)
    this.committed = transactions.filter(
      ({ outcome, operations }) =>
        outcome === 'committed' ||
        (outcome === 'unknown' && operations.some((each) => each.kind === 'append' && this.#isFinal(each))),
    )
  }

  /** Undefined: no transaction has appended it. */
  writerOf(key: number, value: number): ListTransaction | undefined {
    return this.#writers.get(key)?.get(value)?.transaction
  }

  versions(key: number): readonly number[] {
    return this.#final.get(key) ?? []
  }

  anomalies(): ListAnomaly[] {
    return [
      ...[...this.#final.keys()].flatMap((key) => this.#ofFinal(key)),
      ...this.committed.flatMap((transaction) => [...this.#lostAppends(transaction), ...this.#ofReads(transaction)]),
    ]
  }

  #isFinal({ key, value }: Append): boolean {
    return this.versions(key).includes(value)
  }

  #noteWriter(transaction: ListTransaction): void {
    const last = new Map<number, Writer>()
    for (const operation of transaction.operations) {
      if (operation.kind !== 'append') continue
      const { key, value } = operation
      const before = last.get(key)
      if (before !== undefined) before.isIntermediate = true
      const writer = { transaction, isIntermediate: false }
      last.set(key, writer)
      const ofKey = this.#writers.get(key) ?? new Map<number, Writer>()
      this.#writers.set(key, ofKey.set(value, writer))
    }
  }

  #ofFinal(key: number): ListAnomaly[] {
    const values = this.versions(key)
    const found: ListAnomaly[] = []
    values.forEach((value, i) => {
      if (values.indexOf(value) < i)
        found.push({ kind: 'duplicate append', sentence: `list ${key} has ${value} twice`, keys: [key] })
    })
    return [...found, ...this.#ofValues('the end', key, values)]
  }

  /** @param values that a committed transaction, or the reader at the end, has read */
  #ofValues(reader: string, key: number, values: readonly number[]): ListAnomaly[] {
    const found: ListAnomaly[] = []
    for (const value of values) {
      const writer = this.writerOf(key, value)
      if (writer === undefined) {
        const sentence = `${reader} read ${value} in list ${key}, which no transaction has appended`
        found.push({ kind: 'unknown value', sentence, keys: [key] })
      } else if (writer.outcome === 'aborted') {
        const sentence = `${reader} read ${value} in list ${key}, which ${writer.name} appended and did not commit`
        found.push({ kind: 'aborted read', sentence, keys: [key] })
      }
    }
    return found
  }

  #lostAppends({ name, outcome, operations }: ListTransaction): ListAnomaly[] {
    return operations.flatMap((operation) => {
      if (operation.kind !== 'append' || this.#isFinal(operation)) return []
      const { key, value } = operation
      const why = outcome === 'committed' ? 'committed' : 'has happened in part'
      return [{ kind: 'lost append', sentence: `list ${key} lacks ${value} of ${name}, which ${why}`, keys: [key] }]
    })
  }

  #ofReads(transaction: ListTransaction): ListAnomaly[] {
    const found: ListAnomaly[] = []
    const expected = new Map<number, number[]>()
    const appended = new Map<number, number[]>()
    for (const operation of transaction.operations) {
      const { kind, key } = operation
      if (kind === 'append') {
        expected.get(key)?.push(operation.value)
        appended.set(key, [...(appended.get(key) ?? []), operation.value])
        continue
      }
      const before = expected.get(key)
      const isExplained =
        before === undefined ? endsWith(operation.values, appended.get(key) ?? []) : areEqual(operation.values, before)
      if (!isExplained) {
        const sentence = `${transaction.name} read ${textOf(operation)}, which differs from what it read and appended before`
        found.push({ kind: 'internal', sentence, keys: [key] })
      } else if (before === undefined) found.push(...this.#ofExternalRead(transaction, operation, appended.get(key)))
      expected.set(key, [...operation.values])
    }
    return found
  }

  #ofExternalRead(reader: ListTransaction, read: Read, own: readonly number[] = []): ListAnomaly[] {
    const { key } = read
    const values = read.values.slice(0, read.values.length - own.length)
    const found = this.#ofValues(reader.name, key, values)
    const last = this.#writers.get(key)?.get(values.at(-1)!)
    if (last?.isIntermediate === true) {
      const sentence = `${reader.name} read ${textOf(read)}, in the middle of the appends of ${last.transaction.name}`
      found.push({ kind: 'intermediate read', sentence, keys: [key] })
    }
    if (found.length === 0 && !startsWith(this.versions(key), values)) {
      const sentence = `${reader.name} read ${textOf(read)}, which was never a version of [${this.versions(key).join()}]`
      found.push({ kind: 'incompatible order', sentence, keys: [key] })
    }
    return found
  }
}

/** One for each key that the transaction has read. */
export function externalReads({ operations }: ListTransaction): ExternalRead[] {
  const reads = new Map<number, ExternalRead>()
  const appended = new Map<number, number>()
  for (const operation of operations) {
    const { kind, key } = operation
    if (kind === 'append') appended.set(key, (appended.get(key) ?? 0) + 1)
    else if (!reads.has(key))
      reads.set(key, { key, values: operation.values.slice(0, operation.values.length - (appended.get(key) ?? 0)) })
  }
  return [...reads.values()]
}

const textOf = ({ key, values }: Read): string => `[${values.join()}] in list ${key}`

const startsWith = (list: readonly number[], start: readonly number[]): boolean =>
  start.length <= list.length && start.every((value, i) => list[i] === value)

const endsWith = (list: readonly number[], end: readonly number[]): boolean =>
  end.length <= list.length && areEqual(list.slice(list.length - end.length), end)

const areEqual = (a: readonly number[], b: readonly number[]): boolean => a.length === b.length && startsWith(a, b)
